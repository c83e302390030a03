import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadDag } from '../../src/yaml.js';
import { brief, flow, load, makeProject, nodeOf, planOf } from './project.js';

const STEP = '  - {id: s, agent: a, prompt: "go {{inputs.x}}"}\n';

describe('the workflow file', () => {
  it('1: all top-level keys are read, an unknown one is a problem with "did you mean"', async () => {
    const all = await load(
      `description: d\nskills: []\n${flow(STEP, 'inputs: {x: {default: 1}}\nconfig: {}\n')}output: {}\n`,
    );
    expect(all.problems).toEqual([]);
    expect(planOf(all).description).toBe('d');
    const wrong = await load(`${flow(STEP, 'inputs: {x: {default: 1}}\n')}outputs: {}\n`);
    expect(brief(wrong.problems)).toEqual(['7:1 error unknown-key']);
    expect(wrong.problems[0]?.hint).toBe('did you mean "output"?');
  });

  it('2: input defaults of any scalar type are read as text, as it was written', async () => {
    const workflow = await load(
      flow(STEP, 'inputs:\n  x: {default: 5}\n  y: {default: true}\n  z: {default: 1.50}\n  d: {description: Why}\n'),
    );
    expect(planOf(workflow).inputs.map(({ name, default: value, required }) => [name, value, required])).toEqual([
      ['x', '5', false],
      ['y', 'true', false],
      ['z', '1.50', false],
      ['d', undefined, false],
    ]);
    expect(planOf(workflow).inputs[3]?.description).toBe('Why');
  });

  it('2: inputs have types of their own, and no "required"', async () => {
    const workflow = await load(flow(STEP, 'inputs:\n  x: {type: string, required: true}\n'));
    expect(brief(workflow.problems)).toEqual(['3:13 error unknown-value', '3:21 error unknown-key']);
  });

  it('3: the empty text is a default like any other; no default makes a used input required', async () => {
    const empty = await load(flow(STEP, 'inputs: {x: {default: ""}}\n'));
    expect(planOf(empty).inputs).toMatchObject([{ required: false, default: '' }]);
    const none = await load(flow(STEP, 'inputs: {x: }\n'));
    expect(planOf(none).inputs).toMatchObject([{ required: true }]);
    expect(planOf(none).inputs[0]).not.toHaveProperty('default');
  });

  it('4: all keys of config reach the plan and the settings', async () => {
    const workflow = await load(
      flow(
        STEP,
        `inputs: {x: }
config:
  model: openai/gpt-5-mini
  audit_dir: runs
  audit_retention: 5
  shared_memory: {enabled: true, inject_into_prompt: true, initial_content: start}
  provider: {type: openai, base_url: "http://127.0.0.1:1/v1", api_key_env: MY_KEY}
  streaming: true
  log_level: debug
  agent_search_paths: [more]
  max_concurrency: 3
  interactive: true
  truncate: {strategy: lines, limit: 9}
`,
      ),
      {},
    );
    expect(workflow.problems).toEqual([]);
    expect(planOf(workflow).limits).toEqual({ concurrency: 3 });
    expect(nodeOf(workflow, 's').agent).toMatchObject({
      models: ['openai/gpt-5-mini'],
      memory: { inject: true },
      provider: { type: 'openai', baseUrl: 'http://127.0.0.1:1/v1', apiKeyEnv: 'MY_KEY' },
      interactive: true,
    });
    expect(workflow.settings).toMatchObject({
      memory: { initial: 'start' },
      streaming: true,
      logLevel: 'debug',
      output: { format: 'markdown', truncate: { strategy: 'lines', limit: 9 } },
      audit: { keep: 5 },
    });
  });

  it('4: the defaults of config', async () => {
    const cwd = await makeProject({ 'flow.yaml': flow(STEP, 'inputs: {x: }\n') });
    const workflow = await loadDag('flow.yaml', { cwd });
    expect(workflow.settings).toEqual({
      output: { nodes: ['s'], format: 'markdown' },
      audit: { dir: join(cwd, '.workflow-runs'), keep: 0 },
      logLevel: 'info',
    });
    expect(planOf(workflow).limits).toBeUndefined();
    expect(nodeOf(workflow, 's').agent).not.toHaveProperty('memory');
  });

  it.each(['0', '-1'])('4: max_concurrency %s means no bound', async (value) => {
    const workflow = await load(flow(STEP, `inputs: {x: }\nconfig: {max_concurrency: ${value}}\n`));
    expect(planOf(workflow).limits).toBeUndefined();
  });

  it('4: audit_dir is relative to the working directory, not to the workflow file', async () => {
    const cwd = await makeProject({ 'flows/f.yaml': flow(STEP, 'inputs: {x: }\nconfig: {audit_dir: log/runs}\n') });
    const workflow = await loadDag('flows/f.yaml', { cwd });
    expect(workflow.settings.audit?.dir).toBe(join(cwd, 'log/runs'));
  });

  it('4: initial_file of the shared memory is read beside the workflow file', async () => {
    const text = flow(STEP, 'inputs: {x: }\nconfig: {shared_memory: {enabled: true, initial_file: notes.md}}\n');
    const cwd = await makeProject({ 'flows/f.yaml': text, 'flows/notes.md': 'first\n' });
    const workflow = await loadDag('flows/f.yaml', { cwd });
    expect(workflow.problems).toEqual([]);
    expect(workflow.settings.memory).toEqual({ initial: 'first\n' });
    expect(workflow.files.map((file) => file.path)).toContain(join(cwd, 'flows/notes.md'));
    expect(nodeOf(workflow, 's').agent.memory).toEqual({ inject: false });
  });

  it('4: telemetry is accepted and said to have no effect', async () => {
    const workflow = await load(flow(STEP, 'inputs: {x: }\nconfig: {telemetry: {otlp_endpoint: "http://x"}}\n'));
    expect(brief(workflow.problems)).toEqual(['3:21 warning no-effect']);
    expect(workflow.plan).toBeDefined();
  });

  it('6: all keys of a step reach its node', async () => {
    const workflow = await load(
      flow(
        `  - {id: first, agent: a, prompt: go}
  - id: s
    agent: a
    prompt: go
    depends_on: [first]
    condition: {step: first, contains: yes}
    skills: [deep]
    on_error: continue
    retry_count: 2
    timeout: 1h30m
    model: [x/one, x/two]
    extra_dirs: [src]
    interactive: true
`,
      ),
      { 'deep/SKILL.md': '---\nname: deep\n---\nDig.\n' },
    );
    expect(workflow.problems).toEqual([]);
    const node = nodeOf(workflow, 's');
    expect(node).toMatchObject({
      when: [{ op: 'contains', value: { channel: 'steps.first.output' }, operand: ['yes'] }],
      onError: 'continue',
      retry: { retries: 2, backoff: 'linear', delayMs: 500 },
      timeoutMs: 5_400_000,
      agent: { models: ['x/one', 'x/two'], interactive: true, skills: [{ name: 'deep', text: 'Dig.\n' }] },
    });
    expect(node.agent.extraDirs).toEqual([join(workflow.files[0]?.path ?? '', '../src')]);
  });

  it('7: a condition is a step and an operator', async () => {
    const workflow = await load(
      flow(`  - {id: first, agent: a, prompt: go}
  - {id: s, agent: a, prompt: go, depends_on: [first], condition: {step: first, not_contains: no}}
`),
    );
    expect(nodeOf(workflow, 's').when).toEqual([
      { op: 'not_contains', value: { channel: 'steps.first.output' }, operand: ['no'] },
    ]);
  });

  it('8: output names steps, a format and a cut', async () => {
    const workflow = await load(
      `${flow(STEP, 'inputs: {x: }\n')}output: {steps: [s], format: JSON, truncate: {strategy: tokens, limit: 10}}\n`,
    );
    expect(workflow.settings.output).toEqual({
      nodes: ['s'],
      format: 'json',
      truncate: { strategy: 'tokens', limit: 10 },
    });
  });

  it.each([
    ['text', 'plain'],
    ['plain', 'plain'],
    ['Markdown', 'markdown'],
  ])('72: the format %s is %s', async (written, format) => {
    const workflow = await load(`${flow(STEP, 'inputs: {x: }\n')}output: {format: ${written}}\n`);
    expect(workflow.settings.output.format).toBe(format);
    expect(workflow.problems).toEqual([]);
  });

  it('72: an unknown format is Markdown, with a warning', async () => {
    const workflow = await load(`${flow(STEP, 'inputs: {x: }\n')}output: {format: marcdown}\n`);
    expect(workflow.settings.output.format).toBe('markdown');
    expect(workflow.problems).toMatchObject([{ severity: 'warning', hint: 'did you mean "markdown"?' }]);
  });

  it('9: a missing file is a problem and no throw', async () => {
    const workflow = await loadDag('nope.yaml', { cwd: await makeProject() });
    expect(workflow.plan).toBeUndefined();
    expect(workflow.problems).toMatchObject([{ code: 'file-missing', at: { file: 'nope.yaml' } }]);
  });

  it('9: broken YAML gives its own problems, and no follow-ups', async () => {
    const workflow = await load('name: x\nsteps: [\n');
    expect(workflow.plan).toBeUndefined();
    expect(workflow.problems.map((problem) => problem.code)).toEqual(['yaml-syntax']);
  });
});
