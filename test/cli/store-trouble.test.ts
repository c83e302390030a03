import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LEASE_MS } from '../../src/journal/store.js';
import { openSqliteStore } from '../../src/stores/sqlite.js';
import { loadDriver } from '../../src/stores/sqlite-driver.js';
import type { SqlDatabase } from '../../src/stores/sqlite-driver.js';
import { CHAIN, makeProject, startSkein } from './support/skein.js';
import { served } from './support/served.js';

const SLOW = `name: slow
agents:
  writer: { inline: { prompt: You write., tools: [] } }
steps:
  - { id: facts, agent: writer, prompt: "Facts" }
  - { id: text, agent: writer, depends_on: [facts], prompt: "Text from {{steps.facts.output}}" }
`;

/** A script whose second answer takes a while. */
function script(delay: string): string {
  return `rules:
  - { step: facts, answer: The facts. }
  - { step: text, answers: [{ text: The text., delay: ${delay} }] }
`;
}

async function openFile(cwd: string): Promise<SqlDatabase> {
  return (await loadDriver()).open(join(cwd, '.skein/skein.db'));
}

describe('a byte of a text that is no text', () => {
  /** Changes the first place of a text in the file. */
  async function spoil(cwd: string, text: string, bit: number): Promise<void> {
    const file = join(cwd, '.skein/skein.db');
    const bytes = await readFile(file);
    const at = bytes.indexOf(text);
    expect(at).toBeGreaterThan(0);
    bytes[at + 3] = (bytes[at + 3] ?? 0) ^ (1 << bit);
    await writeFile(file, bytes);
  }

  it.each([7, 0])('[XR1] in a batch (bit %i): the run is refused with the place, others are told', async (bit) => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN, 'slow.yaml': SLOW });
    await served(['run', 'slow.yaml', '--mock', '--no-audit'], { cwd });
    await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    await spoil(cwd, 'Facts about looms', bit);
    const listed = await served(['runs'], { cwd });
    expect(listed.code).toBe(0);
    expect(listed.stdout).toMatch(/flow|chain/);
    expect(listed.stdout).toContain('slow');
    for (const words of [
      ['show', '-1'],
      ['resume', '-1', '--no-audit'],
      ['logs', '-1'],
    ]) {
      const end = await served(words, { cwd });
      expect([end.code, end.signal]).toEqual([2, null]);
      expect(end.stderr).toMatch(/^error SKEIN_JOURNAL: the journal of the run \S+ can't be used: batch \d+/m);
      if (bit === 7) expect(end.stderr).toMatch(/batch \d+: byte \d+ of its text is not UTF-8/);
    }
    expect((await served(['show', '-2'], { cwd })).code).toBe(0);
  });

  it('[XR1] in the row of a run: it is listed as damaged, and others as they are', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN, 'slow.yaml': SLOW });
    await served(['run', 'slow.yaml', '--mock', '--no-audit'], { cwd });
    await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    const database = await openFile(cwd);
    database.exec(`UPDATE runs SET name = CAST(x'63ff61' AS TEXT) WHERE name = 'chain'`);
    database.close();
    const { stdout, code } = await served(['runs', '--json'], { cwd });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      runs: [{ problem: 'byte 1 of its name is not UTF-8' }, { name: 'slow', status: 'succeeded', steps: 2 }],
    });
    const listed = await served(['runs'], { cwd });
    expect(listed.stdout).toMatch(/damaged/);
    expect((await served(['show', '-1'], { cwd })).stderr).toMatch(/SKEIN_JOURNAL.*byte 1 of its name is not UTF-8/);
  });

  it('[XR1] a text with a NUL in it is not cut there and believed', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    const database = await openFile(cwd);
    database.exec(`UPDATE runs SET name = name || char(0) || 'more'`);
    database.close();
    const { stdout } = await served(['runs', '--json'], { cwd });
    expect(JSON.parse(stdout)).toMatchObject({ runs: [{ problem: 'its checksum does not match its columns' }] });
  });
});

it('[XR5] a run goes on when another process has locked the store for seven seconds', async () => {
  const cwd = await makeProject({ 'slow.yaml': SLOW, 'script.yaml': script('2s') });
  const run = startSkein(['run', 'slow.yaml', '--mock=script.yaml', '--no-audit'], { cwd, input: '' });
  await run.seen('step text started');
  const database = await openFile(cwd);
  database.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
  await sleep(7_000);
  database.exec('ROLLBACK');
  database.close();
  const end = await run.ended;
  expect(end.stderr).toContain('slow succeeded');
  expect([end.code, end.stdout.includes('The text.')]).toEqual([0, true]);
  expect((await served(['show', '-1'], { cwd })).stdout).toMatch(/succeeded/);
});

describe('a store that is removed while a run goes on', () => {
  it('[XR6] is noticed at the end: results are printed, nothing is said to be recorded', async () => {
    const cwd = await makeProject({ 'slow.yaml': SLOW, 'script.yaml': script('1s') });
    const run = startSkein(['run', 'slow.yaml', '--mock=script.yaml', '--no-audit'], { cwd, input: '' });
    await run.seen('step text started');
    await rm(join(cwd, '.skein'), { recursive: true });
    const end = await run.ended;
    expect(end.code).toBe(3);
    expect(end.stdout).toContain('The text.');
    expect(end.stderr).toMatch(/skein\.db was removed or replaced while it was in use/);
    expect(end.stderr).not.toMatch(/^recorded as run|skein resume/m);
  });

  it('[XR6] is noticed at the next renewal of the lease, also when there is another one in its place', async () => {
    const cwd = await makeProject({ 'slow.yaml': SLOW, 'flow.yaml': CHAIN, 'script.yaml': script('50s') });
    const run = startSkein(['run', 'slow.yaml', '--mock=script.yaml', '--no-audit', '--json'], { cwd, input: '' });
    await run.seen('step text started');
    await rm(join(cwd, '.skein'), { recursive: true });
    await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    const end = await run.ended;
    expect(end.code).toBe(3);
    const document = JSON.parse(end.stdout) as Record<string, unknown>;
    expect(document).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_STORE' } });
    expect(document['recorded']).toBe(false);
    expect((await served(['runs'], { cwd })).stdout).not.toContain('slow');
  });
});

it('[XR8] who has lost a run to another process is told to look at it, not to resume it', async () => {
  const cwd = await makeProject({ 'slow.yaml': SLOW, 'script.yaml': script('2s') });
  const run = startSkein(['run', 'slow.yaml', '--mock=script.yaml', '--no-audit'], { cwd, input: '' });
  await run.seen('step text started');
  const store = await openSqliteStore(join(cwd, '.skein/skein.db'));
  const [row] = store.list();
  const runId = row?.id ?? '';
  store.renew([{ runId, fence: row?.fence ?? 0 }], -LEASE_MS);
  store.lease(runId, { id: 'other', host: 'elsewhere', pid: 1 }, Date.now());
  store.close();
  const end = await run.ended;
  expect(end.code).toBe(3);
  expect(end.stderr).toContain('error SKEIN_LEASE');
  expect(end.stderr).toMatch(/^next: look at its progress: .*\n {2}skein show \S+$/m);
  expect(end.stderr).not.toContain('skein resume');
});

it('[XR8] a torn tail that is cut off is told on a resume', async () => {
  const cwd = await makeProject({ 'flow.yaml': CHAIN });
  await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
  const database = await openFile(cwd);
  database.exec(`UPDATE batches SET text = substr(text, 1, 20) WHERE place = (SELECT max(place) FROM batches)`);
  database.close();
  const end = await served(['resume', '-1', '--no-audit'], { cwd });
  expect(end.code).toBe(0);
  expect(end.stderr).toMatch(
    /^note: the end of the record is incomplete: batch \d+ was not written to its end and is left out/m,
  );
  expect((await served(['resume', '-1', '--no-audit'], { cwd })).stderr).not.toContain('left out');
});
