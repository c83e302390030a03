import { describe, expect, test } from 'vitest';
import { settled } from '../../../src/base/clock.js';
import { readHistory } from '../../../src/journal/session.js';
import type { Store } from '../../../src/journal/store.js';
import { definePlan } from '../../../src/plan/builder.js';
import { run } from '../../../src/runtime.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { doneKeys, linesOf, prefixesOf, storeWith } from './in-process.js';

/** A step that may be done once only, with what it did. */
function sender(body: (sent: string[]) => unknown) {
  const sent: string[] = [];
  const workflow = definePlan({
    name: 'sender',
    nodes: [
      {
        id: 'send',
        output: 'receipt',
        effect: 'once',
        run: (_state, { idempotencyKey }) => {
          sent.push(idempotencyKey);
          return body(sent);
        },
      },
    ],
  });
  return { workflow, sent };
}

/** The store of a run that was killed while the step was sending. */
async function interrupted(workflow: ReturnType<typeof sender>['workflow']): Promise<Store> {
  const store = memoryStore();
  await run(workflow, { store, runId: 'r' }).result;
  const started = prefixesOf('r', store.read('r')).find(({ lines }) => lines.at(-1)?.includes('"t":"start"'));
  if (started === undefined) throw new Error('the start is not recorded before the end');
  return storeWith('r', started.batches);
}

function answer(store: Store, value: string): void {
  for (const { key, id } of readHistory(store, 'r').pauses.values()) {
    store.answer('r', { key, id, value: JSON.stringify(value), at: 1, by: 'command' });
  }
}

describe('J6: a once effect that was started and is not known to have ended', () => {
  test.each([
    ['run it', 'succeeded', 1, 'sent'],
    ['it was done', 'succeeded', 0, undefined],
    ['fail', 'failed', 0, undefined],
  ])('asks what happened: %s', async (word, outcome, times, receipt) => {
    const { workflow, sent } = sender(() => 'sent');
    const store = await interrupted(workflow);
    sent.length = 0;
    const paused = await run(workflow, { store, resume: 'r' }).result;
    expect([paused.outcome, sent]).toEqual(['paused', []]);
    const [question] = readHistory(store, 'r').pauses.values();
    expect(question?.question?.choices).toEqual(['run it', 'it was done', 'fail']);
    answer(store, word);
    const result = await run(workflow, { store, resume: 'r' }).result;
    expect([result.outcome, sent.length, result.state['receipt']]).toEqual([outcome, times, receipt]);
  });

  test('asks again after a second crash: an answer counts for one start', async () => {
    const { workflow, sent } = sender(() => 'sent');
    const store = await interrupted(workflow);
    await run(workflow, { store, resume: 'r' }).result;
    answer(store, 'run it');
    await run(workflow, { store, resume: 'r' }).result;
    const again = prefixesOf('r', store.read('r')).findLast(({ lines }) => lines.at(-1)?.includes('"t":"start"'));
    const crashed = storeWith('r', again?.batches ?? []);
    for (const given of store.answers('r')) crashed.answer('r', given);
    sent.length = 0;
    const second = await run(workflow, { store: crashed, resume: 'r' }).result;
    expect([second.outcome, sent]).toEqual(['paused', []]);
    expect(readHistory(crashed, 'r').pauses.size).toBe(1);
    answer(crashed, 'run it');
    const third = await run(workflow, { store: crashed, resume: 'r' }).result;
    expect([third.outcome, sent.length]).toEqual(['succeeded', 1]);
  });

  test('one that failed may have had its effect: it asks before it is tried again', async () => {
    let fails = true;
    const { workflow, sent } = sender(() => {
      if (fails) throw new Error('the connection broke');
      return 'sent';
    });
    const store = memoryStore();
    expect((await run(workflow, { store, runId: 'r' }).result).outcome).toBe('failed');
    fails = false;
    const second = await run(workflow, { store, resume: 'r' }).result;
    expect([second.outcome, sent.length]).toEqual(['paused', 1]);
    answer(store, 'run it');
    const third = await run(workflow, { store, resume: 'r' }).result;
    expect([third.outcome, sent.length]).toEqual(['succeeded', 2]);
    expect(new Set(sent).size).toBe(1);
  });
});

describe('J9: who has a run', () => {
  test('a second session is refused while the first has the run, and takes over when its lease is over', async () => {
    const store = memoryStore();
    let go = (): void => undefined;
    let first = true;
    const done: string[] = [];
    const workflow = definePlan({
      name: 'two',
      nodes: [
        {
          id: 'a',
          output: 'a',
          run: () => {
            done.push('a');
            if (!first) return 2;
            first = false;
            return new Promise((resolve) => {
              go = () => resolve(1);
            });
          },
        },
        { id: 'b', output: 'b', run: ({ a }) => done.push('b') && Number(a) },
      ],
      edges: [['a', 'b']],
    });
    const slow = run(workflow, { store, runId: 'r' });
    while (done.length === 0) await settled();
    await expect(run(workflow, { store, resume: 'r' }).result).rejects.toMatchObject({ code: 'SKEIN_LEASE' });
    const other = { id: 'other', host: 'h', pid: 1 };
    const lease = store.lease('r', other, Date.now() + 60_000);
    store.release(lease, { outcome: 'interrupted', endedAt: 1 });
    const taken = await run(workflow, { store, resume: 'r' }).result;
    expect([taken.outcome, taken.state]).toEqual(['succeeded', { a: 2, b: 2 }]);
    const lines = linesOf(store, 'r');
    go();
    const late = await slow.result;
    expect([late.outcome, late.error?.code]).toEqual(['failed', 'SKEIN_LEASE']);
    expect(linesOf(store, 'r')).toEqual(lines);
    expect(doneKeys(lines)).toEqual(['a', 'b']);
    expect(done).toEqual(['a', 'a', 'b']);
  });

  test.each(['when it begins', 'when it ends'])('a run that is taken over %s has not succeeded', async (when) => {
    const inner = memoryStore();
    const other = { id: 'other', host: 'h', pid: 1 };
    const workflow = definePlan({ name: 'p', nodes: [{ id: 'a', output: 'a', run: () => 1 }] });
    await run(workflow, { store: inner, runId: 'r' }).result;
    const takeOver = (): unknown => inner.lease('r', other, Date.now() + 60_000);
    const store = new Proxy(inner, {
      get(target, name: keyof Store) {
        const method = target[name] as (...values: unknown[]) => unknown;
        return (...values: unknown[]) => {
          if (name === 'append' && when === 'when it begins') takeOver();
          return method.apply(target, values);
        };
      },
    });
    const listeners = [
      ({ type }: { type: string }) => void (type === 'run.ended' && when === 'when it ends' && takeOver()),
    ];
    const before = linesOf(inner, 'r').length;
    const resumed = async (): Promise<string | undefined> => {
      const { outcome, error } = await run(workflow, { store, resume: 'r', listeners }).result;
      expect(outcome).toBe('failed');
      return error?.code;
    };
    const code = await resumed().catch((error: unknown) => (error as { code?: string }).code);
    expect(code).toBe('SKEIN_LEASE');
    // Of the session there is its beginning at most.
    expect(linesOf(inner, 'r').length - before).toBe(when === 'when it begins' ? 0 : 1);
  });

  test('a request to cancel from outside ends it as cancelled; it can be resumed', async () => {
    const store = memoryStore();
    let calm = false;
    const workflow = definePlan({
      name: 'long',
      nodes: [
        { id: 'a', output: 'a', run: () => 1 },
        {
          id: 'b',
          output: 'b',
          run: (_state, { signal }) =>
            calm ? 2 : new Promise((_, refuse) => signal.addEventListener('abort', () => refuse(new Error('stopped')))),
        },
      ],
      edges: [['a', 'b']],
    });
    const { result } = run(workflow, { store, runId: 'r' });
    store.requestCancel('r');
    expect((await result).outcome).toBe('cancelled');
    expect(store.run('r')?.outcome).toBe('cancelled');
    calm = true;
    const resumed = await run(workflow, { store, resume: 'r' }).result;
    expect([resumed.outcome, resumed.state, resumed.reused]).toEqual(['succeeded', { a: 1, b: 2 }, 1]);
  });
});
