import { expect } from 'vitest';
import { memoryStore } from 'skein';
import type { Store } from 'skein';
import { asModelCall } from '../../../src/base/address.js';
import { seededRandom } from '../../../src/testing/index.js';
import { mortal } from './mortal.js';
import { World } from './world.js';

/** Keys of what is recorded as done in all turns, with their runs in front. */
function recordedIn(store: Store): string[] {
  return store.ids().flatMap((id) =>
    store
      .read(id)
      .flatMap(({ text }) => text.split('\n'))
      .map((line) => JSON.parse(line) as { t: string; key: string; error?: object })
      .flatMap(({ t, key, error }) => (t === 'done' && error === undefined ? [`${id}/${key}`] : [])),
  );
}

/** Number of calls of models that are recorded as answered, also of runs inside a step. */
export function callsIn(store: Store): number {
  const isCall = (key: string): boolean => asModelCall(key.slice(key.indexOf('@') + 1)) !== undefined;
  return recordedIn(store).filter((key) => isCall(key) || INNER_CALL.test(key)).length;
}

/** The end of the key of a call in a run inside a step. */
const INNER_CALL = /model#\d+(?:\.\d+)?$/;

/** What a process does; `name` is another one for each. */
type Work<T> = (
  its: World,
  process: { readonly store: Store; readonly isDead: () => boolean },
  name: string,
) => Promise<T>;

/** Does something in processes that die, one after the other, at some write; the last one lives. None does what is recorded as done. */
export async function inMortalProcesses<T>(
  order: string,
  { writes, refused }: { readonly writes: number; readonly refused: ReadonlySet<string> },
  work: Work<T>,
) {
  const random = seededRandom(order);
  const store = memoryStore();
  const done: string[] = [];
  for (let deaths = 0; ; deaths += 1) {
    const soon = Math.ceil(random() ** 2 * (deaths % 3 === 0 ? writes * 1.2 : 40));
    const me = mortal(store, deaths < 10 ? soon : 0);
    const name = `${order} ${deaths}`;
    const its = new World(name, new Set(refused), me.isDead);
    const paid = new Set(recordedIn(store));
    const worked = work(its, me, name).catch((error: unknown) => {
      if (me.isDead()) return 'dead' as const;
      throw error;
    });
    const end = await Promise.race([worked, me.death]);
    expect(its.done.filter((one) => paid.has(one.replace(/^effect /, '')))).toEqual([]);
    done.push(...its.done);
    if (end !== 'dead') return { end, done, deaths, store };
  }
}
