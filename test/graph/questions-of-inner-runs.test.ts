import { describe, expect, it } from 'vitest';
import { answerRun, memoryStore } from '../../src/index.js';
import { agent, agentAsTool, agentNode, agentTeam, graph, tool, toolNode } from '../../src/graph.js';
import { isGuardQuestion, aroundName, askKey, moreOf, askerOf } from '../../src/base/address.js';
import { ownModels, resultsIn } from './support-agents.js';

const TASK = { type: 'object', properties: { task: { type: 'string' } } } as const;

const asking = graph<{ task: string }>()
  .node(
    'which',
    async ({ task }, step) => `${task}: ${await step.ask({ text: `Which ${task}?`, choices: ['yes', 'allow'] })}`,
  )
  .setEntry('which');

/** A model that makes one call of its first tool, and then says what that gave. */
const { models } = ownModels({
  m: (request) => {
    const results = resultsIn(request);
    const [first] = request.tools;
    return first === undefined || results.length > 0 ? results.join() : { calls: [[first.name, { task: 'it' }]] };
  },
});

const lead = agent({ name: 'lead', model: 'own/m' });
const pay = tool({ name: 'pay', inputSchema: TASK, approve: true, trust: 'trusted', execute: () => 'paid' });
const payer = agent({ name: 'payer', model: 'own/m', tools: [pay] });
const look = tool({
  name: 'look',
  inputSchema: TASK,
  execute: async ({ task }: { task: string }, io) => (await asking.runOrThrow({ task }, io.runOptions)).which,
});

const NODES = {
  'a team whose worker is a graph': agentNode(
    agentTeam({ supervisor: lead, workers: [{ name: 'w', agent: asking.asAgent(), description: 'Works.' }] }),
  ),
  'a team whose worker needs an approval': agentNode(
    agentTeam({ supervisor: lead, workers: [{ name: 'w', agent: payer, description: 'Works.' }] }),
  ),
  'an agent as a tool': agentNode(
    agent({
      name: 'boss',
      model: 'own/m',
      tools: [agentAsTool(asking.asAgent(), { name: 'w', description: 'Works.' })],
    }),
  ),
  'a tool that is a node': toolNode(look),
};

describe('a run inside a step that asks', () => {
  it.each(Object.entries(NODES))('%s: the run around it asks, and goes on with the answer', async (_name, node) => {
    const flow = graph<{ task: string }>().node('t', node).setEntry('t');
    const store = memoryStore();
    const first = await flow.run({ task: 'it' }, { store, models });
    expect([first.outcome, first.questions.length]).toEqual(['paused', 1]);
    answerRun(store, first.runId, { key: String(first.questions[0]?.key), value: 'allow' });
    const { outcome, answer } = await flow.run({}, { store, models, resume: first.runId });
    expect([outcome, answer]).toEqual(['succeeded', expect.stringMatching(/^(it: allow|paid)$/)]);
  });

  it('two runs of one function ask two questions', async () => {
    const flow = graph<{ task: string }>()
      .node(
        't',
        async (_state, step) => [
          (await asking.runOrThrow({ task: 'one' }, step.runOptions)).which,
          (await asking.runOrThrow({ task: 'two' }, step.runOptions)).which,
        ],
        { inputs: [] },
      )
      .setEntry('t');
    const store = memoryStore();
    let result = await flow.run({ task: 'it' }, { store, models });
    for (const value of ['yes', 'allow']) {
      answerRun(store, result.runId, { key: String(result.questions[0]?.key), value });
      result = await flow.run({}, { store, models, resume: result.runId });
    }
    expect(result.state.t).toEqual(['one: yes', 'two: allow']);
  });

  it('the name of its question says whose it is', () => {
    const around = (address: string): string => askKey('t@tool#1.1', aroundName(address, 2));
    expect(isGuardQuestion(around('n@ask:guard#1.1'))).toBe(true);
    expect(moreOf(around('n@ask:budget:run:usd'))).toBeUndefined();
    expect(askerOf(around('n@tool#1.2.ask:1'))).toBe('t@tool#1.1');
  });
});
