import { expect, it } from 'vitest';
import { memoryStore } from 'skein';
import type { Store } from 'skein';
import { asModelCall } from '../../src/base/address.js';
import { seededRandom } from '../../src/testing/index.js';
import { cases, seedOf } from '../thorough.js';
import { mortal } from './support/mortal.js';
import { PackDrawing, type PackData } from './support/packs.js';
import { withProgram } from './support/shown.js';
import { talk, type Talked } from './support/talks.js';
import { World } from './support/world.js';

type Turns = Record<number, unknown>;

const isModel = (one: string): boolean => one.startsWith('model ');

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

const callsIn = (store: Store): number =>
  recordedIn(store).filter((key) => asModelCall(key.slice(key.indexOf('@') + 1)) !== undefined).length;

/** Holds a conversation in processes that die, one after the other, at some write; the last one lives. */
async function inMortalProcesses(
  data: PackData,
  order: string,
  { writes, refused }: { writes: number; refused: Set<string> },
) {
  const random = seededRandom(order);
  const store = memoryStore();
  const turns: Turns = {};
  const done: string[] = [];
  for (let deaths = 0; ; deaths += 1) {
    const soon = Math.ceil(random() ** 2 * (deaths % 3 === 0 ? writes * 1.2 : 40));
    const me = mortal(store, deaths < 10 ? soon : 0);
    const its = new World(`${order} ${deaths}`, new Set(refused), me.isDead);
    const paid = new Set(recordedIn(store));
    const told = (turn: number, how: unknown): void => {
      if (!me.isDead()) turns[turn] = how;
    };
    const talked = talk(data, its, me.store, told).catch((error: unknown) => {
      if (me.isDead()) return 'dead' as const;
      throw error;
    });
    const end = await Promise.race([talked, me.death]);
    expect(its.done.filter((one) => paid.has(one.replace(/^effect /, '')))).toEqual([]);
    done.push(...its.done);
    if (end !== 'dead') return { end, turns, done, deaths, store };
  }
}

const outcomes = new Set<string>();
let deaths = 0;

it.each(Array.from({ length: cases(8) }, (_, at) => seedOf(1) + at))(
  'pack %i, whose process dies again and again, says the same and does nothing again',
  async (seed) => {
    const data = new PackDrawing(`pack ${seed}`).talk();
    await withProgram(seed, data, async () => {
      const its = new World(`pack ${seed}`);
      const living = mortal(memoryStore(), 0);
      const turns: Turns = {};
      const whole: Talked = await talk(data, its, living.store, (turn, how) => (turns[turn] = how));
      for (const status of whole.turns) outcomes.add(status);
      const calls = callsIn(living.store);
      expect(calls).toBe(its.done.filter(isModel).length);
      for (const order of [`pack ${seed} first`, `pack ${seed} second`]) {
        const way = { writes: living.writes(), refused: its.refused };
        const other = await inMortalProcesses(data, order, way);
        deaths += other.deaths;
        expect(other.end).toEqual(whole);
        // The end of a turn that a process told right before it died is not told again.
        for (const [turn, how] of Object.entries(other.turns)) expect([turn, how]).toEqual([turn, turns[Number(turn)]]);
        // What a turn that failed had begun beside what failed is no rule.
        if (!whole.turns.includes('failed')) expect(callsIn(other.store)).toBe(calls);
        // What was lost with a process was under way when it died: a composition has two calls beside each other.
        expect(other.done.filter(isModel).length).toBeLessThanOrEqual(calls + 2 * other.deaths);
      }
    });
  },
);

it('many of them died, and most turns end well', () => {
  expect(deaths).toBeGreaterThan(cases(8));
  expect(outcomes.has('succeeded') || cases(8) < 8).toBe(true);
});
