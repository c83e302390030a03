import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { memoryStore } from 'skein';
import type { RunOptions } from 'skein';
import type { GraphResult } from 'skein/graph';
import { agent, agentNode, graph, tool } from 'skein/graph';
import { systemClock } from '../../src/base/clock.js';
import { ownModels } from '../graph/support-agents.js';

/** The timeout of the agent, in milliseconds: it rings when the test says so. */
const LIMIT = 54_321;

/** Absent: the timer is not set. */
let ring: (() => void) | undefined;

beforeEach(() => {
  const real = { ...systemClock };
  vi.spyOn(systemClock, 'setTimer').mockImplementation((ms, fire) => {
    if (ms !== LIMIT) return real.setTimer(ms, fire);
    ring = fire;
    return () => {
      ring = undefined;
    };
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

const mail = graph<{ mail: string }>()
  .node('copy', ({ mail: text }) => text)
  .setEntry('copy')
  .compile();

/** A function that is trusted itself; the run that it starts hears somebody else's mail, and then it never answers. */
const reads = tool({
  name: 'reads',
  inputSchema: { type: 'object' },
  effect: 'read',
  trust: 'trusted',
  execute: async (_, io) => {
    await mail.run({ mail: 'x' }, { ...(io.runOptions as RunOptions), untrusted: ['mail'] });
    await vi.waitUntil(() => ring !== undefined);
    ring?.();
    ring = undefined;
    return new Promise<string>(() => undefined);
  },
});

const flow = graph<{ task: string }>()
  .node('agent', agentNode(agent({ name: 'a', model: 'own/a', tools: [reads] }), { taskParam: 'task' }), {
    timeoutMs: LIMIT,
    onError: 'ignore',
  })
  .node('after', ({ task }) => `after ${task}`)
  .node('asks', ({ task }, step) => step.ask({ text: `${task} on?`, choices: ['yes', 'no'] }))
  .addEdge('agent', 'after')
  .addEdge('after', 'asks')
  .setEntry('agent')
  .compile();

const { models } = ownModels({ a: () => ({ calls: [['reads', {}]] }) });
const answer = (): Promise<string> => Promise.resolve('yes');

function heardBy({ labels, state }: GraphResult): unknown {
  expect(state['after']).toBe('after Go');
  return labels?.['after'];
}

describe('a tool of an agent that heard something from a run of its own, when the agent took too long', () => {
  test('has had a say in that: in memory, after a resume and in a fork', async () => {
    const heard = { level: 'untrusted', sources: ['input:mail'] };
    const input = { task: 'Go' };
    expect(heardBy(await flow.run(input, { models, answer }))).toMatchObject(heard);
    const store = memoryStore();
    const paused = await flow.run(input, { models, store, runId: 'one' });
    expect(paused.outcome).toBe('paused');
    expect(heardBy(paused)).toMatchObject(heard);
    expect(heardBy(await flow.run(input, { models, store, fork: { run: 'one' }, answer }))).toMatchObject(heard);
    expect(heardBy(await flow.run(input, { models, store, resume: 'one', answer }))).toMatchObject(heard);
  });
});
