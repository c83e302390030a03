import { expect, test } from 'vitest';
import { definePlan, run } from 'skein';
import { memoryStore } from '../../src/stores/memory.js';
import { doneKeys, linesOf } from '../engine/recorded/in-process.js';

const LIST = JSON.stringify(Array.from({ length: 200 }, (_, at) => at));
const MANY = Array.from({ length: 40 }, (_, at) => at);

/** Each step that is ready at once leads to one whose condition costs much. Outcomes come in while conditions are evaluated. */
const workflow = definePlan({
  name: 'costly',
  nodes: [
    ...MANY.map((at) => ({ id: `a${at}`, output: `a${at}`, run: () => Promise.resolve(at) })),
    ...MANY.map((at) => ({
      id: `b${at}`,
      output: `b${at}`,
      when: `${LIST}.all(x, ${LIST}.all(y, x + y >= 0))`,
      run: () => new Promise((done) => setImmediate(() => done(-at))),
    })),
    { id: 'sum', output: 'sum', run: (state: object) => Object.keys(state).length },
  ],
  edges: MANY.flatMap((at): [string, string][] => [
    [`a${at}`, `b${at}`],
    [`b${at}`, 'sum'],
  ]),
});

test('[XS5] a signal ends a run whose conditions cost much, and a resume goes on with all that is recorded', async () => {
  const store = memoryStore();
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 1);
  const first = await run(workflow, { store, runId: 'r', signal: abort.signal }).result;
  expect(first.outcome).toBe('cancelled');
  expect(first.ran).toBeLessThan(2 * MANY.length);
  const done = doneKeys(linesOf(store, 'r')).length;
  const second = await run(workflow, { store, resume: 'r' }).result;
  expect([second.outcome, second.state['sum'], second.reused]).toEqual(['succeeded', 2 * MANY.length, done]);
  expect(second.reused + second.ran).toBe(2 * MANY.length + 1);
});

test('[XS5] what is recorded of such a run is the same in every repetition', async () => {
  const record = async (): Promise<readonly string[]> => {
    const store = memoryStore();
    await run(workflow, { store, runId: 'r' }).result;
    return doneKeys(linesOf(store, 'r'));
  };
  expect(await record()).toEqual(await record());
});
