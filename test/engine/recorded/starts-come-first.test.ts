import { describe, expect, test } from 'vitest';
import { definePlan } from '../../../src/plan/builder.js';
import { run } from '../../../src/runtime.js';
import type { Store } from '../../../src/journal/store.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { doneKeys, linesOf, prefixesOf, storeWith } from './in-process.js';

type Kind = 'idempotent' | 'once' | undefined;

/** A step that notes its key, and whether the store knows at that moment that it has started. */
function noting(effect: Kind) {
  const seen: { readonly key: string; readonly started: boolean; readonly before: readonly string[] }[] = [];
  let store: Store = memoryStore();
  const workflow = definePlan({
    name: 'noting',
    nodes: [
      { id: 'first', output: 'first', run: () => 'done' },
      {
        id: 'send',
        output: 'sent',
        ...(effect === undefined ? {} : { effect }),
        run(_state, { idempotencyKey }) {
          const lines = linesOf(store, 'r');
          const started = lines.some((line) => line.includes('"t":"start"') && line.includes('"key":"send"'));
          seen.push({ key: idempotencyKey, started, before: doneKeys(lines) });
          return idempotencyKey;
        },
      },
    ],
    edges: [['first', 'send']],
  });
  const session = async (other: Store, more: { readonly resume?: string; readonly runId?: string }) => {
    store = other;
    return await run(workflow, { store, ...more }).result;
  };
  return { seen, session };
}

describe('J6: what is committed before an effect starts', () => {
  test.each<[Kind, boolean]>([
    [undefined, false],
    ['idempotent', true],
    ['once', true],
  ])('effect %s: its own start: %s; what came before it: always', async (effect, started) => {
    const { seen, session } = noting(effect);
    expect((await session(memoryStore(), { runId: 'r' })).outcome).toBe('succeeded');
    expect(seen).toMatchObject([{ started, before: ['first'] }]);
  });

  test('an idempotent one that was under way when the process died runs again, with the same key, unasked', async () => {
    const { seen, session } = noting('idempotent');
    const store = memoryStore();
    await session(store, { runId: 'r' });
    const crashed = prefixesOf('r', store.read('r')).find(({ lines }) => lines.at(-1)?.includes('"t":"start"'));
    const result = await session(storeWith('r', crashed?.batches ?? []), { resume: 'r' });
    expect([result.outcome, seen.length, new Set(seen.map(({ key }) => key)).size]).toEqual(['succeeded', 2, 1]);
  });
});
