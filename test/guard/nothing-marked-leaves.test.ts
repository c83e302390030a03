import fc from 'fast-check';
import { expect, test } from 'vitest';
import { memoryStore, run } from 'skein';
import type { RunOptions } from 'skein';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { cases, seedOf } from '../thorough.js';
import { NO_CALL, NO_LABEL_LOST, tell } from './support/figures.js';
import { flowOf, nodes, unlabelled } from './support/marked-flows.js';
import type { Files, Person } from './support/marked-world.js';
import { hasMark, MarkedWorld, OWN_FILES } from './support/marked-world.js';

/** Files without those of calls that a record does not know: the process died between the file and the record. */
function recordedOf(files: Files = OWN_FILES, lines: readonly string[]): Files {
  const told = lines.filter((line) => line.includes('"wrote"'));
  const known = Object.entries(files).filter(
    ([name]) => Object.hasOwn(OWN_FILES, name) || told.some((line) => line.includes(`"${name}"`)),
  );
  return Object.fromEntries(known);
}

test('nothing that a page influenced goes out unasked, and all of it is labelled', async () => {
  const seen = { marked: 0, asked: 0, values: 0 };
  await fc.assert(
    fc.asyncProperty(
      nodes,
      fc.nat(),
      fc.constantFrom<Person>('allow', 'deny'),
      fc.boolean(),
      async (raw, nr, person, isInjected) => {
        const store = memoryStore();
        const allowed = new Set<string>();
        const play = async (options: RunOptions, files: Files = OWN_FILES, listen?: (world: MarkedWorld) => void) => {
          const world = new MarkedWorld({ seed: `${nr}`, person, allowed, files });
          const listeners = listen === undefined ? [] : [() => listen(world)];
          const flow = flowOf(raw, world, isInjected);
          const result = await run(flow, { ...world.options, ...options, listeners }).result;
          expect([world.leaked, unlabelled(result)]).toEqual([[], []]);
          seen.marked += world.marked;
          seen.asked += world.asked;
          seen.values += Object.values(result.state).filter(hasMark).length;
        };
        // The files as each batch of records found them.
        const found: Files[] = [];
        await play({ inputs: { task: 'Go.' }, store, runId: 'r' }, OWN_FILES, (world) => {
          found[store.read('r').length] ??= world.files();
        });
        const prefixes = prefixesOf('r', store.read('r'));
        for (const at of [1, 2, 3]) {
          const { batches = [], lines = [] } = prefixes[Math.floor((prefixes.length * at) / 4)] ?? {};
          if (batches.length === 0) continue;
          const files = found.slice(0, batches.length + 1).findLast((one) => one !== undefined);
          await play({ store: storeWith('r', batches, store), resume: 'r' }, recordedOf(files, lines));
        }
        await play({ store, fork: { run: 'r', forget: ['n0'] } });
      },
    ),
    // Each is some twenty conversations.
    { numRuns: cases(300) / 10, seed: seedOf(16) },
  );
  const { asked } = seen;
  tell({ what: 'calls of agents after a page, however they know of it', n: asked, forbidden: 0, asked, goal: NO_CALL });
  tell({
    what: 'values of agents that say by themselves what led to them',
    n: seen.values,
    forbidden: 0,
    goal: NO_LABEL_LOST,
  });
  // The models do enough for this to tell something.
  expect(seen.marked).toBeGreaterThan(50);
  expect(seen.values).toBeGreaterThan(100);
  expect(seen.asked).toBeGreaterThan(100);
});
