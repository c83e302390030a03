import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { graph } from 'skein/graph';
import { collect, gate, orderOf, outline } from './support.js';

function thrower(what: unknown): () => never {
  return () => {
    throw what;
  };
}

describe('inputs', () => {
  const flow = () =>
    graph<{ query: string; limit: number }>()
      .node('search', ({ query, limit }) => `${query} ${limit}`)
      .setEntry('search');

  test('[23] a missing input is a failed result: no node runs, and there are two events', async () => {
    const result = await flow().run({ query: 'x' });
    expect([result.success, result.outcome, result.error?.code]).toEqual([false, 'failed', 'SKEIN_INPUT']);
    expect(result.error?.message).toContain("'limit' is missing");
    expect(result.events.map((event) => event.type)).toEqual(['workflow_start', 'workflow_end']);
    expect([result.nodesRun, result.iterations, result.answer, result.census.notRun]).toEqual([[], 0, '', 1]);
  });

  test('[23] every missing input is named, and a stream tells the same', async () => {
    const events = await collect(flow().stream());
    expect(events.map((event) => event.type)).toEqual(['workflow_start', 'workflow_end']);
    expect(events[1]?.metadata['error']).toMatch(/'query' is missing.*'limit' is missing/);
  });

  test('[25] a default makes an input optional', async () => {
    const defaulted = graph<{ query?: string }>()
      .node('search', ({ query = 'looms' }) => query)
      .setEntry('search');
    expect((await defaulted.run()).answer).toBe('looms');
    expect((await defaulted.run({ query: 'yarn' })).answer).toBe('yarn');
  });

  test('[22] a node that reads its own name begins with the input of that name', async () => {
    const counting = graph<{ count: number }>()
      .node('count', ({ count }) => count + 1)
      .route('count', ({ count }) => (count < 3 ? 'count' : 'END'))
      .setEntry('count');
    expect((await counting.run({ count: 0 })).state).toEqual({ count: 3 });
    expect((await counting.run()).error?.message).toContain("'count' is missing");
  });

  test('decision 6: with schemas inputs of another type are refused, all at once and by name', async () => {
    const typed = graph({ state: { query: z.string(), limit: z.number().optional(), count: z.number() } })
      .node('count', ({ query }) => query.length)
      .setEntry('count');
    const result = await typed.run({ query: 5, limit: 'many' } as never);
    expect([result.error?.code, result.nodesRun]).toEqual(['SKEIN_INPUT', []]);
    expect(result.error?.message).toMatch(/'query'.*expected string.*'limit'.*expected number/);
    const unknown = await typed.run({ qurey: 'x' } as never);
    expect(unknown.error?.message).toContain("'qurey' is neither an input nor a channel");
    expect((await typed.run({ query: 'looms' })).state).toEqual({ query: 'looms', count: 5 });
  });

  test('an input that contains itself is refused, in the result', async () => {
    const round: Record<string, unknown> = {};
    round['me'] = round;
    const result = await graph<Record<string, unknown>>()
      .addNode('a', () => null)
      .setEntry('a')
      .run({ round });
    expect(result.error).toMatchObject({ code: 'SKEIN_INPUT' });
    expect(result.error?.message).toMatch(/'round': .*contains itself/);
  });

  test('an input that nobody declared is accepted, and is part of the state', async () => {
    const open = graph<Record<string, unknown>>()
      .addNode('a', ({ extra }) => ({ seen: extra }))
      .setEntry('a');
    expect((await open.run({ extra: 5 })).state).toEqual({ extra: 5, seen: 5 });
  });

  test.each([['a text'], [7], [null], [['x']]])(
    '[55] inputs that are no object are a wrong call, not a failed run: %s',
    async (inputs) => {
      const call = flow().run(inputs as never);
      await expect(call).rejects.toMatchObject({ code: 'SKEIN_USAGE' });
      await expect(collect(flow().stream(inputs as never))).rejects.toMatchObject({ code: 'SKEIN_USAGE' });
    },
  );

  test('[55] a compiled graph takes one optional object', async () => {
    const compiled = flow().compile();
    expect((await compiled.run({ query: 'x', limit: 3 })).answer).toBe('x 3');
    expect((await compiled.run()).success).toBe(false);
  });
});

describe('a node that throws', () => {
  test('[42] is told by an error event, ends the run, and keeps what follows from running', async () => {
    const flow = graph()
      .node('first', () => 1)
      .node('bad', ({ first }): number => thrower(new TypeError(`no ${first}`))())
      .node('after', ({ bad }) => bad)
      .setEntry('first');
    const result = await flow.run();
    expect(outline(result.events)).toEqual([
      'workflow_start',
      'node_start first',
      'node_end first',
      'node_start bad',
      'error bad',
      'workflow_end',
    ]);
    expect(result.events[4]?.metadata).toMatchObject({
      node: 'bad',
      error: 'TypeError: no 1',
      elapsed_ms: expect.any(Number) as unknown,
    });
    expect(result.events[5]?.metadata).toMatchObject({ success: false, error: 'TypeError: no 1' });
    expect(result).toMatchObject({
      state: { first: 1 },
      metrics: { errorCount: 1, nodeCount: 1 },
      nodesRun: ['first'],
    });
    expect(result.error).toMatchObject({ code: 'SKEIN_STEP_FAILED', name: 'TypeError', message: 'no 1' });
  });

  test.each([
    ['a text', 'just text', 'just text'],
    ['a number', 42, 'thrown: 42'],
    ['nothing', undefined, 'thrown: undefined'],
    ['an object with a message', { message: 'mine' }, 'mine'],
    ['an object', { told: 'mine' }, 'thrown: {"told":"mine"}'],
    ['a long object', { told: 'x'.repeat(500) }, `thrown: {"told":"${'x'.repeat(191)}`],
    ['an object that has no JSON', { told: 1n }, 'thrown: [object Object]'],
    ['an object that has no text', Object.create(null), 'thrown: something that is not text'],
  ])('throws %s: the run fails with it', async (_, thrown, message) => {
    for (const body of [thrower(thrown), (): Promise<never> => Promise.reject(thrown as Error)]) {
      const result = await graph().addNode('bad', body).setEntry('bad').run();
      expect([result.success, result.error?.code, result.error?.message]).toEqual([
        false,
        'SKEIN_STEP_FAILED',
        message,
      ]);
    }
  });

  test('[42] aborts its siblings at once, and keeps what was finished before', async () => {
    let aborted: unknown;
    const flow = graph()
      .node('start', () => 1)
      .node(
        'slow',
        ({ start }, step) => new Promise<number>(() => step.signal.addEventListener('abort', () => (aborted = start))),
      )
      .node('quick', ({ start }) => start)
      .node('bad', async ({ start }): Promise<number> => thrower(new Error(`no ${start}`))())
      .setEntry('start');
    const result = await flow.run();
    expect([aborted, result.outcome, result.state]).toEqual([1, 'failed', { start: 1, quick: 1 }]);
    expect([orderOf(result.events, 'error'), orderOf(result.events, 'node_cancel')]).toEqual([['bad'], ['slow']]);
  });

  test('may be allowed to: the run is degraded, and a success', async () => {
    const flow = graph<{ log?: string[] }>({ reducers: { log: 'append' } })
      .addNode('start', () => null)
      .addNode('bad', thrower(new Error('no')), { onError: 'continue' })
      .addNode('good', () => ({ log: 'good' }))
      .addEdge('start', 'bad')
      .addEdge('start', 'good')
      .setEntry('start');
    const result = await flow.run();
    expect(result).toMatchObject({ outcome: 'degraded', success: true, metrics: { errorCount: 1 }, error: undefined });
    expect(orderOf(result.events, 'error')).toEqual(['bad']);
    expect(result.events.at(-2)?.type).toBe('answer');
  });

  test('is tried again where that was asked for, and the attempts are told', async () => {
    let calls = 0;
    const flow = graph()
      .node(
        'flaky',
        () => {
          calls += 1;
          if (calls < 3) throw new Error(`no ${calls}`);
          return calls;
        },
        { retry: { retries: 2, backoff: 'fixed', delayMs: 0, on: 'any' } },
      )
      .setEntry('flaky');
    const result = await flow.run();
    expect([result.answer, orderOf(result.events, 'node_retry')]).toEqual(['3', ['flaky', 'flaky']]);
    expect(result.events.find((event) => event.type === 'node_retry')?.metadata).toMatchObject({
      attempt: 2,
      error: 'Error: no 1',
    });
  });

  test('[44] runOrThrow throws what made the run fail, and run never does', async () => {
    const flow = graph()
      .addNode('bad', thrower(new RangeError('far')))
      .setEntry('bad');
    await expect(flow.runOrThrow()).rejects.toMatchObject({ code: 'SKEIN_STEP_FAILED', message: 'far' });
    await expect(flow.compile().runOrThrow()).rejects.toMatchObject({ message: 'far' });
    expect((await flow.run()).success).toBe(false);
    const good = graph()
      .node('a', () => 1)
      .setEntry('a');
    expect(await good.runOrThrow()).toEqual({ a: 1 });
  });
});

describe('a node that never settles', () => {
  const stuck = (timeoutMs?: number) =>
    graph()
      .node('stuck', () => new Promise<number>(() => {}), timeoutMs === undefined ? {} : { timeoutMs })
      .setEntry('stuck');

  test('[43] is freed by its timeout, which aborts its signal', async () => {
    let aborted = false;
    const flow = graph()
      .node(
        'slow',
        (_, step) => new Promise<number>(() => step.signal.addEventListener('abort', () => (aborted = true))),
        { timeoutMs: 5, inputs: [] },
      )
      .setEntry('slow');
    const result = await flow.run();
    expect([aborted, result.error?.code, result.census.timed_out]).toEqual([true, 'SKEIN_TIMEOUT', 1]);
    expect(result.error?.message).toMatch(/'slow'.*5 ms/);
    expect(orderOf(result.events, 'error')).toEqual(['slow']);
  });

  test('[43] the caller does not wait for what goes on after a timeout', async () => {
    const after = gate();
    const flow = graph()
      .node('late', async () => after.opened, { timeoutMs: 5 })
      .setEntry('late');
    const result = await flow.run();
    after.open();
    expect(result.error?.code).toBe('SKEIN_TIMEOUT');
  });

  test('is ended by a signal: the run is cancelled', async () => {
    const controller = new AbortController();
    const running = stuck().run({}, { signal: controller.signal });
    controller.abort(new Error('enough'));
    const result = await running;
    expect([result.outcome, result.success, result.error?.message]).toEqual(['cancelled', false, 'enough']);
    expect(outline(result.events)).toEqual(['workflow_start', 'node_start stuck', 'node_cancel stuck', 'workflow_end']);
  });

  test('a signal that was aborted before keeps everything from running', async () => {
    const result = await stuck().run({}, { signal: AbortSignal.abort() });
    expect([result.outcome, result.nodesRun, result.census.notRun]).toEqual(['cancelled', [], 1]);
  });
});

describe('a question', () => {
  const asking = () =>
    graph()
      .node('ask', async (_, step) => await step.ask({ text: 'Go?', choices: ['yes', 'no'] }), { inputs: [] })
      .setEntry('ask');

  test('is answered by the answer option', async () => {
    const result = await asking().run({}, { answer: async ({ choices }) => Promise.resolve(choices?.[0]) });
    expect(result.answer).toBe('yes');
  });

  test('pauses the run when nobody can answer: no success, and no answer event', async () => {
    const result = await asking().run();
    expect([result.outcome, result.success]).toEqual(['paused', false]);
    const told = ['workflow_start', 'node_start ask', 'question ask', 'node_pause ask', 'workflow_end'];
    expect(outline(result.events)).toEqual(told);
    await expect(asking().runOrThrow()).rejects.toMatchObject({ code: 'SKEIN_QUESTION' });
  });
});
