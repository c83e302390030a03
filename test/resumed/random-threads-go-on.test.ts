import { expect, it } from 'vitest';
import { memoryStore } from 'skein';
import { cases, seedOf } from '../thorough.js';
import { callsIn, inMortalProcesses } from './support/deaths.js';
import { mortal } from './support/mortal.js';
import { withProgram } from './support/shown.js';
import { hold, ThreadDrawing } from './support/threads.js';
import { World } from './support/world.js';

const isModel = (one: string): boolean => one.startsWith('model ');
const effectsOf = (done: readonly string[]): string[] => [...new Set(done.filter((one) => !isModel(one)))].toSorted();

let deaths = 0;

it.each(Array.from({ length: cases(3) }, (_, at) => seedOf(1) + at))(
  'conversation %i, whose process dies again and again, keeps each turn once and in order, and does nothing again',
  async (seed) => {
    const data = new ThreadDrawing(`thread ${seed}`).thread();
    await withProgram(seed, data, async () => {
      const its = new World(`thread ${seed}`);
      const living = mortal(memoryStore(), 0);
      const whole = await hold(data, its, living.store, `thread ${seed}`);
      const calls = callsIn(living.store);
      expect(calls).toBe(its.done.filter(isModel).length);
      for (const order of [`thread ${seed} first`, `thread ${seed} second`]) {
        const way = { writes: living.writes(), refused: its.refused };
        const other = await inMortalProcesses(order, way, (mine, { store }, name) => hold(data, mine, store, name));
        deaths += other.deaths;
        expect(other.end).toEqual(whole);
        expect(callsIn(other.store)).toBe(calls);
        expect(effectsOf(other.done)).toEqual(effectsOf(its.done));
        // What was lost with a process was under way when it died: an agent has two calls of tools beside each other.
        expect(other.done.filter(isModel).length).toBeLessThanOrEqual(calls + 2 * other.deaths);
      }
    });
  },
);

it('many of them died', () => {
  expect(deaths).toBeGreaterThan(cases(3));
});
