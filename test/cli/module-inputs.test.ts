import { describe, expect, test } from 'vitest';
import { documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const SUM = `import { graph } from 'skein/graph';
export default graph<{ start: number; list: number[]; sum: number }>({
  name: 'sum',
  invariants: [{ predicate: ({ state }) => (state.sum ?? 0) < 100, message: 'the sum is small', POLICY }],
}).addNode('sum', ({ start, list }) => ({ sum: list.reduce((a, b) => a + b, start) })).setEntry('sum');
`;
const OBSERVED = SUM.replace('POLICY', "policy: 'observe'");
const ENFORCED = SUM.replace(', POLICY', '');
const WORDS = ['--no-audit', '--no-store'];

describe('--input-json', () => {
  test('gives values that are no text; functions that return updates have the state as their result', async () => {
    const cwd = await makeProject({ 'flow.ts': OBSERVED });
    const end = await served(['run', 'flow.ts', '--input-json', 'start=1', '--input-json', 'list=[2, 3]', ...WORDS], {
      cwd,
    });
    expect(end.code, end.stderr).toBe(0);
    expect(end.stdout).toMatch(/^# Workflow Results\n\n\{\n/);
    expect(JSON.parse(end.stdout.slice(end.stdout.indexOf('{')))).toEqual({ start: 1, list: [2, 3], sum: 6 });
  });

  test.each([
    ['list=[2', 2, "error SKEIN_INPUT: input 'list' is not JSON: "],
    ['list', 1, 'error SKEIN_USAGE: --input-json takes NAME=VALUE, not "list"'],
  ])('refuses %s', async (words, code, message) => {
    const cwd = await makeProject({ 'flow.ts': OBSERVED });
    const end = await served(['run', 'flow.ts', '--input-json', words, ...WORDS], { cwd });
    expect(end).toMatchObject({ code, stdout: '' });
    expect(end.stderr).toContain(message);
  });

  test('is named where a text is refused by a schema, in a run and in a fork', async () => {
    const flow = `import { graph } from 'skein/graph';
const validate = (value) => (typeof value === 'number' ? { value } : { issues: [{ message: 'not a number' }] });
const number = { '~standard': { version: 1, vendor: 'own', validate } };
export default graph({ state: { n: number, twice: number } }).node('twice', ({ n }) => n * 2);
`;
    const cwd = await makeProject({ 'flow.ts': flow });
    const hint = 'hint: this was a text; a number, a list or an object: --input-json n=JSON\n';
    const refused = await served(['run', 'flow.ts', '--input', 'n=5', ...WORDS], { cwd });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(hint)]);
    const wrong = await served(['run', 'flow.ts', '--input-json', 'n="5"', ...WORDS], { cwd });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('hint: it takes n\n')]);
    expect((await served(['run', 'flow.ts', '--input-json', 'n=5', '--no-audit'], { cwd })).code).toBe(0);
    const forked = await served(['fork', '-1', '--set', 'n=6'], { cwd });
    expect([forked.code, forked.stderr]).toEqual([2, expect.stringContaining(hint)]);
  });

  test('gives a fork another value, which is compared as data', async () => {
    const cwd = await makeProject({ 'flow.ts': OBSERVED });
    const run = ['run', 'flow.ts', '--input-json', 'start=1', '--input-json', 'list=[2]', '--no-audit'];
    expect((await served(run, { cwd })).code).toBe(0);
    const same = await served(['fork', '-1', '--input-json', 'list=[ 2 ]'], { cwd });
    expect(same.stderr).not.toContain('has another value');
    expect(same.stderr).toContain('\n1 reused, 0 run\n');
    const other = await served(['fork', '-1', '--input-json', 'list=[4]', '--json'], { cwd });
    expect(other.stderr).toContain('input list has another value\n');
    expect(documentOf(other)).toMatchObject({ state: { sum: 5 }, ran: 1 });
  });

  test('may be looked at before it is used', async () => {
    const cwd = await makeProject({ 'flow.ts': OBSERVED });
    const end = await served(['plan', 'flow.ts', '--input-json', 'list=[1]', '--json'], { cwd });
    expect(end).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('invariants', () => {
  const big = ['run', 'flow.ts', '--input-json', 'start=1', '--input-json', 'list=[200]', '--json', ...WORDS];

  test('that are enforced end the run', async () => {
    const end = await served(big, { cwd: await makeProject({ 'flow.ts': ENFORCED }) });
    expect(end.code).toBe(3);
    expect(documentOf(end)).toMatchObject({
      outcome: 'failed',
      error: { code: 'SKEIN_INVARIANT', message: "workflow invariant violated (after 'sum'): the sum is small" },
    });
  });

  test('that are only observed are warnings', async () => {
    const end = await served(big, { cwd: await makeProject({ 'flow.ts': OBSERVED }) });
    expect(end.code).toBe(0);
    const warning = "workflow invariant violated (after 'sum'): the sum is small";
    expect(documentOf(end)).toMatchObject({ outcome: 'succeeded', warnings: [warning] });
    expect(end.stderr).toContain(`warning: ${warning}\n`);
  });
});

test('skein new --ts makes a graph that runs with its script, without anything being installed', async () => {
  const cwd = await makeProject();
  const made = await served(['new', 'Mine', '--ts'], { cwd });
  expect(made).toMatchObject({ code: 0, stdout: 'made Mine with flow.ts, script.yaml, package.json, tsconfig.json\n' });
  const [, command = ''] = /\n {2}skein (run .*)\n/.exec(made.stderr) ?? [];
  const end = await served(command.split(' ').concat('--json', ...WORDS), { cwd });
  expect(end.code, end.stderr).toBe(0);
  expect(documentOf(end)).toMatchObject({
    workflow: 'Mine',
    outcome: 'succeeded',
    state: { page: 'LOOMS: A paragraph that was written before the run.' },
  });
  expect((await served(['validate', 'Mine/flow.ts'], { cwd })).stderr).toBe('');
  expect((await served(['new', 'other', '--ts', '--template', 'chain'], { cwd })).code).toBe(1);
});
