import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeProject } from './support/skein.js';
import { served } from './support/served.js';

const FLOW = `import { agent, agentNode, graph, loopNode } from 'skein/graph';
const writer = agent({ name: 'writer', model: 'mock/echo', tools: [] });
const round = graph({ name: 'round' })
  .node('task', () => 'Write.')
  .node('text', agentNode(writer, { taskParam: 'task' }));
export default graph().node(
  'polish',
  loopNode(round, { until: { line: 'CONVERGED' }, maxRounds: 3, onMaxRounds: 'continue' }),
);
`;

describe('[issue 14] a loop on the command line', () => {
  it('shows per round what is new, and warns of repetitions: run, logs, show, audit', async () => {
    const cwd = await makeProject({ 'flow.mjs': FLOW });
    const ran = await served(['run', 'flow.mjs', '--verbose'], { cwd });
    expect(ran.code, ran.stderr).toBe(0);
    expect(ran.stderr.split('\n').filter((line) => /round \d/.test(line))).toEqual([
      '[polish] round 1: 100% of its lines are new',
      '[polish] round 2: 0% of its lines are new',
      'warning: polish: round 2 gives the text of round 1',
      '[polish] round 3: 0% of its lines are new',
      'warning: polish: round 3 gives the text of round 2',
    ]);
    const logs = await served(['logs', '-1'], { cwd });
    expect(logs.stdout).toMatch(
      / polish round 2: 0% of its lines are new\n.* polish warning: round 2 gives the text of round 1\n/,
    );
    const shown = await served(['show', '-1'], { cwd });
    expect(shown.stdout).toContain('warning: polish: round 3 gives the text of round 2\n');
    const [folder = ''] = readdirSync(join(cwd, '.workflow-runs')).filter((name) => name.includes('graph'));
    const meta = JSON.parse(readFileSync(join(cwd, '.workflow-runs', folder, 'workflow.meta.json'), 'utf8')) as object;
    expect(meta).toMatchObject({
      warnings: [{ path: 'polish', code: 'loop.repeated' }, { code: 'loop.repeated' }, {}],
    });
  });

  it('is planned and drawn with its end and its cap', async () => {
    const cwd = await makeProject({ 'flow.mjs': FLOW });
    const line = 'until text has the line "CONVERGED", at most 3 rounds';
    expect((await served(['plan', 'flow.mjs'], { cwd })).stdout).toContain(`polish (loop)\n    ${line}\n`);
    expect((await served(['graph', 'flow.mjs', '--format', 'dot'], { cwd })).stdout).toContain('at most 3 rounds');
  });
});

const PIPELINE = `agents:
  writer: { instruction: You write. }
  critic: { instruction: You judge. }
workflow:
  steps:
    - { id: draft, type: agent, name: writer }
    - { id: check, type: agent, name: critic }
    - { type: condition, condition: "{{ $steps.check.output == 'yes' }}", false: [{ goto: draft }] }
`;

const SCRIPT = `strict: false
rules:
  - { step: "check#2", answer: "yes" }
  - { step: check, answer: "no" }
  - { step: "draft#2", answer: "one\\ntwo" }
  - { step: draft, answer: one }
`;

describe('[issue 14] a loop of a pipeline', () => {
  it('shows what is new in each visit, and writes it into the stream of the step', async () => {
    const cwd = await makeProject({ 'flow.yaml': PIPELINE, 'script.yaml': SCRIPT });
    const ran = await served(
      [
        'run',
        'flow.yaml',
        '--input',
        'prompt=go',
        '--mock=script.yaml',
        '--verbose',
        '--stream',
        '--audit-dir',
        'runs',
      ],
      { cwd },
    );
    expect(ran.code, ran.stderr).toBe(0);
    expect(ran.stderr.split('\n').filter((line) => /round \d/.test(line))).toEqual([
      '[draft#2] round 2: 50% of its lines are new',
      '[check#2] round 2: 100% of its lines are new',
    ]);
    expect((await served(['logs', '-1'], { cwd })).stdout).toContain(' draft#2 round 2: 50% of its lines are new\n');
    const files = readdirSync(join(cwd, 'runs'), { recursive: true }).map(String);
    const stream = files.find((file) => file.includes('draft-2') && file.endsWith('stream.jsonl')) ?? '';
    expect(readFileSync(join(cwd, 'runs', stream), 'utf8')).toMatch(
      /"type":"loop\.round","data":\{"round":2,"change":0\.5\}/,
    );
  });
});
