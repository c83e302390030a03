import { describe, expect, test } from 'vitest';
import { SkeinError, type ErrorCode } from '../../../src/base/errors.js';
import { readHistory } from '../../../src/journal/session.js';
import { definePlan } from '../../../src/plan/builder.js';
import { run } from '../../../src/runtime.js';
import { memoryStore } from '../../../src/stores/memory.js';

const cycle: Record<string, unknown> = {};
cycle['self'] = cycle;

const VALUES: readonly (readonly [name: string, value: unknown])[] = [
  ['a function', () => 1],
  ['a cycle', cycle],
  ['a bigint', 1n],
  ['not a number', Number.NaN],
  ['a date', new Date(0)],
  ['a map', new Map()],
];

describe('what cannot be recorded', () => {
  test.each(VALUES)('%s as a result fails the step and says where', async (_name, value) => {
    const store = memoryStore();
    const workflow = definePlan({ name: 'p', nodes: [{ id: 'a', output: 'out', run: () => ({ deep: [value] }) }] });
    const result = await run(workflow, { store, runId: 'r' }).result;
    expect([result.outcome, result.error?.code]).toEqual(['failed', 'SKEIN_NOT_JSON']);
    expect(result.error?.message).toContain("'a'");
    expect(result.error?.message).toContain('deep');
    expect(readHistory(store, 'r').sessions.at(-1)?.end?.outcome).toBe('failed');
  });
});

const THROWN: readonly (readonly [name: string, thrown: unknown])[] = [
  ['a code that nobody knows', new SkeinError('SKEIN_FROM_TOMORROW' as ErrorCode, 'no')],
  ['details that are no JSON', new SkeinError('SKEIN_TIMEOUT', 'no', { details: cycle as never })],
  ['a bigint among the details', new SkeinError('SKEIN_TIMEOUT', 'no', { details: { n: 1n } as never })],
  ['a message that is no text', Object.assign(new Error('no'), { message: { a: 1 } })],
  ['a delay that is no number', new SkeinError('SKEIN_TIMEOUT', 'no', { retryAfterMs: Number.NaN })],
  ['an object without text', Object.create(null)],
  ['undefined', undefined],
];

describe('whatever a step throws', () => {
  test.each(THROWN)('%s is recorded so that the run can be read and goes on', async (_name, thrown) => {
    const store = memoryStore();
    let fails = true;
    const workflow = definePlan({
      name: 'p',
      nodes: [
        {
          id: 'a',
          output: 'out',
          run: async () => {
            await Promise.resolve();
            if (fails) throw thrown;
            return 1;
          },
        },
      ],
    });
    const first = await run(workflow, { store, runId: 'r' }).result;
    expect(first.outcome).toBe('failed');
    expect(typeof first.error?.message).toBe('string');
    expect(readHistory(store, 'r').sessions.at(-1)?.end?.error?.code).toBe(first.error?.code);
    fails = false;
    const second = await run(workflow, { store, resume: 'r' }).result;
    expect([second.outcome, second.state['out']]).toEqual(['succeeded', 1]);
  });
});

test('what a function changes after it has returned is no part of its result: it is recorded and delivered as it was returned', async () => {
  const store = memoryStore();
  const shared = { n: 1 };
  let refused = '';
  const plan = definePlan({
    name: 'late',
    nodes: [
      {
        id: 'gives',
        output: 'given',
        run: () => {
          queueMicrotask(() => {
            try {
              shared.n = 2;
            } catch (error) {
              refused = String(error);
            }
          });
          return shared;
        },
      },
    ],
  });
  const result = await run(plan, { store }).result;
  expect([result.state, refused]).toEqual([{ given: { n: 1 } }, expect.stringContaining('read only')]);
});

test('a promise of its own kind that settles twice is recorded once, as it settled first', async () => {
  const store = memoryStore();
  const settle = (resolve: (value: unknown) => void, reject: (error: unknown) => void): void => {
    resolve({ n: 1 });
    reject(new Error('too late'));
    queueMicrotask(() => resolve({ n: 2 }));
  };
  const twice = Object.fromEntries(['then'].map((name) => [name, settle]));
  const nodes = [
    { id: 'a', run: () => twice },
    { id: 'b', output: 'seen', run: ({ n }: { n?: unknown }) => n },
  ];
  const plan = definePlan({ name: 'twice', nodes, edges: [['a', 'b']] });
  const result = await run(plan, { store, runId: 'r' }).result;
  expect([result.outcome, result.state, result.ran]).toEqual(['succeeded', { n: 1, seen: 1 }, 2]);
  expect(readHistory(store, 'r').entries.get('a')).toHaveLength(1);
});

test('an error whose properties throw fails its step, and the run has an end', async () => {
  const store = memoryStore();
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const plan = definePlan({
    name: 'p',
    nodes: [
      {
        id: 'a',
        run: async () => {
          throw proxy as unknown;
        },
      },
    ],
  });
  const { outcome, error } = await run(plan, { store, runId: 'r' }).result;
  expect([outcome, error?.code]).toEqual(['failed', 'SKEIN_STEP_FAILED']);
  expect(readHistory(store, 'r').sessions.at(-1)?.end?.outcome).toBe('failed');
});
