import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { served } from './support/served.js';
import { documentOf, makeProject, startSkein } from './support/skein.js';

/** Work that waits while there is no file `go`; then two steps at the end, the second of which waits for `swept`. */
const FLOW = `import { appendFileSync, existsSync } from 'node:fs';
import { definePlan } from 'skein';

const note = (line) => appendFileSync('log', line + '\\n');
const waitFor = async (file, signal) => {
  while (!existsSync(file) && !signal.aborted) await new Promise((done) => setTimeout(done, 5));
};
const sweep = definePlan({
  name: 'sweep',
  inputs: [{ name: 'run.outcome', required: false }],
  nodes: [
    { id: 'one', run: (state) => { note('one ' + state['run.outcome']); return {}; } },
    { id: 'two', run: async (_, { signal }) => { note('two begins'); await waitFor('swept', signal); note('two'); return {}; } },
  ],
  edges: [['one', 'two']],
});
export default definePlan({
  name: 'work',
  channels: { 'run.outcome': {}, 'run.error': {} },
  nodes: [
    { id: 'work', run: async (_, { signal }) => { note('work'); await waitFor('go', signal); return {}; } },
    { id: 'finally', kind: 'call', plan: sweep, writes: [], onError: 'ignore' },
  ],
  finally: 'finally',
});
`;

const hasSignals = process.platform !== 'win32';
if (!hasSignals) console.info('note: Windows has no signals, so tests of them are skipped');

const log = (cwd: string): readonly string[] =>
  existsSync(join(cwd, 'log')) ? readFileSync(join(cwd, 'log'), 'utf8').trim().split('\n') : [];

/** Asks again and again; the limit of the test is the only clock. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(10);
}

test('[addition 10] what runs at the end has the name of its steps, and a number when it runs again', async () => {
  const agent = (id: string): string => `{ id: ${id}, type: agent, name: w, prompt: "${id}?" }`;
  const file = `agents: { w: { instruction: You write. } }
workflow:
  - ${agent('a')}
  - ${agent('b')}
finally:
  - ${agent('sweep')}
`;
  const broken =
    'rules:\n  - { step: b, answer: { error: { code: SKEIN_TOOL_FAILED, message: broken } } }\nstrict: false\n';
  const cwd = await makeProject({ 'flow.yaml': file, 'broken.yaml': broken });
  const steps = async (): Promise<readonly string[]> => {
    const { steps: all } = documentOf(await served(['show', '-1', '--json'], { cwd }));
    return (all as unknown as readonly { path: string; outcome: string }[]).map((one) => `${one.path} ${one.outcome}`);
  };
  await served(['exec', 'flow.yaml', 'go', '--mock=broken.yaml', '--no-audit'], { cwd });
  expect(await steps()).toEqual(['a succeeded', 'b failed', 'finally/sweep succeeded']);
  await served(['resume', '-1', '--mock', '--no-audit'], { cwd });
  expect((await steps()).toSorted()).toEqual([
    'a succeeded',
    'b succeeded',
    'finally#2/sweep succeeded',
    'finally/sweep succeeded',
  ]);
  const logs = (await served(['logs', '-1'], { cwd })).stdout;
  expect(logs).toMatch(/ {2}finally\/sweep .*\n/);
  expect(logs).toMatch(/ {2}finally#2\/sweep .*\n/);
  expect((await served(['fork', '-1', '--from', 'finally/sweep', '--mock', '--no-audit'], { cwd })).code).toBe(0);
  // What closed the run before is not a part of the fork.
  expect((await steps()).toSorted()).toEqual(['a succeeded', 'b succeeded', 'finally#3/sweep succeeded']);
});

describe.skipIf(!hasSignals)('[addition 10] what runs at the end of a run', { timeout: 120_000 }, () => {
  test('runs after Ctrl-C, with exit 130; a resume goes on and runs it again at its end', async () => {
    const cwd = await makeProject({ 'flow.mjs': FLOW, swept: '' });
    const running = startSkein(['run', 'flow.mjs', '--no-audit'], { cwd });
    await until(() => log(cwd).includes('work'));
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect(log(cwd)).toEqual(['work', 'one cancelled', 'two begins', 'two']);
    await writeFile(join(cwd, 'go'), '');
    expect((await served(['resume', '-1', '--no-audit'], { cwd })).code).toBe(0);
    expect(log(cwd).slice(4)).toEqual(['work', 'one succeeded', 'two begins', 'two']);
  });

  test('is cut off by a second Ctrl-C', async () => {
    const cwd = await makeProject({ 'flow.mjs': FLOW });
    const running = startSkein(['run', 'flow.mjs', '--no-audit'], { cwd });
    await until(() => log(cwd).includes('work'));
    running.child.kill('SIGINT');
    await until(() => log(cwd).includes('two begins'));
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(130);
    expect(log(cwd)).not.toContain('two');
  });

  test('is continued by a resume after a SIGKILL: what it had done is not done again', async () => {
    const cwd = await makeProject({ 'flow.mjs': FLOW, go: '' });
    const running = startSkein(['run', 'flow.mjs', '--no-audit'], { cwd });
    await until(() => log(cwd).includes('two begins'));
    running.child.kill('SIGKILL');
    await running.ended;
    await writeFile(join(cwd, 'swept'), '');
    const resumed = await served(['resume', '-1', '--no-audit'], { cwd });
    expect([resumed.code, log(cwd)]).toEqual([0, ['work', 'one succeeded', 'two begins', 'two begins', 'two']]);
    expect((await served(['resume', '-1', '--no-audit'], { cwd })).code).toBe(0);
    expect(log(cwd)).toHaveLength(5);
  });
});
