import { describe, expect, test } from 'vitest';
import { graph } from 'skein/graph';
import type { AgentLike } from 'skein/graph';
import { collect, outline } from './support.js';

interface Loose {
  readonly [key: string]: unknown;
}

const shout = () =>
  graph<{ task: string }>()
    .node('draft', ({ task }) => `About ${task}.`)
    .node('loud', ({ draft }) => draft.toUpperCase())
    .setEntry('draft');

describe('the answer', () => {
  const giving = (value: unknown) =>
    graph<Loose>({ answerKey: 'out' })
      .addNode('a', () => ({ out: value, a: 'of a' }))
      .setEntry('a');

  test.each([
    ['text', 'as it is', 'as it is'],
    ['a number', 5, '5'],
    ['an object', { ok: [true] }, '{"ok":[true]}'],
    ['false', false, 'false'],
    ['null', null, ''],
    ['what has no text', 10n, '10'],
  ])('[53] is %s of the key as text', async (_, value, answer) => {
    const result = await giving(value).run();
    expect([result.answer, result.answerKey]).toEqual([answer, 'out']);
  });

  test('[53] is what the only exit gives, when no key is named', async () => {
    const result = await shout().run({ task: 'looms' });
    expect([result.answerKey, result.answer]).toEqual(['loud', 'ABOUT LOOMS.']);
  });

  test('[53] is what the last node gave, when there are several exits', async () => {
    const flow = graph<{ task: string }>()
      .node('start', ({ task }) => task)
      .node('left', ({ start }) => `${start} left`)
      .node('right', async ({ start }) => `${start} right`)
      .setEntry('start');
    const result = await flow.run({ task: 'x' });
    expect([result.answerKey, result.nodesRun.at(-1), result.answer]).toEqual([undefined, 'right', 'x right']);
  });

  test('[53] is empty when the last node has no entry of its own', async () => {
    const flow = graph<Loose>()
      .addNode('a', () => ({ other: 'x' }))
      .setEntry('a');
    expect((await flow.run()).answer).toBe('');
  });

  test('[53] is there also when the run failed', async () => {
    const flow = graph<Loose>({ answerKey: 'out' })
      .addNode('a', () => ({ out: 'so far' }))
      .addNode('bad', () => Promise.reject(new Error('no')))
      .addEdge('a', 'bad')
      .setEntry('a');
    const result = await flow.run();
    expect([result.success, result.answer]).toEqual([false, 'so far']);
  });

  test('of one run may come from another key', async () => {
    const result = await shout().run({ task: 'x' }, { answerKey: 'draft' });
    expect([result.answerKey, result.answer]).toEqual(['draft', 'About x.']);
    expect(result.events.at(-2)?.metadata).toEqual({ answer_key: 'draft', answer: 'About x.' });
  });
});

describe('a result', () => {
  test('[53] has state, success, error, events, steps, iterations, nodes and figures', async () => {
    const result = await shout().run({ task: 'x' }, { runId: 'r9' });
    expect(result).toMatchObject({
      runId: 'r9',
      state: { task: 'x', draft: 'About x.', loud: 'ABOUT X.' },
      success: true,
      outcome: 'succeeded',
      error: undefined,
      iterations: 2,
      nodesRun: ['draft', 'loud'],
      metrics: { errorCount: 0, nodeCount: 2 },
      census: { succeeded: 2, failed: 0, notRun: 0 },
    });
    expect([result.steps, result.events.length]).toEqual([result.events, 7]);
  });

  test('[53] counts each visit of a node', async () => {
    const flow = graph<{ n: number }>()
      .addNode('a', ({ n }) => ({ n: n + 1 }))
      .addConditionalEdge('a', ({ n }) => (n < 4 ? 'a' : 'END'))
      .setEntry('a');
    const result = await flow.run({ n: 0 });
    expect([result.iterations, result.metrics.nodeCount, result.nodesRun]).toEqual([4, 4, ['a', 'a', 'a', 'a']]);
  });

  test('of a run that keeps no events has the start and the end, and all else', async () => {
    const result = await shout().run({ task: 'x' }, { events: false });
    expect(outline(result.events)).toEqual(['workflow_start', 'answer', 'workflow_end']);
    expect(result).toMatchObject({ answer: 'ABOUT X.', nodesRun: ['draft', 'loud'], metrics: { nodeCount: 2 } });
    expect(outline(await collect(shout().stream({ task: 'x' }, { events: false })))).toEqual(outline(result.events));
  });

  test('is plain data: it can be written as JSON, with its events', async () => {
    const result = await shout().run({ task: 'x' });
    const read = JSON.parse(JSON.stringify(result)) as typeof result;
    expect(outline(read.events)).toEqual(outline(result.events));
    expect(read.state).toEqual(result.state);
  });
});

describe('figures of the last run', () => {
  test('[54] are null before a run, on the graph, the compiled graph and the agent', () => {
    const flow = shout();
    expect([flow.metrics, flow.compile().metrics, flow.asAgent().metrics]).toEqual([null, null, null]);
  });

  test('[54] are those of the last run, however it was started', async () => {
    const flow = shout();
    const { metrics } = await flow.run({ task: 'x' });
    expect([flow.metrics, flow.compile().metrics, flow.asAgent().metrics]).toEqual([metrics, metrics, metrics]);
    expect(metrics).toEqual({ totalTimeMs: expect.any(Number) as unknown, errorCount: 0, nodeCount: 2 });
    await flow.run({});
    expect(flow.metrics?.nodeCount).toBe(0);
    await collect(flow.stream({ task: 'x' }));
    expect(flow.metrics?.nodeCount).toBe(2);
    await flow.run({});
    await flow.asAgent().run('x');
    expect(flow.metrics?.nodeCount).toBe(2);
  });
});

describe('a graph as an agent', () => {
  test('[56] takes a task, and gives answer, success, steps and figures', async () => {
    const agent: AgentLike = shout().asAgent();
    const result = await agent.run('looms');
    expect(result).toMatchObject({ answer: 'ABOUT LOOMS.', success: true, iterations: 2, metrics: { nodeCount: 2 } });
    expect(result.steps?.map((event) => event.type).at(-1)).toBe('workflow_end');
  });

  test('[56] binds the task to the input of its choice, and answers from the key of its choice', async () => {
    const flow = graph<{ question: string }>({ taskParam: 'question' })
      .node('draft', ({ question }) => `About ${question}.`)
      .node('loud', ({ draft }) => draft.toUpperCase())
      .setEntry('draft');
    expect((await flow.asAgent().run('a')).answer).toBe('ABOUT A.');
    expect((await flow.asAgent({ answerKey: 'draft' }).run('a')).answer).toBe('About a.');
    expect((await shout().asAgent({ taskParam: 'other' }).run('a')).error?.message).toContain("'task' is missing");
    const events = await collect(flow.compile().asAgent({ answerKey: 'draft' }).stream('b'));
    expect(events.find((event) => event.type === 'answer')?.metadata).toEqual({
      answer_key: 'draft',
      answer: 'About b.',
    });
  });

  test('[56] a task that is no text is a wrong call', async () => {
    for (const task of [5, null, undefined, { task: 'x' }]) {
      await expect(
        shout()
          .asAgent()
          .run(task as never),
      ).rejects.toMatchObject({ code: 'SKEIN_USAGE' });
      await expect(
        collect(
          shout()
            .asAgent()
            .stream(task as never),
        ),
      ).rejects.toMatchObject({ code: 'SKEIN_USAGE' });
    }
  });

  test('[56] a run that fails is told, not thrown', async () => {
    const bad = graph<{ task: string }>()
      .node('bad', ({ task }): string => {
        throw new Error(`no ${task}`);
      })
      .setEntry('bad');
    expect(await bad.asAgent().run('x')).toMatchObject({ success: false, error: { message: 'no x' } });
  });

  test('[56] can be stopped', async () => {
    const controller = new AbortController();
    const waiting = graph<{ task: string }>()
      .node('wait', ({ task }, step) => {
        controller.abort(new Error(`no more ${task}`));
        return new Promise<string>(() => void step.signal);
      })
      .setEntry('wait');
    const result = await waiting.asAgent().run('x', { signal: controller.signal });
    expect(result.error?.message).toBe('no more x');
  });
});
