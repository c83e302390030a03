import { describe, expect, test } from 'vitest';
import { memoryStore, run } from '../../../src/index.js';
import type { RunOptions, Store } from '../../../src/index.js';
import type { Plan, PlanNode } from '../../../src/plan/plan.js';
import { quickTime } from '../../quick-time.js';
import { plan, task } from '../plans.js';

interface Workflow {
  readonly plan: Plan;
  readonly bindings: Record<string, unknown>;
  /** How often the plan inside was closed. */
  readonly closed: () => number;
  /** How often the step in it was started that waits. */
  readonly started: () => number;
}

const NEVER = new Promise<never>(() => undefined);

/** What cuts the plan inside off: its timeout, an end beside it, or a step beside it that fails. */
type Cause = 'timeout' | 'end' | 'failure';

/** A plan inside waits for ever and is cut off; then somebody is asked, where the run goes on. */
function workflow(cause: Cause, effect: PlanNode['effect'] = 'idempotent'): Workflow {
  let closed = 0;
  let started = 0;
  const inner = plan({ nodes: [task('waits', { effect }), task('frees')], finally: 'frees' });
  const box = { id: 'box', kind: 'call', plan: inner, inputs: {}, outputs: {}, onError: 'continue' } as PlanNode;
  const timed = cause === 'timeout' ? { ...box, timeoutMs: 2_000 } : box;
  const beside: Record<Cause, readonly PlanNode[]> = {
    timeout: [],
    end: [{ kind: 'end', id: 'stop', status: 'succeeded', reason: [], out: 0 }],
    failure: [task('fails')],
  };
  const group = plan({ nodes: [timed, ...beside[cause]] });
  const call = { id: 'group', kind: 'call', plan: group, inputs: {}, outputs: {}, onError: 'continue' } as PlanNode;
  const asks: PlanNode = { kind: 'ask', id: 'asks', question: ['Go on?'], output: 'answer', join: 'settled' };
  const bindings = {
    'group/box/waits': () => {
      started += 1;
      return NEVER;
    },
    'group/box/frees': () => {
      closed += 1;
    },
    ...(cause === 'failure' && { 'group/fails': () => Promise.reject(new Error('no')) }),
  };
  const whole = plan({ channels: ['answer'], nodes: [call, asks], edges: ['group>asks'] });
  return { plan: whole, bindings, closed: () => closed, started: () => started };
}

async function outcomeOf({ plan: whole, bindings }: Workflow, options: RunOptions): Promise<string> {
  return (await run({ plan: whole, bindings }, options).result).outcome;
}

const answer = (): Promise<string> => Promise.resolve('yes');
const resumed = (flow: Workflow, store: Store, more: RunOptions = {}): Promise<string> =>
  outcomeOf(flow, { store, resume: 'one', ...more });

quickTime();

describe('a plan inside that was cut off', () => {
  test.each(['timeout', 'end', 'failure'] as const)(
    'by %s is closed once, however often the run is resumed',
    async (cause) => {
      const store = memoryStore();
      const flow = workflow(cause);
      expect(await outcomeOf(flow, { store, runId: 'one' })).toBe('paused');
      expect(flow.closed()).toBe(1);
      expect(await resumed(flow, store)).toBe('paused');
      const ended = await resumed(flow, store, { answer });
      expect(ended).toBe(cause === 'end' ? 'succeeded' : 'degraded');
      expect(flow.closed()).toBe(1);
      if (cause === 'end') {
        expect(await resumed(flow, store)).toBe('succeeded');
        expect(await outcomeOf(flow, { store, fork: { run: 'one' }, answer })).toBe('succeeded');
        expect(flow.closed()).toBe(1);
      }
    },
  );

  test.each(
    (['timeout', 'end', 'failure'] as const).flatMap((cause) =>
      (['read', 'idempotent', 'once'] as const).map((effect) => [cause, effect] as const),
    ),
  )('by %s starts its step no more, nor asks about it, when the run is resumed (effect: %s)', async (cause, effect) => {
    const store = memoryStore();
    const flow = workflow(cause, effect);
    expect(await outcomeOf(flow, { store, runId: 'one' })).toBe('paused');
    const started = flow.started();
    expect(await resumed(flow, store)).toBe('paused');
    const asked: string[] = [];
    const answers = (question: { readonly text: string }): Promise<string> => {
      asked.push(question.text);
      return answer();
    };
    expect(await resumed(flow, store, { answer: answers })).not.toBe('paused');
    expect([flow.started(), asked]).toEqual([started, ['Go on?']]);
  });

  test.each(['timeout', 'failure'] as const)(
    'by %s is closed again when a degraded run or a fork tries it again',
    async (cause) => {
      const store = memoryStore();
      const flow = workflow(cause);
      expect(await outcomeOf(flow, { store, runId: 'one', answer })).toBe('degraded');
      expect(await resumed(flow, store)).toBe('degraded');
      expect(flow.closed()).toBe(2);
      expect(await outcomeOf(flow, { store, fork: { run: 'one' }, answer })).toBe('degraded');
      expect(flow.closed()).toBe(3);
    },
  );

  test('by a cancelled run is closed again when a resume has run it again', async () => {
    const store = memoryStore();
    const flow = workflow('timeout');
    const controller = new AbortController();
    const bindings = {
      ...flow.bindings,
      'group/box/waits': () => {
        controller.abort();
        return NEVER;
      },
    };
    const cancelled = { ...flow, bindings };
    expect(await outcomeOf(cancelled, { store, runId: 'one', signal: controller.signal })).toBe('cancelled');
    expect(flow.closed()).toBe(1);
    expect(await resumed(flow, store, { answer })).toBe('degraded');
    expect(flow.closed()).toBe(2);
  });
});
