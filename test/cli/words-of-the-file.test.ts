import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Plan } from '../../src/index.js';
import { checkPlan } from '../../src/plan/checks.js';
import { loadDagText, loadPipelineText } from '../../src/yaml.js';
import { documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const AGENTS = 'agents: { a: { instruction: You work. } }\n';

/** A draft that is asked about until it is approved. */
const ASKED = `${AGENTS}workflow:
  - { id: draft, type: agent, name: a }
  - { id: approve, type: ask, question: Is it good?, choices: [revise, approve] }
  - type: condition
    condition: "{{ $steps.approve.output == 'approve' }}"
    false: { goto: draft }
  - { id: end, type: agent, name: a, prompt: "{{ $steps.approve.output }}" }
`;
const answers = (...lines: readonly string[]): string =>
  `strict: false\nanswers:\n${lines.map((line) => `  - { question: good, ${line} }\n`).join('')}`;

describe('answers of a script', () => {
  test('[XG16] with times are given so often, then the next one that fits', async () => {
    const script = answers('answer: revise, times: 2', 'answer: approve');
    const cwd = await makeProject({ 'flow.yaml': ASKED, 'answers.yaml': script });
    const end = await served(['run', 'flow.yaml', '--mock=answers.yaml', '--json', '--no-audit'], { cwd });
    expect(end.code).toBe(0);
    expect(documentOf(end).steps).toMatchObject({
      approve: { output: 'revise' },
      'approve#2': { output: 'revise' },
      'approve#3': { output: 'approve' },
      end: { output: 'approve' },
    });
  });

  test('[XG16] with times that are used up leave the question to a person, and count on when the run is resumed', async () => {
    const cwd = await makeProject({ 'flow.yaml': ASKED, 'answers.yaml': answers('answer: revise, times: 1') });
    expect((await served(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd })).code).toBe(5);
    await writeFile(join(cwd, 'answers.yaml'), answers('answer: revise, times: 1', 'answer: approve'));
    const end = await served(['resume', '-1', '--json'], { cwd });
    expect(end.code).toBe(0);
    expect(documentOf(end).steps).toMatchObject({ 'approve#2': { output: 'approve' }, end: { output: 'approve' } });
  });

  test('[XG16] times must be a whole number of at least 1', async () => {
    const script = answers('answer: revise, times: 0');
    const cwd = await makeProject({ 'flow.yaml': ASKED, 'answers.yaml': script });
    const end = await served(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
    expect(end.code).toBe(2);
    expect(end.stderr).toContain('times of an answer of the person must be at least 1, not 0');
  });
});

describe('members that an expression reads and that cannot be there', () => {
  const dag = (cel: string): string =>
    `name: flow\nagents: { a: { inline: { prompt: You work. } } }\nsteps:\n  - { id: a, agent: a, prompt: Hi }\n  - { id: b, agent: a, prompt: Hi, depends_on: [a], condition: { cel: '${cel}' } }\n`;

  test('[XG16] are found when a DAG file is loaded', async () => {
    const cwd = await makeProject({ 'flow.yaml': dag('steps.a.outptu == "x"') });
    const end = await served(['validate', 'flow.yaml'], { cwd });
    expect(end.code).toBe(2);
    expect(end.stderr).toContain(
      'error unknown-member: the condition of step "b" reads steps.a.outptu, which can\'t be there\n    hint: did you mean "output"?',
    );
  });

  test.each(['steps.a.output == "x"', 'size(steps) > 0', 'steps.a.output.anything', 'has(steps.a.output)'])(
    '%s is fine',
    async (cel) => {
      expect((await loadDagText(dag(cel), { cwd: '/nowhere' })).problems).toEqual([]);
    },
  );

  test.each(['has(steps.a.outputs)', 'steps.a.?result.orValue("") == ""', 'steps["a"]["text"] == "x"'])(
    '[XG16] %s is not',
    async (cel) => {
      const { problems } = await loadDagText(dag(cel), { cwd: '/nowhere' });
      expect(problems).toMatchObject([{ code: 'unknown-member', severity: 'error' }]);
    },
  );

  test('[XG16] are found when a pipeline is loaded', async () => {
    const text = `${AGENTS}workflow:\n  - { id: a, type: agent, name: a }\n  - { type: condition, condition: "{{ $steps.a.outptu == 'x' }}", true: { goto: a } }\n`;
    const { problems } = await loadPipelineText(text, { cwd: '/nowhere' });
    expect(problems.map(({ severity }) => severity)).toContain('error');
    expect(problems.map(({ message }) => message).join()).toMatch(/outptu|did not resolve/);
  });

  test('[XG16] are found in any plan', () => {
    const a = { fields: { output: { channel: 'a' } } };
    const when = [{ op: 'cel' as const, expression: 'steps.a.outptu == 1', vars: { steps: { fields: { a } } } }];
    const plan: Plan = {
      format: 1,
      name: 'p',
      inputs: [{ channel: 'a', name: 'a', required: false }],
      channels: [{ name: 'a' }],
      nodes: [{ kind: 'pass', id: 'x', when }],
      edges: [],
      routes: [],
    };
    expect(checkPlan(plan)).toMatchObject([{ code: 'unknown-member', hint: 'did you mean "output"?' }]);
  });
});

describe('errors', () => {
  const nested = (over: string, prompt: string): string => `${AGENTS}workflow:
  - id: answers
    type: map
    over: $prompt
    as: q
    steps:
      - { id: deep, type: map, over: ${over}, max_items: 2, steps: [{ id: x, type: agent, name: a, prompt: "${prompt}" }] }
`;
  const failure = async (text: string, prompt: string): Promise<string> => {
    const cwd = await makeProject({ 'flow.yaml': text });
    const end = await served(['exec', 'flow.yaml', prompt, '--mock', '--no-audit'], { cwd });
    expect(end.code).toBe(3);
    return end.stderr;
  };

  test('[XG16] name a list by what the file calls it', async () => {
    expect(await failure(nested('$q.choices', 'x'), '[{"choices":"none"}]')).toContain(
      "'deep' maps over $q.choices, which is not a list",
    );
  });

  test('[XG16] name a value in a prompt by what the file calls it', async () => {
    const text = nested('$q.choices', '{{ $q.title.short }}');
    expect(await failure(text, '[{"choices":["a"],"title":"none"}]')).toContain(
      '$q.title.short does not resolve: the value is',
    );
  });

  test('[XP9] name the key of the file for a limit that was reached: max_items', async () => {
    const stderr = await failure(nested('$q', 'x'), '[[1,2,3]]');
    expect(stderr).toContain("'deep' got 3 items, and 2 are allowed");
    expect(stderr).toContain('hint: raise max_items, or shorten the list');
    expect(stderr).not.toContain('maxItems');
  });

  test('[XP9] name the key of the file for a limit that was reached: max_iterations', async () => {
    const text = 'agents: { root: { instruction: You work., max_iterations: 1, toolsets: [{ type: think }] } }\n';
    const script = 'rules:\n  - { repeat: true, answer: { tools: [{ name: think, input: { thought: hm } }] } }\n';
    const cwd = await makeProject({ 'flow.yaml': text, 'answers.yaml': script });
    const end = await served(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
    expect(end.code).toBe(3);
    expect(end.stderr).toContain('hint: raise max_iterations, or give the agent less to do');
    expect(end.stderr).not.toContain('maxTurns');
  });

  test('[XG16] hints never offer a key that is refused', async () => {
    const hintsOf = async (keys: string): Promise<string> => {
      const text = `agents: { a: { instruction: x, ${keys} } }\nworkflow: [{ type: agent, name: a, ${keys} }]\n`;
      const { problems } = await loadPipelineText(text, { cwd: '/nowhere' });
      expect(problems.map(({ code }) => code)).toContain('unknown-key');
      return problems.map(({ hint }) => hint).join('\n');
    };
    expect(await hintsOf('qqqqqq: 1')).not.toMatch(/sub_agents|hooks|handoffs/);
    expect(await hintsOf('supervize: 1')).toContain('did you mean "supervise"?');
    const asked = await loadPipelineText(`${AGENTS}workflow: [{ type: ask, question: q, qqqqqq: 1 }]\n`, {
      cwd: '/nowhere',
    });
    expect(asked.problems.map(({ hint }) => hint).join()).not.toContain('supervise');
  });
});

describe('a reference to a step in a branch', () => {
  const BRANCH = `${AGENTS}workflow:
  - { id: first, type: agent, name: a, prompt: "no" }
  - type: condition
    condition: $steps.first.output
    true: [{ id: extra, type: agent, name: a, prompt: More. }]
  - { id: last, type: agent, name: a, prompt: "Extra: {{ $steps.extra.output }}!" }
`;

  test('[XP9] that was not taken is told when nothing stands in its place', async () => {
    const cwd = await makeProject({ 'flow.yaml': BRANCH });
    const end = await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    expect(end.code).toBe(0);
    expect(end.stderr).toContain(
      'warning: last: $steps.extra.output has no value: that step has not run, or left no such value',
    );
    expect(end.stdout).toContain('Extra: !');
    const taken = await makeProject({ 'flow.yaml': BRANCH.replace('prompt: "no"', 'prompt: "yes"') });
    const other = await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd: taken });
    expect(other.stderr).not.toContain('has no value');
    expect(other.stdout).toContain('Extra: More.!');
  });

  test('that was skipped by its own when, or that of a block around it, is told too', async () => {
    for (const extra of [
      '{ id: extra, type: agent, name: a, when: $steps.first.output, prompt: More. }',
      '{ id: block, type: sequence, when: $steps.first.output, steps: [{ id: extra, type: agent, name: a, prompt: More. }] }',
    ]) {
      const read = extra.includes('block') ? '$steps.block.outputs.extra.output' : '$steps.extra.output';
      const flow = `${AGENTS}workflow:
  - { id: first, type: agent, name: a, prompt: "no" }
  - ${extra}
  - { id: last, type: agent, name: a, prompt: "Extra: {{ ${read} }}!" }
`;
      const cwd = await makeProject({ 'flow.yaml': flow, 'other.yaml': flow.replace('prompt: "no"', 'prompt: "yes"') });
      const end = await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
      expect(end.stderr).toContain(`warning: last: ${read} has no value: that step has not run`);
      const other = await served(['run', 'other.yaml', '--mock', '--no-audit'], { cwd });
      expect(other.stderr).not.toContain('has no value');
      expect(other.stdout).toContain('Extra: More.!');
    }
  });

  test('[XP9] is not told where the step always runs, or can only have run in a round before', async () => {
    const loop = `${AGENTS}workflow:
  - { id: draft, type: agent, name: a, prompt: "After {{ $steps.review.output }}" }
  - { id: review, type: agent, name: a, prompt: "yes" }
  - { type: condition, condition: $steps.review.output, false: { goto: draft } }
  - id: both
    type: parallel
    steps: [{ id: x, type: agent, name: a, prompt: X }, { id: y, type: agent, name: a, prompt: Y }]
  - { id: last, type: agent, name: a, prompt: "{{ $steps.both.outputs.x.output }} {{ $steps.draft.output }}" }
`;
    const cwd = await makeProject({ 'flow.yaml': loop });
    const end = await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    expect(end.code).toBe(0);
    expect(end.stderr).not.toContain('has no value');
  });

  test('[XP9] a run that was recorded without these words is resumed with all of its steps', async () => {
    const cwd = await makeProject({ 'flow.yaml': BRANCH });
    await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    const again = await served(['fork', '-1'], { cwd });
    expect(again.stderr).toMatch(/2 reused, 0 run/);
    expect(again.stderr).not.toContain('is not what the run');
  });
});

describe('jumps', () => {
  test('[XP9] that were made too often are told by where they lead, not by a number of a step without an id', async () => {
    const text = `${AGENTS}workflow:
  max_loop_iterations: 2
  steps:
    - { id: x, type: agent, name: a }
    - { type: condition, condition: $steps.x.output, false: [{ goto: x }] }
`;
    const cwd = await makeProject({ 'flow.yaml': text });
    const end = await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    expect(end.code).toBe(3);
    expect(end.stderr).toContain(
      'error SKEIN_MAX_VISITS in step goto x: workflow: max loop iterations exceeded (step: x, limit: 2)',
    );
    expect(end.stderr).toContain('✖ goto x');
    expect(end.stderr).not.toContain('cond_2_false_1');
  });
});
