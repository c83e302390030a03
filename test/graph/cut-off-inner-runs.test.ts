import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryStore } from 'skein';
import type { RunOptions } from 'skein';
import { agent, agentNode, graph, tool } from 'skein/graph';
import { systemClock } from '../../src/base/clock.js';
import { ownModels } from './support-agents.js';

/** The one timeout of these graphs, in milliseconds: that of the first attempt rings when the inner run has begun. */
const LIMIT = 54_321;

afterEach(() => {
  vi.restoreAllMocks();
});

/** A graph that a function starts: its node never ends, and tells when it began and when it was stopped. */
function endless() {
  const told: string[] = [];
  let begun: () => void = () => undefined;
  const begins = new Promise<void>((resolve) => (begun = resolve));
  const inner = graph().node(
    'wait',
    (_state, step) =>
      new Promise<string>((_resolve, reject) => {
        step.signal.addEventListener('abort', () => {
          told.push('stopped');
          reject(new Error('stopped'));
        });
        told.push('began');
        begun();
      }),
    { inputs: [] },
  );
  return { told, begins, inner };
}

const RECORDED: readonly (readonly [string, () => Partial<RunOptions>])[] = [
  ['in memory', () => ({})],
  ['with a store', () => ({ store: memoryStore() })],
];

describe.each(RECORDED)('a run that a function started with its runOptions, %s', (_, kept) => {
  it('is cancelled with the run around it', async () => {
    const { told, begins, inner } = endless();
    const stop = new AbortController();
    void begins.then(() => stop.abort());
    const outcomes: string[] = [];
    const flow = graph().node(
      'starts',
      async (_state, step) => outcomes.push((await inner.run({}, step.runOptions)).outcome),
      { inputs: [] },
    );
    expect((await flow.run({}, { ...kept(), signal: stop.signal })).outcome).toBe('cancelled');
    await expect.poll(() => [told, outcomes]).toEqual([['began', 'stopped'], ['cancelled']]);
  });

  it('is cancelled when the attempt takes too long, before the next one', async () => {
    const { told, begins, inner } = endless();
    const real = { ...systemClock };
    let limits = 0;
    vi.spyOn(systemClock, 'setTimer').mockImplementation((ms, ring) => {
      if (ms !== LIMIT) return real.setTimer(ms, ring);
      if ((limits += 1) === 1) void begins.then(ring);
      return () => undefined;
    });
    const flow = graph().node(
      'starts',
      async (_state, step) => {
        if (step.attempt === 1) return (await inner.run({}, step.runOptions)).outcome;
        return told.join(', ');
      },
      { inputs: [], timeoutMs: LIMIT, retry: { retries: 1, delayMs: 1 } },
    );
    expect((await flow.run({}, kept())).answer).toBe('began, stopped');
  });

  it('runs on when its function has returned', async () => {
    let end: (value: string) => void = () => undefined;
    let answered = '';
    const inner = graph().node('wait', () => new Promise<string>((resolve) => (end = resolve)));
    const flow = graph().node(
      'starts',
      (_state, step) => {
        void inner.runOrThrow({}, step.runOptions).then(({ wait }) => (answered = String(wait)));
      },
      { inputs: [] },
    );
    expect((await flow.run({}, kept())).outcome).toBe('succeeded');
    const after = (): string => {
      end('late');
      return answered;
    };
    await expect.poll(after).toBe('late');
  });
});

it('a run that a tool started is cancelled with the step of its agent', async () => {
  const { told, begins, inner } = endless();
  const { models } = ownModels({ m: () => ({ calls: [['ask', {}]] }) });
  const ask = tool({
    name: 'ask',
    inputSchema: { type: 'object' },
    effect: 'read',
    execute: async (_input, io) => (await inner.run({}, io.runOptions)).outcome,
  });
  const flow = graph<{ task: string }>().node('desk', agentNode(agent({ name: 'desk', model: 'own/m', tools: [ask] })));
  const stop = new AbortController();
  void begins.then(() => stop.abort());
  expect((await flow.run({ task: 'x' }, { models, signal: stop.signal })).outcome).toBe('cancelled');
  await expect.poll(() => told).toEqual(['began', 'stopped']);
});
