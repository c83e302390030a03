import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRunFolder } from '../../src/audit/run-folder.js';
import { agentNode, echo, read, readJson, record, tempDir, workflowOf } from './support/folder.js';

const DAY = Date.UTC(2026, 2, 26, 10);
const HOUR = 3_600_000;
const workflow = workflowOf([agentNode('a')], [], { name: 'w' });

async function runAt(dir: string, hour: number, keep: number): Promise<string> {
  const { path, problems } = await record(workflow, echo, {
    dir,
    keep,
    startedAt: DAY + hour * HOUR,
    runId: `r${hour}`,
  });
  expect(problems).toEqual([]);
  return basename(path);
}

/** Changes what the marker of a run folder says. */
async function mark(dir: string, name: string, change: Readonly<Record<string, unknown>>): Promise<void> {
  const marker = await readJson(dir, name, '.skein-run');
  await writeFile(join(dir, name, '.skein-run'), JSON.stringify({ ...marker, ...change }));
}

describe('retention', () => {
  it('keeps the newest, by the start of the run', async () => {
    const dir = await tempDir();
    const newest = await runAt(dir, 3, 0);
    for (const hour of [1, 2]) await runAt(dir, hour, 0);
    expect(await readdir(dir)).toHaveLength(3);
    const last = await runAt(dir, 4, 2);
    expect((await readdir(dir)).toSorted()).toEqual([newest, last].toSorted());
  });

  it('keeps all when the number is 0', async () => {
    const dir = await tempDir();
    for (const hour of [1, 2, 3]) await runAt(dir, hour, 0);
    expect(await readdir(dir)).toHaveLength(3);
  });

  it('touches nothing that Skein did not make, and never its own folder (statement 78)', async () => {
    const dir = await tempDir();
    const old = await runAt(dir, 1, 0);
    const twin = '2020-01-01T00-00-00_w_00000000';
    for (const name of ['zz_keep', 'aa_keep', twin]) {
      await mkdir(join(dir, name));
      await writeFile(join(dir, name, 'mine'), name);
    }
    await writeFile(join(dir, '2020-01-02T00-00-00_w_00000000'), 'a file');
    const renamed = await runAt(dir, 0, 0);
    await rename(join(dir, renamed), join(dir, 'release-1.0'));
    const current = await runAt(dir, 2, 1);
    expect((await readdir(dir)).toSorted()).toEqual(
      ['zz_keep', 'aa_keep', twin, '2020-01-02T00-00-00_w_00000000', 'release-1.0', current].toSorted(),
    );
    expect(await readdir(dir)).not.toContain(old);
    expect(await read(dir, 'zz_keep', 'mine')).toBe('zz_keep');
    expect((await readJson(dir, current, 'workflow.meta.json'))['status']).toBe('completed');
  });

  it('never removes its own folder, whatever the clock says', async () => {
    const dir = await tempDir();
    const future = await runAt(dir, 1_000, 0);
    const current = await runAt(dir, 1, 1);
    expect(await readdir(dir)).toEqual([current]);
    expect(current < future).toBe(true);
  });

  it('leaves running runs alone, and removes those whose process is gone', async () => {
    const dir = await tempDir();
    const running = await openRunFolder({
      workflow,
      runId: 'live',
      dir,
      keep: 0,
      inputs: {},
      secrets: [],
      startedAt: DAY,
    });
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    const dead = await runAt(dir, 1, 0);
    await mark(dir, dead, { state: 'running', pid: child.pid });
    const current = await runAt(dir, 2, 1);
    expect((await readdir(dir)).toSorted()).toEqual([basename(running.path), current].toSorted());
    expect(await running.close()).toEqual([]);
    const last = await runAt(dir, 3, 1);
    expect(await readdir(dir)).toEqual([last]);
  });

  it('believes for a day that a run of another machine is running', async () => {
    const dir = await tempDir();
    const fresh = await runAt(dir, 1, 0);
    const stale = await runAt(dir, 2, 0);
    const elsewhere = { state: 'running', pid: 1, host: `not-${hostname()}` };
    await mark(dir, fresh, { ...elsewhere, started_at: new Date().toISOString() });
    await mark(dir, stale, { ...elsewhere, started_at: '2020-01-01T00:00:00.000Z' });
    const current = await runAt(dir, 3, 1);
    expect((await readdir(dir)).toSorted()).toEqual([fresh, current].toSorted());
  });

  it.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['no time', '{"run_id":"x","started_at":"soon","state":"ended","pid":1,"host":"h"}'],
    ['no process', '{"run_id":"x","started_at":"2020-01-01","state":"ended","pid":-1,"host":"h"}'],
    ['too large', `{"run_id":"${'x'.repeat(5_000)}","started_at":"2020-01-01","state":"ended","pid":1,"host":"h"}`],
  ])('does not take a folder for a run folder whose marker is %s', async (_, text) => {
    const dir = await tempDir();
    const old = await runAt(dir, 1, 0);
    await writeFile(join(dir, old, '.skein-run'), text);
    await runAt(dir, 2, 1);
    expect(await readdir(dir)).toContain(old);
  });

  it('follows no link: neither of a folder, nor of a marker, nor in what it removes', async () => {
    const root = await tempDir();
    const dir = join(root, 'runs');
    const outside = join(root, 'outside');
    const old = await runAt(dir, 1, 0);
    // A run folder elsewhere, linked to from here.
    const linked = await runAt(outside, 1, 0);
    const link = '2020-01-01T00-00-00_w_11111111';
    await symlink(join(outside, linked), join(dir, link));
    // A folder whose marker is a link.
    const borrowed = '2020-01-01T00-00-00_w_22222222';
    await mkdir(join(dir, borrowed));
    await symlink(join(outside, linked, '.skein-run'), join(dir, borrowed, '.skein-run'));
    // A link in a folder that is removed.
    await writeFile(join(outside, 'precious'), 'mine');
    await symlink(outside, join(dir, old, 'steps', 'out'));
    const current = await runAt(dir, 2, 1);
    expect((await readdir(dir)).toSorted()).toEqual([link, borrowed, current].toSorted());
    expect(await read(outside, 'precious')).toBe('mine');
    expect(await read(outside, linked, 'steps/00_a/output.md')).toBe('answer of a');
  });

  it('is finished by the next run when it was interrupted', async () => {
    const dir = await tempDir();
    const old = await runAt(dir, 1, 0);
    await rm(join(dir, old, 'workflow.meta.json'));
    await rm(join(dir, old, 'steps'), { recursive: true });
    const current = await runAt(dir, 2, 1);
    expect(await readdir(dir)).toEqual([current]);
  });
});
