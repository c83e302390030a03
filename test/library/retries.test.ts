import { describe, expect, test } from 'vitest';
import { NonRetryableError, SkeinError, definePlan, memoryStore, run, runOrThrow } from 'skein';
import type { FailedAttempt, RetryInput, Store } from 'skein';
import { graph, workflowNode } from 'skein/graph';

class RateLimit extends Error {}
class SlowDown extends RateLimit {}

/** Throws the same each time, and counts how often. */
function thrower(thrown: () => unknown): { readonly calls: () => number; readonly body: () => never } {
  let calls = 0;
  return {
    calls: () => calls,
    body: () => {
      calls += 1;
      throw thrown();
    },
  };
}

const QUICK = { retries: 2, delayMs: 0 } as const;

/** How often a node is tried that throws this, written as a plan and as a graph. */
async function attempts(thrown: () => unknown, on?: Exclude<RetryInput, number>['on']): Promise<number> {
  const retry: RetryInput = on === undefined ? QUICK : { ...QUICK, on };
  const planned = thrower(thrown);
  await run(definePlan({ name: 'p', nodes: [{ id: 'a', run: planned.body, retry }] })).result;
  const drawn = thrower(thrown);
  await graph().node('a', drawn.body, { inputs: [], retry }).setEntry('a').run();
  expect(drawn.calls()).toBe(planned.calls());
  return planned.calls();
}

const error = (facts: object): Error => Object.assign(new Error('no'), facts);

describe('[XG8] without `on`, in plans and graphs alike', () => {
  test.each<[string, () => unknown]>([
    ['an error of nobody in particular', () => new Error('busy')],
    ['a class of your own', () => new SlowDown('wait')],
    ['a text', () => 'busy'],
    ['status 500', () => error({ status: 500 })],
    ['status 503 of a response', () => error({ response: { status: 503 } })],
    ['status 408', () => error({ statusCode: 408 })],
    ['status 425', () => error({ status: 425 })],
    ['status 429', () => error({ status: 429 })],
    ['a broken connection', () => error({ code: 'ECONNRESET' })],
    ['fetch without a network', () => new TypeError('fetch failed', { cause: error({ code: 'ECONNREFUSED' }) })],
    ['a timeout of a signal', () => new DOMException('too slow', 'TimeoutError')],
    ['a mistake that says it passes', () => Object.assign(new TypeError('x'), { retryable: true })],
  ])('%s is tried again', async (_name, thrown) => {
    expect(await attempts(thrown)).toBe(3);
  });

  test.each<[string, () => unknown]>([
    ['a TypeError', () => new TypeError('x is not a function')],
    ['a ReferenceError', () => new ReferenceError('x is not defined')],
    ['a SyntaxError', () => new SyntaxError('Unexpected token')],
    ['a class that extends TypeError', () => new (class Odd extends TypeError {})('x')],
    ['an aborted call', () => new DOMException('stopped', 'AbortError')],
    ['status 400', () => error({ status: 400 })],
    ['status 404 of a response', () => error({ response: { status: 404 } })],
    ['status 409', () => error({ status: '409' })],
    ['status 401 of the cause', () => new Error('login', { cause: error({ status: 401 }) })],
    ['an account without quota', () => error({ status: 429, code: 'insufficient_quota' })],
    ['NonRetryableError', () => new NonRetryableError('there is no such order')],
    ['retryable: false', () => error({ retryable: false, status: 503 })],
  ])('%s is not', async (_name, thrown) => {
    expect(await attempts(thrown)).toBe(1);
  });
});

describe('[XG8] `on` matches', () => {
  test.each<[string, Exclude<RetryInput, number>['on'], () => unknown, number]>([
    ['a class', [RateLimit], () => new RateLimit('x'), 3],
    ['a class alone', RateLimit, () => new RateLimit('x'), 3],
    ['a class that extends it', RateLimit, () => new SlowDown('x'), 3],
    ['no other class', [SlowDown], () => new RateLimit('x'), 1],
    ['an error of Skein by its class', [SkeinError], () => new SkeinError('SKEIN_INPUT', 'x'), 3],
    ['every Error with Error', Error, () => new RateLimit('x'), 3],
    ['a name', ['Quota'], () => error({ name: 'Quota' }), 3],
    ['a code', ['ECONNRESET'], () => error({ code: 'ECONNRESET' }), 3],
    ['the code of a cause', ['ECONNRESET'], () => new TypeError('x', { cause: error({ code: 'ECONNRESET' }) }), 3],
    ['a status', [503, 404], () => error({ status: 404 }), 3],
    ['no other status', [503], () => error({ status: 404 }), 1],
    ['a part of the message', ['BUSY'], () => new Error('the line is busy'), 3],
    ['no other message', ['busy'], () => new Error('broken'), 1],
    ['a mistake, when it is named', ['TypeError'], () => new TypeError('x'), 3],
    ['whatever it is with any', 'any', () => new TypeError('x'), 3],
    ['a function', ({ status }) => status === 418, () => error({ status: 418 }), 3],
    ['a function that says no', ({ code }) => code !== 'EBUSY', () => error({ code: 'EBUSY' }), 1],
    ['nothing that is NonRetryableError', 'any', () => new NonRetryableError('x'), 1],
    ['nothing that says retryable: false', () => true, () => error({ retryable: false }), 1],
  ])('%s', async (_name, on, thrown, times) => {
    expect(await attempts(thrown, on)).toBe(times);
  });

  test('a function is given the facts, and one that fails ends the step', async () => {
    const seen: FailedAttempt[] = [];
    const note = (failure: FailedAttempt): boolean => (seen.push(failure), false);
    await attempts(() => Object.assign(new SlowDown('wait'), { code: 'E1', status: 503 }), note);
    const fact = { message: 'wait', name: 'SlowDown', code: 'E1', status: 503 };
    expect(seen).toMatchObject([fact, fact]);
    expect(seen[0]?.error.classes).toEqual(['RateLimit']);
    const broken = thrower(() => new Error('busy'));
    const on = (() => 'yes') as never;
    const plan = definePlan({ name: 'p', nodes: [{ id: 'a', run: broken.body, retry: { ...QUICK, on } }] });
    const { error: why } = await run(plan).result;
    expect(why?.code).toBe('SKEIN_TEMPLATE');
    expect(why?.message).toMatch(/'retry:a' must answer true or false.*the failure was: busy/);
    expect(broken.calls()).toBe(1);
  });

  test('what is no kind of failure is refused, and plan data needs the function', async () => {
    const plan = definePlan({ name: 'p', nodes: [{ id: 'a', run: () => ({}), retry: { on: [true as never] } }] });
    expect(() => run(plan)).toThrow(/retry\.on\[0\] must be a text or a number/);
    const { 'retry:a': _gone, ...bindings } = definePlan({
      name: 'p',
      nodes: [{ id: 'a', run: () => ({}), retry: { on: () => true } }],
    }).bindings;
    const data = definePlan({ name: 'p', nodes: [{ id: 'a', run: () => ({}), retry: { on: () => true } }] }).plan;
    expect(() => run({ plan: data, bindings })).toThrow(/the retry of .*a.* has no function/);
  });
});

describe('[XG8] an error that ends the retries', () => {
  const inner = (body: () => unknown) =>
    definePlan({
      name: 'inner',
      inputs: [{ name: 'seed', default: 1 }],
      nodes: [{ id: 'deep', run: body }],
    });

  test('ends those of the workflow, the map and the function around it', async () => {
    const retry: RetryInput = { ...QUICK, on: 'any' };
    const sub = thrower(() => new NonRetryableError('gone'));
    await run(definePlan({ name: 'o', nodes: [{ id: 's', kind: 'call', plan: inner(sub.body), retry }] })).result;
    expect(sub.calls()).toBe(1);
    const drawn = thrower(() => new NonRetryableError('gone'));
    const nested = workflowNode(inner(drawn.body), 's', { taskParam: null, projectState: true });
    await graph().node('s', nested, { retry }).setEntry('s').run();
    expect(drawn.calls()).toBe(1);
    const item = thrower(() => new NonRetryableError('gone'));
    const map = graph<{ list: number[] }>()
      .map('m', { over: 'list', item: 'n', retry }, ({ n: _n }) => item.body())
      .setEntry('m');
    const mapped = await map.run({ list: [1] });
    expect([item.calls(), mapped.error?.name, mapped.error?.retryable]).toEqual([1, 'NonRetryableError', false]);
    const called = thrower(() => new NonRetryableError('gone'));
    const own = async (): Promise<object> => ({ ...(await runOrThrow(inner(called.body))) });
    await run(definePlan({ name: 'o', nodes: [{ id: 's', run: own, retry }] })).result;
    expect(called.calls()).toBe(1);
  });

  test('a mistake in a workflow is none that goes away for the node around it', async () => {
    const sub = thrower(() => new TypeError('x'));
    await run(definePlan({ name: 'o', nodes: [{ id: 's', kind: 'call', plan: inner(sub.body), retry: QUICK }] }))
      .result;
    expect(sub.calls()).toBe(1);
    const status = thrower(() => error({ status: 503 }));
    const plan = inner(status.body);
    await run(definePlan({ name: 'o', nodes: [{ id: 's', kind: 'call', plan, retry: { ...QUICK, on: [503] } }] }))
      .result;
    expect(status.calls()).toBe(3);
  });
});

describe('[XG8] in a record', () => {
  /** Fails once, then waits for an answer, so that the run goes on from its record. */
  const recorded = (on: Exclude<RetryInput, number>['on'], thrown: () => unknown, calls: string[]) =>
    definePlan({
      name: 'p',
      nodes: [
        {
          id: 'a',
          output: 'a',
          retry: { ...QUICK, ...(on === undefined ? {} : { on }) },
          run: (_state, { attempt }) => {
            calls.push(`a~${attempt}`);
            if (attempt === 1) throw thrown();
            return 'good';
          },
        },
        { id: 'q', kind: 'ask', question: 'Go on?', output: 'q' },
      ],
      edges: [['a', 'q']],
    });

  async function twice(store: Store, first: ReturnType<typeof recorded>, second = first): Promise<string> {
    expect((await run(first, { store, runId: 'r' }).result).outcome).toBe('paused');
    const { outcome, state } = await run(second, { store, resume: 'r', answer: async () => 'yes' }).result;
    return `${outcome} ${String(state['a'])}`;
  }

  test.each<[string, Exclude<RetryInput, number>['on'], () => unknown]>([
    ['a class', RateLimit, () => new SlowDown('x')],
    ['a code', ['E7'], () => error({ code: 'E7' })],
    ['a status', [404], () => error({ status: 404 })],
    [
      'a function',
      ({ name, status }) => name === 'SlowDown' && status === 404,
      () => Object.assign(new SlowDown(''), { status: 404 }),
    ],
    ['the default rule', undefined, () => error({ status: 503 })],
  ])('%s decides the same when the run is resumed', async (_name, on, thrown) => {
    const calls: string[] = [];
    expect(await twice(memoryStore(), recorded(on, thrown, calls))).toBe('succeeded good');
    expect(calls).toEqual(['a~1', 'a~2']);
  });

  test('an attempt that was made stays, when the policy has become stricter since', async () => {
    const calls: string[] = [];
    const mistake = (): unknown => new TypeError('x');
    const before = recorded('any', mistake, calls);
    expect(await twice(memoryStore(), before, recorded(undefined, mistake, calls))).toBe('succeeded good');
    expect(calls).toEqual(['a~1', 'a~2']);
  });

  test('a resume tries again what failed for good, and ends at once again', async () => {
    const store = memoryStore();
    const body = thrower(() => new NonRetryableError('gone'));
    const plan = definePlan({ name: 'p', nodes: [{ id: 'a', run: body.body, retry: QUICK }] });
    await run(plan, { store, runId: 'r' }).result;
    const again = await run(plan, { store, resume: 'r' }).result;
    expect([body.calls(), again.outcome, again.error?.retryable]).toEqual([2, 'failed', false]);
  });
});
