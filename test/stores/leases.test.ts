import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { LEASE_MS } from '../../src/journal/store.js';
import { isDead, thisProcess } from '../../src/stores/holder.js';
import { batch, begin, holderNamed, ME, OTHER, STORES, textsOf } from './support/stores.js';
import { thrown } from '../thrown.js';

describe.each(STORES)('runs and leases: $name', ({ open }) => {
  test('a new run is leased to whoever made it', async () => {
    const store = await open();
    const lease = store.create({ id: 'r', name: 'flow', createdAt: 7, parent: 'p' }, ME, 1_000);
    expect(lease).toEqual({ runId: 'r', fence: 1 });
    expect(store.run('r')).toEqual({
      id: 'r',
      name: 'flow',
      createdAt: 7,
      parent: 'p',
      fence: 1,
      holder: ME,
      leasedUntil: 1_000 + LEASE_MS,
      cancelRequested: false,
      batches: 0,
    });
    expect(store.run('another')).toBeUndefined();
  });

  test('an id is taken once', async () => {
    const store = await open();
    const lease = begin(store, 'r');
    expect(thrown(() => store.create({ id: 'r', name: 'second', createdAt: 2 }, OTHER, 2)).code).toBe(
      'SKEIN_RUN_EXISTS',
    );
    expect(store.run('r')?.name).toBe('workflow of r');
    expect(store.append([batch(lease, 0)])).toEqual([true]);
  });

  test('a run that is leased is refused to others, who are told by whom and until when', async () => {
    const store = await open();
    store.create({ id: 'r', name: 'flow', createdAt: 7 }, { id: 'x', host: 'build-7', pid: 4711 }, 0);
    const error = thrown(() => store.lease('r', OTHER, LEASE_MS - 1));
    expect(error.code).toBe('SKEIN_LEASE');
    expect(error.message).toContain('4711');
    expect(error.message).toContain('build-7');
    expect(error.message).toContain('1970-01-01T00:00:15.000Z');
    expect(error.hint).toBeTruthy();
    expect(store.run('r')?.fence).toBe(1);
  });

  test('a lease that has run out goes to the next, and the former holder can write no more', async () => {
    const store = await open();
    const first = begin(store, 'r');
    expect(store.append([batch(first, 0)])).toEqual([true]);
    const second = store.lease('r', OTHER, 1_000 + LEASE_MS);
    expect(second).toEqual({ runId: 'r', fence: 2 });
    expect(store.run('r')).toMatchObject({ holder: OTHER, leasedUntil: 1_000 + 2 * LEASE_MS });
    expect(store.append([batch(first, 1, { text: '"stale"' })])).toEqual([false]);
    expect(store.append([batch(second, 1)])).toEqual([true]);
    // Also when it has written in between, and knows where it was.
    expect(store.append([batch(first, 1, { text: '"stale"' }), batch(first, 2, { text: '"stale"' })])).toEqual([
      false,
      false,
    ]);
    expect(store.renew([first, second], 2_000 + LEASE_MS)).toEqual([false, true]);
    store.release(first, { outcome: 'failed', endedAt: 5 });
    expect(store.run('r')?.holder).toEqual(OTHER);
    expect(store.run('r')?.outcome).toBeUndefined();
    expect(thrown(() => store.cut(first, 0)).code).toBe('SKEIN_LEASE');
    expect(textsOf(store, 'r')).toEqual(['{"run":"r","seq":0}', '{"run":"r","seq":1}']);
  });

  test('the same holder may take its run again; the fence grows all the same', async () => {
    const store = await open();
    const first = begin(store, 'r');
    const second = store.lease('r', ME, 1_001);
    expect(second.fence).toBe(2);
    expect(store.append([batch(first, 0), batch(second, 0)])).toEqual([false, true]);
  });

  test('leases that are renewed stay good', async () => {
    const store = await open();
    const leases = ['a', 'b', 'c'].map((id) => begin(store, id));
    store.lease('b', OTHER, 1_000 + LEASE_MS);
    expect(store.renew(leases, 10_000 + LEASE_MS)).toEqual([true, false, true]);
    expect(thrown(() => store.lease('a', OTHER, 9_999 + 2 * LEASE_MS)).code).toBe('SKEIN_LEASE');
    expect(store.lease('a', OTHER, 10_000 + 2 * LEASE_MS).fence).toBe(2);
    expect(store.renew([], 1)).toEqual([]);
    expect(store.renew([{ runId: 'nobody', fence: 1 }], 1)).toEqual([false]);
  });

  test('a lease that is given back notes how the session ended, and is good no more', async () => {
    const store = await open();
    const lease = begin(store, 'r');
    store.append([batch(lease, 0)]);
    store.release(lease, { outcome: 'paused', endedAt: 1_500 });
    const ended = store.run('r');
    expect(ended).toMatchObject({ outcome: 'paused', endedAt: 1_500, fence: 1 });
    expect(ended?.holder).toBeUndefined();
    expect(ended?.leasedUntil).toBeUndefined();
    expect(store.append([batch(lease, 1)])).toEqual([false]);
    expect(store.renew([lease], 1_600)).toEqual([false]);
    store.release(lease, { outcome: 'failed', endedAt: 9 });
    expect(store.run('r')?.outcome).toBe('paused');
    // The next session: how the last one ended is gone, what it wrote is not.
    const next = store.lease('r', OTHER, 1_501);
    expect(next.fence).toBe(2);
    expect(store.run('r')?.outcome).toBeUndefined();
    expect(store.run('r')?.endedAt).toBeUndefined();
    expect(store.append([batch(next, 1)])).toEqual([true]);
  });

  test('a run that is not there', async () => {
    const store = await open();
    expect(thrown(() => store.lease('none', ME, 1)).code).toBe('SKEIN_NO_RUN');
    expect(thrown(() => store.requestCancel('none')).code).toBe('SKEIN_NO_RUN');
    expect(thrown(() => store.cut({ runId: 'none', fence: 1 }, 0)).code).toBe('SKEIN_LEASE');
    expect(store.read('none')).toEqual([]);
    expect(store.append([batch({ runId: 'none', fence: 1 }, 0)])).toEqual([false]);
    expect(() => store.release({ runId: 'none', fence: 1 }, { outcome: 'failed', endedAt: 1 })).not.toThrow();
  });

  test('who runs it sees the wish to cancel; the next session begins without it', async () => {
    const store = await open();
    begin(store, 'r');
    store.requestCancel('r');
    expect(store.run('r')?.cancelRequested).toBe(true);
    store.requestCancel('r');
    expect(store.run('r')?.cancelRequested).toBe(true);
    store.lease('r', ME, 1_001);
    expect(store.run('r')?.cancelRequested).toBe(false);
  });

  test('runs are listed newest first, by when they were created', async () => {
    const store = await open();
    expect(store.list()).toEqual([]);
    expect(store.ids()).toEqual([]);
    for (const [id, createdAt] of [
      ['b', 20],
      ['d', 40],
      ['a', 10],
      ['c', 40],
    ] as const)
      begin(store, id, { createdAt });
    expect(store.list().map((row) => row.id)).toEqual(['c', 'd', 'b', 'a']);
    expect(store.list()[3]).toEqual(store.run('a'));
    expect(store.ids()).toEqual(['c', 'd', 'b', 'a']);
  });
});

describe('a holder whose process has ended', () => {
  /** A process of which only the end matters. */
  async function endedProcess(): Promise<number> {
    const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' });
    await once(child, 'exit');
    return child.pid ?? 0;
  }

  test.each(STORES.slice(0, 2))('loses its run at once: $name', async ({ open }) => {
    const store = await open();
    const dead = { ...thisProcess(), id: 'dead', pid: await endedProcess() };
    store.create({ id: 'r', name: 'flow', createdAt: 1 }, dead, 1_000);
    expect(store.lease('r', OTHER, 1_000).fence).toBe(2);
  });

  test.each(STORES.slice(0, 2))('keeps it as long as the process lives: $name', async ({ open }) => {
    const store = await open();
    store.create({ id: 'r', name: 'flow', createdAt: 1 }, thisProcess(), 1_000);
    expect(thrown(() => store.lease('r', OTHER, 1_000)).code).toBe('SKEIN_LEASE');
  });

  test('is not taken for dead on another machine', async () => {
    expect(isDead({ ...thisProcess(), host: 'elsewhere', pid: await endedProcess() })).toBe(false);
    expect(isDead(holderNamed('x'))).toBe(false);
  });

  test('is not taken for dead in another set of pids', async () => {
    const { id, host } = thisProcess();
    const pid = await endedProcess();
    expect(isDead({ id: id.replace(/[\w-]*$/, 'another-place'), host, pid })).toBe(false);
  });

  const onLinux = process.platform === 'linux';
  test.skipIf(!onLinux)(`is dead when its pid went to another process ${onLinux ? '' : '(only Linux says it)'}`, () => {
    const own = thisProcess();
    expect(isDead(own)).toBe(false);
    expect(isDead({ ...own, id: own.id.replace(/:\d+:([\w-]*)$/, ':1:$1') })).toBe(true);
  });
});
