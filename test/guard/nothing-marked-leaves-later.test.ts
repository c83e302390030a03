import fc from 'fast-check';
import { expect, test } from 'vitest';
import { forkThread, getThread, memoryStore, run, updateThread } from 'skein';
import { cases, seedOf } from '../thorough.js';
import { flowOf, nodes, unlabelled } from './support/marked-flows.js';
import type { RawNode } from './support/marked-flows.js';
import type { Person } from './support/marked-world.js';
import { hasMark, MarkedWorld, OWN_FILES } from './support/marked-world.js';

const TURNS = 3;

test('what a page said in one turn of a conversation leaves in no later one unasked, nor in forks of it', async () => {
  const seen = { marked: 0, asked: 0, values: 0 };
  await fc.assert(
    fc.asyncProperty(
      nodes,
      nodes,
      fc.record({
        nr: fc.nat(),
        person: fc.constantFrom<Person>('allow', 'deny'),
        isInjected: fc.boolean(),
        forked: fc.integer({ min: 1, max: TURNS }),
      }),
      async (raw, other, { nr, person, isInjected, forked }) => {
        const store = memoryStore();
        const allowed = new Set<string>();
        /** Files of one turn are not there in the next: only the state of the conversation tells what it knows of the page. */
        const turn = async (thread: string, task: string, flow: readonly RawNode[]): Promise<boolean> => {
          const world = new MarkedWorld({ seed: `${nr} ${task}`, person, allowed, files: OWN_FILES });
          const options = { ...world.options, store, thread, inputs: { task } };
          const result = await run(flowOf(flow, world, isInjected), options).result;
          expect([world.leaked, unlabelled(result)]).toEqual([[], []]);
          seen.marked += world.marked;
          seen.asked += world.asked;
          seen.values += Object.values(result.state).filter(hasMark).length;
          return ['succeeded', 'degraded'].includes(result.outcome);
        };
        let turns = 0;
        while (turns < TURNS && (await turn('t', `Go ${turns}.`, raw))) turns += 1;
        if (turns === 0) return;
        forkThread(store, 't', 'u', { turn: Math.min(turns, forked) });
        const key = Object.keys(getThread(store, 'u').state).at(-1) ?? 'task';
        updateThread(store, 'u', { [key]: 'What the user says.' }, { who: 'ada', why: 'It was wrong.' });
        // A longer flow knows all keys of the conversation.
        await turn('u', 'Go on.', other.length > raw.length ? other : raw);
        forkThread(store, 'u', 'v');
        await turn('v', 'Go on again.', raw);
      },
    ),
    // Each is some six conversations.
    { numRuns: cases(150) / 10, seed: seedOf(18) },
  );
  // The models do enough for this to tell something.
  expect(seen.marked).toBeGreaterThan(50);
  expect(seen.values).toBeGreaterThan(100);
  expect(seen.asked).toBeGreaterThan(100);
});
