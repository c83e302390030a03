import { expect, test } from 'vitest';
import { estimateCalls } from 'skein';
import { agent, agentNode, graph, tool } from 'skein/graph';
import { describePlan } from '../../src/cli/run/plan-report.js';

const add = tool({
  name: 'add',
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  effect: 'read',
  execute: ({ a, b }) => Number(a) + Number(b),
});

const planOf = (tools: readonly (typeof add)[]) =>
  graph<{ task: string }>()
    .node('sum', agentNode(agent({ name: 'clerk', model: 'mock/echo', tools, maxTurns: 5, maxToolCalls: 7 })))
    .setEntry('sum')
    .compile().plan;

test('a function as the tool of an agent counts among the calls that a run may make', () => {
  expect(estimateCalls(planOf([add]))).toMatchObject({
    modelCalls: { typical: 2, worst: 3 * 5 },
    toolCalls: { typical: 1, worst: 7 },
  });
  expect(estimateCalls(planOf([]))).toMatchObject({ toolCalls: { typical: 0, worst: 0 } });
});

test('and its name is among the tools of the agent in what the command line says of a plan', () => {
  const { steps } = describePlan({ plan: planOf([add]), powers: [] }, {});
  expect(steps[0]?.tools).toEqual(['add']);
});
