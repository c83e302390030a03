import { describe, expect, it } from 'vitest';
import { answerRun, memoryStore } from 'skein';
import { agent, agentNode, graph, tool } from 'skein/graph';
import type { AgentOptions } from 'skein/graph';
import { ownModels } from './support-agents.js';
import type { Said } from './support-agents.js';

const look = tool({ name: 'look', inputSchema: { type: 'object' }, effect: 'read', execute: () => 'seen' });
const publish = tool({
  name: 'publish',
  inputSchema: { type: 'object', properties: { fine: { type: 'boolean' } } },
  trust: 'trusted',
  execute({ fine }) {
    if (fine !== true) throw new Error('not fine yet');
    return 'published';
  },
});

function flowOf(turns: readonly Said[], options: Pick<AgentOptions, 'until' | 'output' | 'approve'>) {
  const { models, requests } = ownModels({ m: ({ caller }) => turns[caller.turn - 1] ?? 'one turn too many' });
  const writer = agent({
    name: 'writer',
    model: 'own/m',
    tools: [look, publish],
    allowEmpty: true,
    ...(options as object),
  });
  const flow = graph<{ task: string }>().node('write', agentNode(writer)).setEntry('write');
  return { run: (more: object = {}) => flow.run({ task: 'Go.' }, { models, ...more }), models, requests };
}

const calls = (text: string, ...names: [string, object][]): Said => ({ text, calls: names });

describe('until: an agent that still calls tools has an answer', () => {
  it('after so many rounds of calls: what it said last', async () => {
    const { run, requests } = flowOf([calls('first', ['look', {}]), calls('second', ['look', {}])], {
      until: { rounds: 2 },
    });
    expect((await run()).state.write).toBe('second');
    expect(requests).toHaveLength(2);
  });

  it('when a call of the tool has succeeded, not when it failed; the other calls of the round end first', async () => {
    const turns = [calls('try', ['publish', {}]), calls('there', ['publish', { fine: true }], ['look', {}])];
    const { run, requests } = flowOf(turns, { until: { tool: 'publish' } });
    expect((await run()).state.write).toBe('there');
    expect(requests).toHaveLength(2);
  });

  it('when it calls nothing, as ever', async () => {
    const { run } = flowOf(['done'], { until: { rounds: 5, tool: 'publish' } });
    expect((await run()).state.write).toBe('done');
  });

  it('with the empty text where that is allowed', async () => {
    const { run } = flowOf([calls('', ['look', {}])], { until: { rounds: 1 } });
    expect((await run()).state.write).toBe('');
  });

  it('and with a schema the answer must match it, after one repair round', async () => {
    const output = { type: 'object', required: ['n'] } as const;
    const turns = [calls('no JSON', ['look', {}]), '{"n":1}'];
    const { run } = flowOf(turns, { until: { rounds: 1 }, output });
    expect((await run()).state.write).toEqual({ n: 1 });
  });

  it('is the same on a resume: a call that waited for a person is the end when it is allowed', async () => {
    const store = memoryStore();
    const turns = [calls('there', ['publish', { fine: true }])];
    const { run, requests } = flowOf(turns, { until: { tool: 'publish' }, approve: ['publish'] });
    const paused = await run({ store });
    expect(paused.outcome).toBe('paused');
    const [question] = paused.questions ?? [];
    answerRun(store, paused.runId, { key: question?.key ?? '', text: 'allow' });
    const done = await run({ store, resume: paused.runId });
    expect([done.outcome, done.state.write, requests.length]).toEqual(['succeeded', 'there', 1]);
  });

  it.each([{ rounds: 0 }, { rounds: 'two' }])('%j is a problem', (until) => {
    expect(() => flowOf([], { until } as never)).toThrow(/until/);
  });
});
