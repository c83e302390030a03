import { describe, expect, test } from 'vitest';
import { checkPlan, memoryStore, outlinePlan, run as runPlan, toMermaid } from '../../src/index.js';
import type { Plan, PlanNode } from '../../src/plan/plan.js';
import { quickTime } from '../quick-time.js';
import { fails, logs, outcomes, plan, run, task } from './plans.js';

quickTime();

const cleanup = (nodes: readonly (string | PlanNode)[] = ['sweep'], more: object = {}): PlanNode => ({
  id: 'finally',
  kind: 'call',
  plan: plan({
    nodes,
    inputs: ['log', 'run.outcome', 'run.error'].map((name) => ({ name, channel: name, required: false })),
    channels: ['seen:append'],
  }),
  writes: ['seen'],
  onError: 'ignore',
  ...more,
});
const closed = (nodes: readonly (string | PlanNode)[], more: Partial<Plan> = {}, last = cleanup()) => ({
  ...plan({ nodes: [...nodes, last], channels: ['log:append', 'seen:append', 'run.outcome', 'run.error'] }),
  finally: 'finally',
  ...more,
});
/** What `sweep` was told. */
const sweeper = () => {
  const seen: unknown[] = [];
  const sweep = (state: Readonly<Record<string, unknown>>) => {
    const error = state['run.error'] as { message: string } | undefined;
    seen.push([state['run.outcome'], error?.message, state['log']]);
    return {};
  };
  return { seen, bindings: { 'finally/sweep': sweep } };
};

describe('[addition 10] the node finally of a plan', () => {
  test('runs when all others have ended, well or not, and changes no other outcome', async () => {
    const good = sweeper();
    const { result } = await run(closed(['a', 'b']), { ...good.bindings, a: logs('a'), b: logs('b') });
    expect([result.outcome, good.seen]).toEqual(['succeeded', [['succeeded', undefined, ['a', 'b']]]]);
    expect(result.census).toMatchObject({ succeeded: 4, notRun: 0 });
    const bad = sweeper();
    const failed = await run(closed(['a', 'b']), { ...bad.bindings, a: logs('a'), b: fails('broken') });
    expect([failed.result.outcome, failed.result.error?.message]).toEqual(['failed', 'broken']);
    expect(bad.seen).toEqual([['failed', 'broken', ['a']]]);
    const ended = sweeper();
    const stop: PlanNode = { id: 'stop', kind: 'end', status: 'failed', reason: ['enough'] };
    const stopped = await run(closed([stop]), ended.bindings);
    expect([stopped.result.error?.code, ended.seen]).toEqual(['SKEIN_ENDED', [['failed', 'enough', undefined]]]);
  });

  test('degrades a green run by its failure, and no other', async () => {
    const green = await run(closed(['a']), { a: logs('a'), 'finally/sweep': fails('no broom') });
    expect([green.result.outcome, outcomes(green.result)]).toMatchObject(['degraded', { 'finally/sweep': 'failed' }]);
    const red = await run(closed(['a']), { a: fails('broken'), 'finally/sweep': fails('no broom') });
    expect([red.result.outcome, red.result.error?.message]).toEqual(['failed', 'broken']);
  });

  test('is counted once in the census when it fails: as a failure that was allowed', async () => {
    const last: PlanNode = { kind: 'task', id: 'finally' };
    const bindings = { a: logs('a'), finally: fails('no') };
    const { result } = await run(closed(['a'], {}, last), bindings);
    expect([result.outcome, result.census]).toMatchObject(['degraded', { succeeded: 1, degraded: 1, failed: 0 }]);
    const bad = await run(closed(['a'], {}, last), { ...bindings, a: fails('bad') });
    expect([bad.result.outcome, bad.result.census]).toMatchObject(['failed', { succeeded: 0, degraded: 0, failed: 2 }]);
  });

  test('is told that a run in which a loop gave up is degraded', async () => {
    const round = plan({ nodes: ['x'], channels: ['log:append'] });
    const loop: PlanNode = {
      id: 'loop',
      kind: 'loop',
      plan: round,
      until: [{ op: 'code' }],
      maxRounds: 2,
      onMaxRounds: 'degrade',
      writes: [],
    };
    const { seen, bindings } = sweeper();
    const never = { 'loop/x': logs('x'), 'until:loop': () => false };
    const { result } = await run(closed([loop]), { ...bindings, ...never });
    expect([result.outcome, seen[0]]).toEqual(['degraded', ['degraded', undefined, undefined]]);
  });

  test('degrades a green run also where it failed for a plan that was cut off', async () => {
    const inner = closed(['slow'], {}, cleanup(['sweep'], { onError: 'fail' }));
    const call: PlanNode = { id: 'call', kind: 'call', plan: inner, writes: [] };
    const outer = plan({ nodes: [call, { id: 'stop', kind: 'end' }], channels: ['log:append'] });
    const never = () => new Promise<never>(() => undefined);
    const bindings = { 'call/slow': never, 'call/finally/sweep': fails('no broom') };
    const result = await runPlan({ plan: outer, bindings }).result;
    expect([result.outcome, outcomes(result)]).toEqual([
      'degraded',
      { call: 'cancelled', stop: 'succeeded', 'call/finally#3': 'failed', 'call/finally#3/sweep': 'failed' },
    ]);
  });

  test('runs after a cancellation too, and a second one cuts it off', async () => {
    const { seen, bindings } = sweeper();
    const never = () => new Promise<never>(() => undefined);
    const handle = runPlan({ plan: closed(['a']), bindings: { ...bindings, a: never } });
    setTimeout(() => handle.cancel('that is enough'), 5);
    const result = await handle.result;
    expect([result.outcome, result.error?.message]).toEqual(['cancelled', 'that is enough']);
    expect(seen).toEqual([['cancelled', 'that is enough', undefined]]);
    const hanging = runPlan({ plan: closed(['a']), bindings: { 'finally/sweep': never, a: never } });
    setTimeout(() => hanging.cancel(), 5);
    setTimeout(() => hanging.cancel(), 20);
    expect((await hanging.result).outcome).toBe('cancelled');
  });

  test('has sixty seconds after a cancellation, of which this process takes a fiftieth', async () => {
    const never = () => new Promise<never>(() => undefined);
    const handle = runPlan({ plan: closed(['a']), bindings: { 'finally/sweep': never, a: never } });
    setTimeout(() => handle.cancel(), 5);
    const result = await handle.result;
    expect([result.outcome, result.error?.message]).toEqual([
      'cancelled',
      'the run was cancelled, and what ran at its end was cut off',
    ]);
  });

  test('has its time in each session anew: that it was cut off once says nothing of the next cancellation', async () => {
    const never = () => new Promise<never>(() => undefined);
    const store = memoryStore();
    const swept = closed(['a']);
    const cancelled = async (sweep: () => unknown, options: Parameters<typeof runPlan>[1]) => {
      const handle = runPlan({ plan: swept, bindings: { 'finally/sweep': sweep, a: never } }, options);
      setTimeout(() => handle.cancel(), 5);
      return (await handle.result).error?.message;
    };
    const cutOff = 'the run was cancelled, and what ran at its end was cut off';
    expect(await cancelled(never, { store, runId: 'r' })).toBe(cutOff);
    const slowly = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return {};
    };
    expect(await cancelled(slowly, { store, resume: 'r' })).toBe('the run was cancelled');
  });

  test('does not run while the run waits for an answer, and runs when it has ended', async () => {
    const { seen, bindings } = sweeper();
    const ask: PlanNode = { id: 'ask', kind: 'ask', question: ['ok?'], output: 'answer' };
    const asking = { plan: closed([ask]), bindings };
    const store = memoryStore();
    const first = await runPlan(asking, { store }).result;
    expect([first.outcome, seen]).toEqual(['paused', []]);
    const again = await runPlan(asking, { store, resume: first.runId, answer: () => Promise.resolve('yes') }).result;
    expect([again.outcome, seen.length]).toEqual(['succeeded', 1]);
  });

  test('runs for each end of a run that is resumed, once, and not again for one that is over', async () => {
    const store = memoryStore();
    const swept: unknown[] = [];
    let broken = true;
    const work = () => {
      if (broken) throw new Error('broken');
      return { log: 'a' };
    };
    const definition = { plan: closed(['a']), bindings: { a: work, 'finally/sweep': () => (swept.push(1), {}) } };
    const first = await runPlan(definition, { store }).result;
    expect([first.outcome, swept.length]).toEqual(['failed', 1]);
    broken = false;
    const second = await runPlan(definition, { store, resume: first.runId }).result;
    expect([second.outcome, swept.length]).toEqual(['succeeded', 2]);
    const third = await runPlan(definition, { store, resume: first.runId }).result;
    expect([third.outcome, swept.length, third.ran]).toEqual(['succeeded', 2, 0]);
    const forked = await runPlan(definition, { store, fork: { run: first.runId } }).result;
    expect([forked.outcome, swept.length]).toEqual(['succeeded', 3]);
  });

  test('of a called plan runs at its end, also when the step around it is cut off', async () => {
    const { seen, bindings } = sweeper();
    const inner = closed(['slow']);
    const call: PlanNode = { id: 'call', kind: 'call', plan: inner, writes: [] };
    const outer = plan({ nodes: [call, 'after', task('bad')], edges: ['call>after'], channels: ['log:append'] });
    const within = Object.fromEntries(Object.entries(bindings).map(([key, fn]) => [`call/${key}`, fn]));
    const good = await run(outer, { ...within, 'call/slow': logs('slow'), after: logs('after'), bad: logs('ok') });
    expect([good.result.outcome, good.started]).toEqual([
      'succeeded',
      ['call', 'bad', 'slow', 'finally', 'sweep', 'after'],
    ]);
    const never = () => new Promise<never>(() => undefined);
    const handle = runPlan({
      plan: outer,
      bindings: {
        ...within,
        'call/slow': never,
        after: logs('after'),
        bad: () => new Promise((_, no) => setTimeout(() => no(new Error('broken')), 5)),
      },
    });
    const result = await handle.result;
    expect([result.outcome, seen.length, seen.at(-1)]).toEqual([
      'failed',
      2,
      ['cancelled', 'the step around it ended first', undefined],
    ]);
  });

  test('is drawn, and stands last in the outline', () => {
    expect(outlinePlan(closed(['a', 'b'])).levels).toEqual([['a', 'b'], ['finally']]);
    expect(toMermaid(closed(['a']))).toContain('when all others have ended');
  });

  test('never starts by itself, and is no unreachable node; one that does not exist is a problem', () => {
    expect(checkPlan(closed(['a']))).toEqual([]);
    expect(checkPlan({ ...closed(['a']), finally: 'final' }).map(({ code }) => code)).toContain('unknown-node');
  });
});
