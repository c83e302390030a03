import { expect, it } from 'vitest';
import { definePlan, memoryStore, run, runWorkflow } from 'skein';
import type { RunOptions, SkeinEvent, Store } from 'skein';
import { storeWith } from '../engine/recorded/in-process.js';

const chain = definePlan({
  name: 'chain',
  nodes: ['a', 'b', 'c'].map((id) => ({ id, output: id, run: async () => Promise.resolve(id) })),
  edges: [['a', 'b', 'c']],
});
const workflow = { ...chain, settings: { output: { format: 'plain' as const } }, files: [], problems: [] };

const doors: Readonly<Record<string, (options: RunOptions) => Promise<{ readonly outcome: string }>>> = {
  run: async (options) => await run(chain, options).result,
  runWorkflow: async (options) => (await runWorkflow(workflow, options)).result,
};

/** The store of a run whose last batch a crash has torn. */
async function torn(): Promise<Store> {
  const store = memoryStore();
  await run(chain, { store, runId: 'r' }).result;
  const batches = store.read('r');
  const last = batches.at(-1);
  if (last === undefined) throw new Error('nothing was recorded');
  return storeWith('r', [...batches.slice(0, -1), { ...last, text: last.text.slice(0, -7) }], store);
}

it.each(
  Object.keys(doors).flatMap((door) => [[door, { resume: 'r' }] as const, [door, { fork: { run: 'r' } }] as const]),
)('[XR8] a program that goes on from a record with a torn end is told: %s, %j', async (door, how) => {
  const warnings: string[] = [];
  const listen = (event: SkeinEvent): void => {
    if (event.type === 'run.warning') warnings.push(`${event.code}: ${event.message}`);
  };
  const result = await doors[door]?.({ store: await torn(), ...how, listeners: [listen] });
  expect(result).toMatchObject({ outcome: 'succeeded', state: { a: 'a', b: 'b', c: 'c' } });
  expect(warnings).toEqual([
    expect.stringMatching(
      /^torn-record: the end of the record is incomplete: batch \d was not written to its end and is left out/,
    ),
  ]);
});
