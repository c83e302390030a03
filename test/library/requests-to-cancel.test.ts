import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cancelRun, definePlan, getThread, memoryStore, readRun, run, type Store } from 'skein';
import { graph } from 'skein/graph';
import { openSqliteStore } from 'skein/sqlite';
import { loadPipelineText } from 'skein/yaml';

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const stores: Readonly<Record<string, () => Promise<Store>>> = {
  'in memory': () => Promise.resolve(memoryStore()),
  'in a file': async () => {
    const folder = await mkdtemp(join(tmpdir(), 'skein-cancel-'));
    const store = await openSqliteStore(join(folder, 'skein.db'));
    onTestFinished(async () => {
      store.close();
      await rm(folder, { recursive: true });
    });
    return store;
  },
};

/** Waits for an answer, and for a step that takes a moment, in which `cancelRun` is called. */
const asking = (store: Store, runId: string) =>
  definePlan({
    name: 'asking',
    nodes: [
      { id: 'gate', kind: 'ask', question: 'Publish it?' },
      { id: 'work', run: () => after(10).then(() => void cancelRun(store, runId)) },
    ],
  });

describe.each(Object.entries(stores))('a run that cancelRun asked to cancel: %s', (_, open) => {
  test('is cancelled although it has only questions left a moment later', async () => {
    const store = await open();
    const { outcome, questions } = await run(asking(store, 'r'), { store, runId: 'r' }).result;
    expect([outcome, questions, readRun(store, 'r').status]).toEqual(['cancelled', [], 'cancelled']);
  });

  test('does not block its thread', async () => {
    const store = await open();
    const workflow = asking(store, 'r');
    expect((await run(workflow, { store, runId: 'r', thread: 't' }).result).outcome).toBe('cancelled');
    expect(getThread(store, 't').questions).toEqual([]);
  });

  test('has as much time for what runs at its end as one that its own process cancels', async () => {
    const store = await open();
    let closed = false;
    const flow = graph({ finally: 'close' })
      .node('work', () => new Promise(() => void cancelRun(store, 'r')))
      .node('close', async () => {
        await after(700);
        closed = true;
      });
    const { outcome, error } = await flow.run({}, { store, runId: 'r' });
    expect([outcome, error?.message, closed]).toEqual(['cancelled', 'a cancellation was requested', true]);
  });
});

test('the finally of a file is not cut off either', async () => {
  const store = memoryStore();
  const workflow = await loadPipelineText(
    ['workflow:', '  - { id: long, type: wait, for: 1m }', 'finally: [{ id: close, type: wait, for: 700ms }]'].join(
      '\n',
    ),
    { cwd: '.' },
  );
  const { result } = run(workflow, { store, runId: 'r' });
  await after(50);
  expect(cancelRun(store, 'r')).toBe('requested');
  const { outcome, error } = await result;
  expect([outcome, error?.message]).toEqual(['cancelled', 'a cancellation was requested']);
});

/** The store, with something that another process does right before each call of one of its methods. */
function meanwhile(inner: Store, method: 'release' | 'requestCancel', act: () => void): Store {
  return new Proxy(inner, {
    get(_, name) {
      const part: unknown = Reflect.get(inner, name, inner);
      if (typeof part !== 'function') return part;
      return (...values: unknown[]): unknown => {
        if (name === method) act();
        return Reflect.apply(part, inner, values);
      };
    },
  });
}

const gate = definePlan({ name: 'gate', nodes: [{ id: 'gate', kind: 'ask', question: 'Publish it?' }] });

test('a request that comes as the run pauses cancels it right after', async () => {
  const inner = memoryStore();
  const store = meanwhile(inner, 'release', () => void cancelRun(inner, 'r'));
  const { outcome } = await run(gate, { store, runId: 'r' }).result;
  expect([outcome, readRun(inner, 'r').status]).toEqual(['paused', 'cancelled']);
});

test('a run that pauses as it is cancelled is cancelled by the call', async () => {
  const inner = memoryStore();
  let finish: () => void = () => undefined;
  const lasting = definePlan({
    name: 'lasting',
    nodes: [{ id: 'work', run: () => new Promise<undefined>((done) => (finish = () => done(undefined))) }],
  });
  const first = run(lasting, { store: inner, runId: 'r' });
  await after(20);
  const row = inner.run('r');
  const lease = { runId: 'r', fence: row?.fence ?? 0 };
  const outside = meanwhile(inner, 'requestCancel', () => inner.release(lease, { outcome: 'paused', endedAt: 1 }));
  expect(cancelRun(outside, 'r')).toBe('cancelled');
  expect(readRun(inner, 'r').status).toBe('cancelled');
  finish();
  await expect(first.result).resolves.toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_LEASE' } });
});
