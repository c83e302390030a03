import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { graph, planAndExecute } from '../../src/graph.js';
import { definePlan, streamRun } from '../../src/index.js';

type Events = AsyncGenerator<{ readonly type: string }>;
type Wait = (state: unknown, step: { readonly signal: AbortSignal }) => Promise<string>;

/** A function that never ends by itself, and promises of when it began and of why it was told to stop. */
function waiting() {
  let begin: () => void = () => undefined;
  let tell: (reason: unknown) => void = () => undefined;
  const began = new Promise<void>((resolve) => (begin = resolve));
  const stopped = new Promise((resolve) => (tell = resolve));
  const wait: Wait = (_state, { signal }) => {
    signal.addEventListener('abort', () => {
      tell(signal.reason);
    });
    begin();
    return new Promise(() => undefined);
  };
  return { began, stopped, wait };
}

/** Reads all that comes; returns the promise of an event that does not. */
async function pendingAfter(began: Promise<void>, stream: Events) {
  for (;;) {
    const asked = stream.next();
    const quiet = began.then(() => new Promise((resolve) => setImmediate(resolve)));
    if (!(await Promise.race([asked.then(() => true), quiet.then(() => false)]))) return { asked };
  }
}

const graphOf = (wait: Wait) => graph<{ task: string }>().node('wait', wait, { inputs: [] }).setEntry('wait');
const executor = { run: () => 'done' };

const STREAMS: Readonly<Record<string, (wait: Wait) => Events>> = {
  'a graph': (wait) => graphOf(wait).stream({ task: 'x' }),
  'a compiled graph': (wait) => graphOf(wait).compile().stream({ task: 'x' }),
  'a graph as an agent': (wait) => graphOf(wait).asAgent().stream('x') as Events,
  'an agent': (wait) =>
    planAndExecute({
      planner: { run: (_, { signal } = {}) => wait({}, { signal: signal as AbortSignal }) },
      executor,
    }).stream('x'),
  streamRun: (wait) => streamRun(definePlan({ name: 'p', nodes: [{ id: 'wait', run: wait }] })),
};

describe.each(Object.entries(STREAMS))('the stream of %s, left while it waits for an event', (_, make) => {
  test('cancels the run at once, and then ends', async () => {
    const { began, stopped, wait } = waiting();
    const stream = make(wait);
    const { asked } = await pendingAfter(began, stream);
    const left = stream.return(undefined);
    await expect(stopped).resolves.toMatchObject({ code: 'SKEIN_CANCELLED' });
    expect([(await asked).done, (await left).done, (await stream.next()).done]).toEqual([false, true, true]);
  });

  test('cancels the run also where an error is thrown into it', async () => {
    const { began, stopped, wait } = waiting();
    const stream = make(wait);
    await pendingAfter(began, stream);
    const thrown = stream.throw(new Error('mine'));
    await expect(thrown).rejects.toThrow('mine');
    await expect(stopped).resolves.toMatchObject({ code: 'SKEIN_CANCELLED' });
  });

  test('cancels the run when a web stream of it is cancelled', async () => {
    const { began, stopped, wait } = waiting();
    const reader = ReadableStream.from(make(wait)).getReader();
    void reader.read().then(async function on({ done }): Promise<void> {
      if (!done) await on(await reader.read());
    });
    await began;
    await reader.cancel('the page was closed');
    await expect(stopped).resolves.toMatchObject({ code: 'SKEIN_CANCELLED' });
  });

  test('cancels the run when a stream of Node is destroyed', async () => {
    const { began, stopped, wait } = waiting();
    const readable = Readable.from(make(wait)).resume();
    await began;
    readable.destroy();
    await expect(stopped).resolves.toMatchObject({ code: 'SKEIN_CANCELLED' });
  });
});

test('a stream that is left before its first event was asked for starts nothing', async () => {
  let ran = 0;
  const stream = graphOf(async () => `ran ${(ran += 1)}`).stream({ task: 'x' });
  expect(await stream.return(undefined as never)).toEqual({ done: true, value: undefined });
  expect([(await stream.next()).done, ran]).toEqual([true, 0]);
});

test('a reader who leaves at once, while the first event is made, leaves no run behind', async () => {
  const { stopped, wait } = waiting();
  const stream = graphOf(wait).stream({ task: 'x' });
  const [first] = await Promise.all([stream.next(), stream.return(undefined as never)]);
  expect(first).toMatchObject({ done: false, value: { type: 'workflow_start' } });
  await expect(stopped).resolves.toMatchObject({ code: 'SKEIN_CANCELLED' });
});
