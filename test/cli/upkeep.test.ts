import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/stores/sqlite.js';
import { batch, begin } from '../stores/support/stores.js';
import { CHAIN, makeProject, runFolder, runFolders } from './support/skein.js';
import { served } from './support/served.js';

const RUN = ['run', 'flow.yaml', '--mock'];

describe('skein runs prune', () => {
  it('[XR7] gives the space of removed runs back to the disk', async () => {
    const cwd = await makeProject();
    const file = join(cwd, '.skein/skein.db');
    const store = await openSqliteStore(file);
    for (let n = 0; n < 40; n++) {
      const lease = begin(store, `run-${n}`);
      for (let seq = 0; seq < 4; seq++) store.append([batch(lease, seq, { text: JSON.stringify('x'.repeat(40_000)) })]);
      store.release(lease, { outcome: 'succeeded', endedAt: 2_000 });
    }
    store.close();
    const before = (await stat(file)).size;
    const end = await served(['runs', 'prune', '--json'], { cwd });
    const { removed, freedBytes } = JSON.parse(end.stdout) as {
      readonly removed: string[];
      readonly freedBytes: number;
    };
    expect(removed).toHaveLength(40);
    expect(before).toBeGreaterThan(6_000_000);
    expect((await stat(file)).size).toBeLessThan(200_000);
    expect(freedBytes).toBeGreaterThan(before - 200_000);
  });

  it('[XR7] offers run folders whose runs are not recorded any more, and removes them when it is asked to', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    for (let n = 0; n < 3; n++) await served(RUN, { cwd });
    const folders = () => runFolders(cwd);
    expect(await folders()).toHaveLength(3);
    const offered = await served(['runs', 'prune', '--keep', '1'], { cwd });
    expect(offered.stdout).toContain('removed 2 runs');
    expect(offered.stderr).toContain(
      '2 folders in .workflow-runs of runs that are not recorded: --folders removes them',
    );
    expect(await folders()).toHaveLength(3);
    const done = await served(['runs', 'prune', '--keep', '1', '--folders'], { cwd });
    expect(done.stdout).toContain('2 run folders');
    expect(await folders()).toHaveLength(1);
  });
});

describe('skein runs backup', () => {
  it('[XR7] copies all runs into one new file, for its owner alone', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const file = join(cwd, '.skein/skein.db');
    // What is committed is still in the log: a copy of the file alone would have no runs.
    await served([...RUN, '--no-audit'], { cwd });
    const store = await openSqliteStore(file);
    await served([...RUN, '--no-audit'], { cwd });
    const end = await served(['runs', 'backup', 'copy.db'], { cwd });
    store.close();
    expect(end.code).toBe(0);
    expect((await stat(join(cwd, 'copy.db'))).mode & 0o777).toBe(0o600);
    const again = await served(['runs', 'backup', 'copy.db'], { cwd });
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('it is there already')]);
    const runs = (await served(['runs', '--json'], { cwd })).stdout;
    await rm(join(cwd, '.skein'), { recursive: true });
    await mkdir(join(cwd, '.skein'));
    await rename(join(cwd, 'copy.db'), file);
    expect((await served(['runs', '--json'], { cwd })).stdout).toBe(runs);
    expect((await served(['resume', '-1', '--no-audit'], { cwd })).code).toBe(0);
  });
});

it('[XR7] a run has one folder, however often it is resumed', async () => {
  const script = `rules:
  - { step: facts, answer: The facts. }
  - { step: text, answer: The text. }
`;
  const cwd = await makeProject({
    'flow.yaml': CHAIN,
    'script.yaml': 'rules:\n  - { step: facts, answer: The facts. }\n',
  });
  const first = await served(['run', 'flow.yaml', '--mock=script.yaml'], { cwd });
  expect(first.code).toBe(3);
  const [name] = await runFolders(cwd);
  await writeFile(join(cwd, 'script.yaml'), script);
  for (let n = 0; n < 2; n++) expect((await served(['resume', '-1'], { cwd })).code).toBe(0);
  expect(await runFolders(cwd)).toEqual([name]);
  const files = await runFolder(cwd);
  expect(files.get('steps/00_facts/output.md')).toContain('The facts.');
  expect(files.get('steps/01_text/output.md')).toContain('The text.');
  expect(files.get('workflow.meta.json')).toContain('"completed"');
});
