import { describe, expect, it } from 'vitest';
import { agentExecutor } from '../../src/agent/executor.js';
import { createModelRegistry } from '../../src/agent/models/registry.js';
import type { Tool } from '../../src/agent/tool.js';
import type { Clock } from '../../src/base/clock.js';
import { systemClock } from '../../src/base/clock.js';
import { MemoryDurable } from '../../src/engine/durable/memory-durable.js';
import { startRun } from '../../src/engine/run.js';
import type { SkeinEvent } from '../../src/events/event.js';
import type { AgentNode, Plan } from '../../src/plan/plan.js';
import { FakeProvider } from './support/fake-provider.js';
import { tool } from './support/run-agent.js';
import { agentNode } from './support/step.js';

/** One agent in a run of the real engine, with the back end in memory. */
function start(
  provider: FakeProvider,
  node: Partial<AgentNode> = {},
  tools: readonly Tool[] = [],
  clock = systemClock,
) {
  const agent: AgentNode = { ...agentNode({ models: ['openai/m'] }), writes: ['steps.review.output'], ...node };
  const plan: Plan = {
    format: 1,
    name: 'one-agent',
    inputs: [],
    channels: [{ name: 'steps.review.output' }],
    nodes: [agent],
    edges: [],
    routes: [],
  };
  const models = createModelRegistry({ env: { OPENAI_BASE_URL: provider.baseUrl } });
  const events: SkeinEvent[] = [];
  let open = 0;
  const source = {
    tools,
    close: () => {
      open -= 1;
      return Promise.resolve();
    },
  };
  const provide = {
    open: () => {
      open += 1;
      return Promise.resolve(source);
    },
  };
  const executors = { agent: agentExecutor({ models, tools: provide }) };
  const durable = new MemoryDurable('run-1', { clock });
  const handle = startRun(plan, { durable, executors, listeners: [(event) => events.push(event)] });
  return { handle, events, open: () => open };
}

describe('an agent on the engine', () => {
  it('succeeds with its text as the output of the step', async () => {
    await using provider = await FakeProvider.start(
      { calls: [{ id: 'c1', name: 'look', input: '{"path":"a"}' }] },
      { text: 'Fine.' },
    );
    const { handle, open } = start(provider, {}, [tool('look', () => 'seen')]);
    const result = await handle.result;
    expect(result).toMatchObject({ outcome: 'succeeded', state: { 'steps.review.output': 'Fine.' } });
    expect(open()).toBe(0);
  });

  it('with a tool that never returns times out, the call is aborted and the tools are closed', async () => {
    await using provider = await FakeProvider.start({ calls: [{ id: 'c1', name: 'hang', input: '{"path":"a"}' }] });
    let aborted = false;
    const timers: (() => void)[] = [];
    const clock: Clock = {
      now: () => 0,
      setTimer: (_ms, fire) => {
        timers.push(fire);
        return () => undefined;
      },
    };
    const hang = tool('hang', (_input, io) => {
      io.signal.addEventListener('abort', () => (aborted = true), { once: true });
      // The only timer is that of the step.
      setImmediate(() => timers.forEach((fire) => fire()));
      return new Promise<string>(() => undefined);
    });
    const { handle, open } = start(provider, { timeoutMs: 60_000 }, [hang], clock);
    const result = await handle.result;
    expect(result).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_TIMEOUT' } });
    expect([aborted, open()]).toEqual([true, 0]);
  });

  it('is cancelled in the middle of an answer, and the connection is closed', async () => {
    await using provider = await FakeProvider.start({ stall: 'All is we' });
    const reached = new Promise<void>((resolve) => {
      provider.onPartial = resolve;
    });
    const { handle, open } = start(provider);
    await reached;
    handle.cancel();
    expect(await handle.result).toMatchObject({ outcome: 'cancelled', census: { cancelled: 1 } });
    await provider.closed;
    expect(open()).toBe(0);
  });

  it('waits between tries by the clock of the run', async () => {
    const busy = { status: 429, headers: { 'retry-after-ms': '5' } };
    await using provider = await FakeProvider.start(busy, busy, { text: 'Fine.' });
    const { handle, events } = start(provider);
    expect(await handle.result).toMatchObject({ outcome: 'succeeded' });
    const delays = events.map((event) =>
      event.type === 'step.note' && event.note.kind === 'model.retrying' ? event.note.delayMs : undefined,
    );
    expect(delays.filter((delay) => delay !== undefined)).toEqual([5, 5]);
  });

  it('is tried again by the retry policy of the step, with a session of its own', async () => {
    await using provider = await FakeProvider.start({ text: '' }, { text: 'Fine.' });
    const retry = { retries: 1, backoff: 'fixed', delayMs: 1, on: ['SKEIN_MODEL_EMPTY'] } as const;
    const { handle, open } = start(provider, { retry });
    expect(await handle.result).toMatchObject({ outcome: 'succeeded', state: { 'steps.review.output': 'Fine.' } });
    expect(provider.requests).toHaveLength(2);
    expect(open()).toBe(0);
  });
});
