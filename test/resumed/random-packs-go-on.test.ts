import { expect, it } from 'vitest';
import { memoryStore } from 'skein';
import { cases, seedOf } from '../thorough.js';
import { callsIn, inMortalProcesses } from './support/deaths.js';
import { mortal } from './support/mortal.js';
import { PackDrawing } from './support/packs.js';
import { withProgram } from './support/shown.js';
import { talk, type Talked } from './support/talks.js';
import { World } from './support/world.js';

type Turns = Record<number, unknown>;

const isModel = (one: string): boolean => one.startsWith('model ');

const outcomes = new Set<string>();
let deaths = 0;

it.each(Array.from({ length: cases(5) }, (_, at) => seedOf(1) + at))(
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
      // A call that was cut off by a failure beside it is not recorded, even if its answer still came.
      const answered = its.done.filter(isModel).length;
      if (!whole.turns.includes('failed')) expect(calls).toBe(answered);
      for (const order of [`pack ${seed} first`, `pack ${seed} second`]) {
        const way = { writes: living.writes(), refused: its.refused };
        const told: Turns = {};
        const other = await inMortalProcesses(order, way, (mine, { store, isDead }) =>
          talk(data, mine, store, (turn, how) => {
            if (!isDead()) told[turn] = how;
          }),
        );
        deaths += other.deaths;
        expect(other.end).toEqual(whole);
        // The end of a turn that a process told right before it died is not told again.
        for (const [turn, how] of Object.entries(told)) expect([turn, how]).toEqual([turn, turns[Number(turn)]]);
        // What a turn that failed had begun beside what failed is no rule.
        if (!whole.turns.includes('failed')) expect(callsIn(other.store)).toBe(calls);
        // What was lost with a process was under way when it died: a composition has two calls beside each other.
        expect(other.done.filter(isModel).length).toBeLessThanOrEqual(answered + 2 * other.deaths);
      }
    });
  },
);

it('many of them died, and most turns end well', () => {
  expect(deaths).toBeGreaterThan(cases(5));
  expect(outcomes.has('succeeded') || cases(5) < 5).toBe(true);
});
