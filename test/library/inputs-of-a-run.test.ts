import { expect, test } from 'vitest';
import { definePlan, run, streamRun } from 'skein';
import { graph } from 'skein/graph';
import { goal, sequence, workflow } from 'skein/tree';
import { rejected } from '../thrown.js';

const plan = definePlan({ name: 'p', inputs: ['who'], nodes: [{ id: 'a', output: 'k', run: ({ who }) => who }] });
const flow = graph<{ who: string }>().node('a', ({ who }) => who);
const tree = workflow('w')
  .input('who')
  .add(sequence('s').steps(goal('g', 'Hi $who')));

const RUNS: Readonly<Record<string, (inputs: never) => Promise<unknown>>> = {
  'a plan': async (inputs) => run(plan, { inputs }).result,
  'a stream of a plan': async (inputs) => streamRun(plan, { inputs }).next(),
  'a graph': async (inputs) => flow.run(inputs),
  'a tree': async (inputs) => tree.execute({ model: 'mock/echo' }, inputs),
};

const WRONG: readonly (readonly [unknown, string])[] = [
  ['Ada', 'a text'],
  [5, 'a number'],
  [['Ada'], 'a list'],
  [new Map([['who', 'Ada']]), 'a Map'],
];

test.each(Object.entries(RUNS))('inputs that are no object are refused as such: %s', async (_, start) => {
  for (const [inputs, kind] of WRONG) {
    const { code, message, hint } = await rejected(() => start(inputs as never));
    expect([code, message]).toEqual(['SKEIN_USAGE', `inputs are an object with a value for each name, not ${kind}`]);
    expect(hint).toMatch(/\{ (query|topic|inputs):/);
  }
});
