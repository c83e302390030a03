import { describe, expect, test } from 'vitest';
import { CHAIN, documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const LOUD = `export enum Mood { Calm = '.', Excited = '!' }
export const loud = (text: string): string => text.toUpperCase() + Mood.Excited;
`;

const FLOW = `import { graph } from 'skein/graph';
import { loud } from './lib/loud.js';

const flow = graph<{ topic: string }>({ name: 'typed' })
  .node('draft', ({ topic }): string => \`about \${topic}\`)
  .node('final', ({ draft }) => loud(draft))
  .setEntry('draft');

export default flow;
`;

const WORDS = ['--no-audit', '--no-store'];

/** Runs a module with the input topic. */
async function stateOf(file: string, text: string): Promise<unknown> {
  const cwd = await makeProject({ [file]: text });
  const end = await served(['run', file, '-i', 'topic=looms', '--json', ...WORDS], { cwd });
  expect(end.code, end.stderr).toBe(0);
  return documentOf(end)['state'];
}

describe('a graph in TypeScript', () => {
  test('is validated, planned and drawn; nothing of it runs', async () => {
    const cwd = await makeProject({ 'flow.ts': FLOW, 'lib/loud.ts': LOUD });
    expect(await served(['validate', 'flow.ts'], { cwd })).toMatchObject({ code: 0, stdout: 'flow.ts is valid\n' });
    const plan = JSON.parse((await served(['plan', 'flow.ts', '--json'], { cwd })).stdout) as unknown;
    expect(plan).toMatchObject({ workflow: 'typed', levels: [['draft'], ['final']], inputs: [{ name: 'topic' }] });
    const drawing = await served(['graph', 'flow.ts', '--format', 'mermaid'], { cwd });
    expect(drawing).toMatchObject({ code: 0, stderr: '' });
    expect(drawing.stdout).toMatch(/n0\["draft"\][^]*n0 --> n1/);
  });

  test('runs like any other file: progress on stderr, its answer on stdout, a run folder and a record', async () => {
    const cwd = await makeProject({ 'flow.ts': FLOW, 'lib/loud.ts': LOUD });
    const end = await served(['run', 'flow.ts', '--input', 'topic=looms'], { cwd });
    expect(end).toMatchObject({ code: 0, stdout: '# Workflow Results\n\n## Step: final\n\nABOUT LOOMS!\n' });
    expect(end.stderr).toMatch(/step draft succeeded[^]*typed succeeded in [^]*audit folder: [^]*recorded as run /);
    expect(JSON.parse((await served(['runs', '--json'], { cwd })).stdout)).toMatchObject({
      runs: [{ name: 'typed', status: 'succeeded' }],
    });
  });

  test('has its state in the JSON document', async () => {
    const cwd = await makeProject({ 'flow.ts': FLOW, 'lib/loud.ts': LOUD });
    const end = await served(['run', 'flow.ts', '-i', 'topic=looms', '--json', ...WORDS], { cwd });
    expect(documentOf(end)).toMatchObject({
      workflow: 'typed',
      outcome: 'succeeded',
      state: { topic: 'looms', draft: 'about looms', final: 'ABOUT LOOMS!' },
      steps: { final: { output: 'ABOUT LOOMS!' } },
    });
  });

  test('without an input that it needs is refused before anything runs', async () => {
    const cwd = await makeProject({ 'flow.ts': FLOW, 'lib/loud.ts': LOUD });
    const end = await served(['run', 'flow.ts', ...WORDS], { cwd });
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toBe(
      'error missing-input: the input "topic" is not given\n    hint: add --input topic=VALUE, or --input-file topic=FILE\n',
    );
  });

  test('that fails has exit code 3, and says which node', async () => {
    const cwd = await makeProject({
      'flow.ts': FLOW.replace('loud(draft)', '{ throw new Error(`no ${draft}`); }'),
      'lib/loud.ts': LOUD,
    });
    const end = await served(['run', 'flow.ts', '-i', 'topic=looms', ...WORDS], { cwd });
    expect(end.code).toBe(3);
    expect(end.stderr).toContain('no about looms');
    expect(end.stderr).not.toContain('    at ');
  });

  test('tells what its agents do, as a file of YAML does', async () => {
    const text = `import { agent, agentNode, graph } from 'skein/graph';
const writer = agent({ name: 'writer', instructions: 'You write.', tools: [] });
export default graph<{ topic: string }>({ name: 'asks' }).node('text', agentNode(writer, { taskParam: 'topic' })).setEntry('text');
`;
    const cwd = await makeProject({ 'flow.ts': text });
    const end = await served(['run', 'flow.ts', '-i', 'topic=looms', '--mock', '--verbose', ...WORDS], { cwd });
    expect(end).toMatchObject({ code: 0, stdout: '# Workflow Results\n\n## Step: text\n\nlooms\n' });
    expect(end.stderr).toMatch(/^\[text\] .*mock\/echo/m);
    expect(end.stderr).toContain('1 model call (mock/echo 1)');
  });
});

describe('a default export may be', () => {
  test('what CommonJS exports', async () => {
    const text = `module.exports = import('skein/graph').then(({ graph }) =>
  graph().node('place', ({ topic }) => topic + __filename.slice(-4)).setEntry('place'),
);
`;
    expect(await stateOf('flow.cjs', text)).toMatchObject({ place: 'looms.cjs' });
  });

  test('a compiled graph', async () => {
    const text = FLOW.replace(/^import \{ loud.*\n/m, '').replace('loud(draft)', 'draft.length');
    expect(await stateOf('flow.ts', text.replace('default flow', 'default flow.compile()'))).toMatchObject({
      final: 11,
    });
  });

  test('a promise of one; the module may await, and knows where it is', async () => {
    const text = `import { basename } from 'node:path';
import { graph } from 'skein/graph';
const suffix: string = await Promise.resolve(basename(import.meta.url));
export default Promise.resolve(graph<{ topic: string }>().node('place', ({ topic }) => topic + suffix).setEntry('place'));
`;
    expect(await stateOf('flow.mts', text)).toMatchObject({ place: 'loomsflow.mts' });
  });

  test('the definition of a plan, also in JavaScript', async () => {
    const text = `import { definePlan } from 'skein';
export default definePlan({ name: 'by-hand', inputs: ['topic'], nodes: [{ id: 'greet', output: 'text', run: ({ topic }) => 'hi ' + topic }] });
`;
    for (const file of ['flow.js', 'flow.mjs', 'flow.ts']) {
      expect(
        await stateOf(
          file,
          text.replaceAll('({ topic })', file === 'flow.ts' ? '({ topic }: { topic: string })' : '({ topic })'),
        ),
      ).toMatchObject({
        text: 'hi looms',
      });
    }
  });

  test('a workflow that was loaded from YAML, with its settings', async () => {
    const cwd = await makeProject({
      'chain.yaml': `${CHAIN}output: { steps: [text] }\n`,
      'flow.mjs': `import { loadWorkflow } from 'skein/yaml';\nexport default loadWorkflow('chain.yaml', { cwd: import.meta.dirname });\n`,
    });
    const end = await served(['run', 'flow.mjs', '--mock', ...WORDS], { cwd });
    expect(end).toMatchObject({
      code: 0,
      stdout: '# Workflow Results\n\n## Step: text\n\nText from Facts about looms\n',
    });
  });
});
