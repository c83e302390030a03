import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runWorkflow } from '../../src/runtime.js';
import type { WorkflowResult } from '../../src/runtime.js';
import { loadDag } from '../../src/yaml.js';
import { allText, filesIn, read, readJson, readLines, tempDir } from './support/folder.js';

const FLOW = `name: release check
inputs:
  topic: {default: looms}
config:
  audit_dir: runs
  audit_retention: 2
  streaming: true
  shared_memory: {enabled: true, inject_into_prompt: true, initial_content: 'Goal: ship {{inputs.topic}}'}
agents:
  reader: {file: agents/reader.agent.md}
  writer: {inline: {prompt: You write.}}
steps:
  - {id: look, agent: reader, prompt: 'Look at {{inputs.topic}}', interactive: true}
  - {id: fix, agent: writer, prompt: Fix it, depends_on: [look], condition: {step: look, contains: BROKEN}}
  - {id: report, agent: writer, prompt: 'Report: {{steps.look.output}}{{steps.fix.output}}', depends_on: [fix]}
output: {format: json, truncate: {strategy: chars, limit: 20}}
`;

const SCRIPT = `strict: true
answers:
  - {question: Which one, answer: "2"}
rules:
  - step: look
    answers:
      - question: {text: 'Which one?', choices: [red, blue]}
      - tools: [{name: shared_memory_write, input: {content: 'looked at it', mode: append}}]
      - {text: 'All is well, and the key is key-of-the-provider-1', usage: {input: 7, output: 3}}
  - {step: report, prompt: looked at it, answer: 'A long report that is cut when it is printed'}
`;

async function project(): Promise<string> {
  const cwd = await tempDir();
  await mkdir(join(cwd, 'agents'));
  await writeFile(join(cwd, 'flow.yaml'), FLOW);
  await writeFile(join(cwd, 'script.yaml'), SCRIPT);
  await writeFile(
    join(cwd, 'agents', 'reader.agent.md'),
    '---\nname: somebody\ndescription: reads\ntools: []\n---\nYou read.\n',
  );
  return cwd;
}

async function runFlow(cwd: string): Promise<WorkflowResult> {
  const workflow = await loadDag('flow.yaml', { cwd });
  expect(workflow.problems).toEqual([]);
  const env = { OUR_API_KEY: 'key-of-the-provider-1' };
  const handle = await runWorkflow(workflow, { cwd, models: { env, script: 'script.yaml' } });
  const result = await handle.result;
  expect(result.error).toBeUndefined();
  expect(result.auditFailures).toEqual([]);
  return result;
}

describe('the run of a DAG workflow', () => {
  it('leaves the whole story in its folder (decision 8; statements 75, 76, 80, 81, 98, 102)', async () => {
    const cwd = await project();
    const { auditFolder = '' } = await runFlow(cwd);
    expect(dirname(auditFolder)).toBe(join(cwd, 'runs'));
    expect((await filesIn(auditFolder)).filter((name) => !name.startsWith('steps'))).toEqual([
      '.skein-run',
      'final_output.md',
      'memory.md',
      'workflow.meta.json',
      'workflow.yaml',
    ]);
    expect(await read(auditFolder, 'workflow.yaml')).toBe(FLOW);
    expect(await read(auditFolder, 'memory.md')).toBe('Goal: ship {{inputs.topic}}\nlooked at it');
    const look = await readJson(auditFolder, 'steps/00_look/step.meta.json');
    expect(look).toMatchObject({
      agent: 'reader',
      agent_file: 'agents/reader.agent.md',
      model: 'script/script.yaml',
      interactive: true,
      status: 'completed',
      tool_calls: 2,
      turns: 3,
    });
    const stream = await readLines(auditFolder, 'steps/00_look/stream.jsonl');
    const asked = stream.filter(({ type }) => String(type).startsWith('user.'));
    expect(asked.map(({ data }) => data)).toEqual([{ prompt: 'Which one?', choices: ['red', 'blue'] }, 'blue']);
    const fix = await readJson(auditFolder, 'steps/01_fix/step.meta.json');
    expect(fix).toMatchObject({ agent: 'writer', status: 'skipped', condition_met: false });
    expect(fix).not.toHaveProperty('agent_file');
    const prompt = await read(auditFolder, 'steps/02_report/prompt.md');
    expect(prompt).toMatch(
      /^## Shared Memory \(Current State\)\nGoal: ship [^]*looked at it\n\n---\n\nReport: All is well/,
    );
    expect(await read(auditFolder, 'steps/02_report/output.md')).toBe('A long report that is cut when it is printed');
    expect(JSON.parse(await read(auditFolder, 'final_output.md'))).toMatchObject({
      steps: { report: { status: 'completed', output: 'A long report that is cut when it is printed' } },
    });
    expect(await readJson(auditFolder, 'workflow.meta.json')).toMatchObject({
      inputs: { topic: 'looms' },
      census: { succeeded: 2, skipped: 1 },
      status: 'completed',
    });
    const all = await allText(auditFolder);
    expect(all).toContain('the key is [redacted]');
    expect(all).not.toContain('key-of-the-provider-1');
  });

  it('keeps as many folders as the workflow says, and leaves others alone (statement 78)', async () => {
    const cwd = await project();
    await mkdir(join(cwd, 'runs', 'zz_keep'), { recursive: true });
    const folders: string[] = [];
    for (let run = 0; run < 3; run += 1) folders.push(basename((await runFlow(cwd)).auditFolder ?? ''));
    expect((await readdir(join(cwd, 'runs'))).toSorted()).toEqual([...folders.slice(1), 'zz_keep'].toSorted());
  });
});
