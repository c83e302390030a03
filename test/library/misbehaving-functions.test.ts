import { describe, expect, test } from 'vitest';
import { definePlan, run } from 'skein';

type Body = (state: Readonly<Record<string, unknown>>) => unknown;

/** What a step does, and what comes of it. */
interface Bad {
  readonly bad: Body;
  readonly more?: object;
  /** Default: it failed. */
  readonly outcome?: string;
  readonly error: readonly [code: string, message: string];
}

/** One step that does something bad, beside one that waits, and one behind both. */
function besides(bad: Body, more: object = {}) {
  let aborted = false;
  const workflow = definePlan({
    name: 'misbehaving',
    inputs: [{ name: 'doc', default: { tags: ['a'] } }],
    nodes: [
      {
        id: 'waits',
        run: (_state, { signal }) =>
          new Promise<void>(() => signal.addEventListener('abort', () => void (aborted = true), { once: true })),
      },
      { id: 'bad', run: bad, ...more },
      { id: 'after', output: 'after', run: () => 1 },
    ],
    edges: [
      ['bad', 'after'],
      ['waits', 'after'],
    ],
  });
  return { workflow, wasAborted: () => aborted };
}

describe('a step that misbehaves ends the run with its error, aborts its siblings and keeps the state so far', () => {
  const text: unknown = 'just text';
  test.each<readonly [string, Bad]>([
    [
      'never settles, with a timeout',
      {
        bad: () => new Promise(() => undefined),
        more: { timeoutMs: 5 },
        outcome: 'timed_out',
        error: ['SKEIN_TIMEOUT', "'bad' took longer than its timeout of 5 ms"],
      },
    ],
    [
      'throws a string',
      {
        bad: () => {
          throw text;
        },
        error: ['SKEIN_STEP_FAILED', 'just text'],
      },
    ],
    ['returns 42', { bad: () => 42, error: ['SKEIN_BAD_UPDATE', "'bad' returned a number, which is not an update"] }],
    [
      'returns a key that it does not declare',
      {
        bad: () => ({ other: 1 }),
        more: { writes: ['mine'] },
        error: ['SKEIN_BAD_UPDATE', "'bad' returned 'other', which it does not declare to write"],
      },
    ],
    [
      'changes an input deep inside',
      {
        bad: ({ doc }) => (doc as { tags: string[] }).tags.push('b'),
        error: ['SKEIN_STATE_MUTATED', 'Cannot add property 1, object is not extensible'],
      },
    ],
  ])('%s', async (_name, { bad, more, outcome = 'failed', error }) => {
    const { workflow, wasAborted } = besides(bad, more);
    const result = await run(workflow).result;
    expect([result.outcome, result.error?.code, result.error?.message]).toEqual(['failed', ...error]);
    expect(result.state).toEqual({ doc: { tags: ['a'] } });
    expect(wasAborted()).toBe(true);
    expect(result.steps.map((step) => [step.path, step.outcome])).toEqual([
      ['bad', outcome],
      ['waits', 'cancelled'],
    ]);
    expect(result.census).toMatchObject({ succeeded: 0, cancelled: 1, notRun: 1 });
  });

  test.each([[42], [{}], ['nowhere'], [undefined], [new Error('no')]])('a router that answers %j', async (answer) => {
    const workflow = definePlan({
      name: 'p',
      entry: 'a',
      nodes: [
        { id: 'a', output: 'a', run: () => 1 },
        { id: 'b', output: 'b', run: () => 2 },
      ],
      routes: [{ from: 'a', choose: () => answer, targets: ['b'] }],
    });
    const { outcome, error, state } = await run(workflow).result;
    expect([outcome, error?.code, state]).toEqual(['failed', 'SKEIN_BAD_ROUTE', {}]);
  });

  test('who passes an object in finds it as it was', async () => {
    const doc = { tags: ['a'] };
    const { workflow } = besides(({ doc: mine }) => (mine as { tags: string[] }).tags.push('b'));
    await run(workflow, { inputs: { doc } }).result;
    doc.tags.push('mine again');
    expect(doc).toEqual({ tags: ['a', 'mine again'] });
  });
});

test('200 runs of one workflow at once know nothing of one another', async () => {
  const workflow = definePlan({
    name: 'many',
    openInputs: true,
    channels: { log: 'append' },
    nodes: [
      { id: 'a', run: async ({ n }) => (await Promise.resolve(), { log: n, [`own${String(n)}`]: true }) },
      { id: 'b', run: ({ n }) => ({ log: Number(n) * 2 }) },
      { id: 'c', output: 'path', run: (state, step) => [step.runId, ...Object.keys(state).toSorted()] },
    ],
    edges: [
      ['a', 'c'],
      ['b', 'c'],
    ],
  });
  const results = await Promise.all(
    Array.from({ length: 200 }, (_, n) => run(workflow, { inputs: { n }, runId: `r${n}` }).result),
  );
  expect(results.map(({ state }) => state)).toEqual(
    Array.from({ length: 200 }, (_, n) => ({
      n,
      log: [n, n * 2],
      [`own${n}`]: true,
      path: [`r${n}`, 'log', 'n', `own${n}`],
    })),
  );
});
