import { describe, expect, test } from 'vitest';
import { definePlan, run, runOrThrow, streamRun } from 'skein';
import type { SkeinEvent } from 'skein';
import { rejected } from '../thrown.js';

const greeting = definePlan({
  name: 'greeting',
  inputs: ['who', { name: 'greeting', default: 'Hello' }],
  nodes: [
    { id: 'greet', output: 'text', run: ({ who, greeting: word }) => `${word as string} ${who as string}` },
    { id: 'shout', output: 'loud', run: ({ text }: { text: string }) => text.toUpperCase() },
  ],
  edges: [['greet', 'shout']],
});

const failing = definePlan({
  name: 'failing',
  nodes: [
    { id: 'first', output: 'first', run: () => 1 },
    {
      id: 'second',
      run: () => {
        throw new TypeError('no such luck');
      },
    },
  ],
  edges: [['first', 'second']],
});

describe('run', () => {
  test.each([
    ['resume', { resume: 'r' }],
    ['fork', { fork: { run: 'r' } }],
  ])('%s without the store does not begin from nothing', async (option, options) => {
    const error = await rejected(() => run(greeting, { inputs: { who: 'you' }, ...options }).result);
    expect([error.code, error.message]).toEqual([
      'SKEIN_USAGE',
      `${option} needs the store in which the run is recorded`,
    ]);
  });

  test('gives outcome, final state and census', async () => {
    const { result } = run(greeting, { inputs: { who: 'Ada' } });
    expect(await result).toMatchObject({
      outcome: 'succeeded',
      state: { who: 'Ada', greeting: 'Hello', text: 'Hello Ada', loud: 'HELLO ADA' },
      census: { succeeded: 2, failed: 0, notRun: 0 },
      steps: [],
    });
  });

  test('S4: what happens inside of steps is in the result, with the state so far, and is not thrown', async () => {
    expect(await run(failing).result).toMatchObject({
      outcome: 'failed',
      state: { first: 1 },
      error: { code: 'SKEIN_STEP_FAILED', message: 'no such luck', name: 'TypeError' },
      steps: [{ path: 'second', outcome: 'failed' }],
    });
  });

  test('a workflow that could not be loaded says why', async () => {
    const problem = { code: 'file-missing', severity: 'error', message: 'there is no flow.yaml' } as const;
    const error = await rejected(() => run({ plan: undefined, problems: [problem] }));
    expect(error).toMatchObject({ code: 'SKEIN_DEFINITION', details: { problems: [problem] } });
    expect(error.message).toContain('there is no flow.yaml');
  });

  test('a plan with problems never starts, and all of them are told', async () => {
    const broken = definePlan({ name: 'broken', nodes: [{ id: 'a b', run: () => ({}) }], edges: [['a b', 'nowhere']] });
    const error = await rejected(() => run(broken));
    expect(error.code).toBe('SKEIN_DEFINITION');
    expect(error.details).toMatchObject({ problems: [{ code: 'unknown-node' }, { code: 'bad-id' }] });
  });

  test.each([
    ['one that is missing', {}, "'who'"],
    ['one that nobody asked for', { who: 'Ada', whom: 'Eve' }, "'whom'"],
  ])('inputs are checked before anything starts: %s', async (_, inputs, name) => {
    const events: SkeinEvent[] = [];
    const error = await rejected(() => run(greeting, { inputs, listeners: [(event) => events.push(event)] }));
    expect(error.code).toBe('SKEIN_INPUT');
    expect(error.message).toContain(name);
    expect(events).toEqual([]);
  });

  test('a run that is cancelled says so, and the running step is aborted', async () => {
    let aborted = false;
    const waiting = definePlan({
      name: 'waiting',
      nodes: [
        {
          id: 'wait',
          run: (_state, step) =>
            new Promise(() => {
              step.signal.addEventListener('abort', () => (aborted = true));
            }),
        },
      ],
    });
    const handle = run(waiting);
    handle.cancel('enough');
    expect(await handle.result).toMatchObject({ outcome: 'cancelled', census: { cancelled: 1 } });
    expect(aborted).toBe(true);
  });
});

describe('listeners', () => {
  test('get events that are JSON, numbered without gaps, with run, time and path', async () => {
    const events: SkeinEvent[] = [];
    await run(greeting, { inputs: { who: 'Ada' }, runId: 'run-7', listeners: [(event) => events.push(event)] }).result;
    expect(JSON.parse(JSON.stringify(events))).toEqual(events);
    expect(events.map((event) => event.seq)).toEqual(events.map((_, at) => at));
    expect(new Set(events.map((event) => event.runId))).toEqual(new Set(['run-7']));
    expect(events.map((event) => [event.type, event.path])).toEqual([
      ['run.started', ''],
      ['step.started', 'greet'],
      ['step.ended', 'greet'],
      ['step.started', 'shout'],
      ['step.ended', 'shout'],
      ['run.ended', ''],
    ]);
  });

  test('that throw fail nothing, are not called again, and keep no other from its events', async () => {
    let calls = 0;
    const other: SkeinEvent[] = [];
    const { result } = run(greeting, {
      inputs: { who: 'Ada' },
      listeners: [
        () => {
          calls += 1;
          throw new Error('a broken listener');
        },
        (event) => other.push(event),
      ],
    });
    expect((await result).outcome).toBe('succeeded');
    expect([calls, other.length]).toEqual([1, 6]);
  });
});

describe('runOrThrow', () => {
  test('gives the final state', async () => {
    expect((await runOrThrow(greeting, { inputs: { who: 'Ada' } }))['loud']).toBe('HELLO ADA');
  });

  test('throws what made the run fail', async () => {
    const error = await rejected(() => runOrThrow(failing));
    expect([error.code, error.message]).toEqual(['SKEIN_STEP_FAILED', 'no such luck']);
  });

  test('throws the question that nobody answered', async () => {
    const asking = definePlan({ name: 'asking', nodes: [{ id: 'ask', kind: 'ask', question: 'Go?', output: 'go' }] });
    expect((await rejected(() => runOrThrow(asking))).code).toBe('SKEIN_QUESTION');
  });
});

describe('streamRun', () => {
  test('gives the events as they happen, and the result at the end', async () => {
    const stream = streamRun(greeting, { inputs: { who: 'Ada' } });
    const types: string[] = [];
    for (;;) {
      const next = await stream.next();
      if (next.done === true) {
        expect(next.value).toMatchObject({ outcome: 'succeeded', state: { loud: 'HELLO ADA' } });
        break;
      }
      types.push(next.value.type);
    }
    expect([types.length, types[0], types.at(-1)]).toEqual([6, 'run.started', 'run.ended']);
  });

  test('leaving the loop cancels the run', async () => {
    let tell: (reason: unknown) => void = () => undefined;
    const aborted = new Promise((resolve) => {
      tell = resolve;
    });
    const waiting = definePlan({
      name: 'waiting',
      nodes: [
        {
          id: 'wait',
          run: (_state, step) =>
            new Promise(() => {
              step.signal.addEventListener('abort', () => tell(step.signal.reason));
            }),
        },
      ],
    });
    for await (const event of streamRun(waiting)) if (event.type === 'step.started') break;
    expect(await aborted).toMatchObject({ code: 'SKEIN_CANCELLED' });
  });
});
