import { describe, expect, test } from 'vitest';
import { SkeinError } from '../../src/base/errors.js';
import { compile } from '../../src/engine/graph/compile.js';
import type { RunResult } from '../../src/engine/run.js';
import { startRun } from '../../src/engine/run.js';
import type { SkeinEvent } from '../../src/events/event.js';
import type { Plan } from '../../src/plan/plan.js';
import type { Backend, BegunRun } from '../../src/runtime/backends/backend.js';
import type { RunOptions } from '../../src/runtime/options.js';
import { openModels } from '../../src/runtime/launch.js';
import { fails, outcomes, plan, task, writes } from './plans.js';

/** A kind of back end under test. */
export interface BackendKind {
  readonly name: string;
  /** A back end of its own for each test. Absent `answer`: it keeps nothing that a run could go on with. */
  readonly make: () => Promise<{
    readonly backend: Backend;
    readonly answer?: (runId: string, value: unknown) => void;
  }>;
}

interface Ran {
  readonly result: RunResult;
  readonly events: readonly SkeinEvent[];
  readonly durable: BegunRun['start']['durable'];
}

const RUN = 'run-1';

/** Runs a plan on a back end, through nothing but its port. */
async function runOn(
  backend: Backend,
  thePlan: Plan,
  bindings: Readonly<Record<string, unknown>>,
  options: RunOptions & { readonly stop?: (cancel: (reason: string) => void) => void } = {},
): Promise<Ran> {
  const events: SkeinEvent[] = [];
  const { stop, ...given } = options;
  const compiled = compile(thePlan, bindings);
  const definition = {
    runId: given.resume ?? RUN,
    compiled,
    models: openModels({ models: { mock: true, env: {} } }),
    signal: () => new AbortController().signal,
    launch: () => {
      throw new Error('no run needs another one here');
    },
  };
  const opened = await backend.open(definition, given);
  const owner = { cancel: (_reason: string) => undefined as unknown };
  const { start, close } = opened.begin({ cancel: (reason) => void owner.cancel(reason) });
  const handle = startRun(compiled, { ...start, listeners: [(event) => events.push(event)] });
  owner.cancel = (reason) => handle.cancel(reason);
  stop?.((reason) => handle.cancel(reason));
  return { result: close(await handle.result), events, durable: start.durable };
}

const soon = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What every back end promises to the interpreter, and to who runs a run. */
export function backendsConform(kinds: readonly BackendKind[]): void {
  describe.each(kinds)('steps on a back end: $name', ({ make }) => {
    test('end at once or later, and what comes after them sees what they gave', async () => {
      const one = plan({ nodes: ['a', 'b', 'c'], edges: ['a>c', 'b>c'], channels: ['x', 'y', 'sum'] });
      const { result, durable } = await runOn((await make()).backend, one, {
        a: writes({ x: 1 }),
        b: async () => {
          await soon(1);
          return { y: 2 };
        },
        c: ({ x, y }: { x: number; y: number }) => ({ sum: x + y }),
      });
      expect(result).toMatchObject({ runId: RUN, outcome: 'succeeded', state: { x: 1, y: 2, sum: 3 }, ran: 3 });
      expect(durable.runId).toBe(RUN);
    });

    test('are delivered one at a time, in the order in which they ended', async () => {
      const ids = ['a', 'b', 'c', 'd'];
      const enders = new Map<string, () => void>();
      const bindings = Object.fromEntries(
        ids.map((id) => [id, () => new Promise<object>((resolve) => enders.set(id, () => resolve({ log: id })))]),
      );
      const running = runOn((await make()).backend, plan({ nodes: ids, channels: ['log:append'] }), bindings);
      while (enders.size < ids.length) await soon(1);
      const order = ['c', 'a', 'd', 'b'];
      for (const id of order) {
        enders.get(id)?.();
        await soon(5);
      }
      const { events } = await running;
      expect(events.filter(({ type }) => type === 'step.ended').map(({ path }) => path)).toEqual(order);
    });

    test('fail with all that is said of the failure', async () => {
      const error = new SkeinError('SKEIN_TOOL_FAILED', 'no post today', {
        hint: 'try tomorrow',
        details: { day: 'Sunday' },
      });
      const { result } = await runOn((await make()).backend, plan({ nodes: ['a'] }), {
        a: () => Promise.reject(error),
      });
      expect(result).toMatchObject({
        outcome: 'failed',
        error: {
          code: 'SKEIN_TOOL_FAILED',
          message: 'no post today',
          hint: 'try tomorrow',
          details: { day: 'Sunday' },
        },
      });
    });

    test('are tried again after a timer', async () => {
      let tries = 0;
      const flaky = async (): Promise<object> => {
        await soon(0);
        tries += 1;
        return tries < 3 ? fails('not yet')() : { n: tries };
      };
      const retry = { retries: 2, backoff: 'fixed', delayMs: 1, on: 'any' } as const;
      const one = plan({ nodes: [task('a', { retry })], channels: ['n'] });
      const { result } = await runOn((await make()).backend, one, { a: flaky });
      expect(result).toMatchObject({ outcome: 'succeeded', state: { n: 3 } });
    });

    test('that take too long are aborted, and what they give later counts no more', async () => {
      let aborted = false;
      const slow = async (_: unknown, { signal }: { readonly signal: AbortSignal }): Promise<object> => {
        while (!signal.aborted) await soon(1);
        aborted = true;
        return { n: 'late' };
      };
      const one = plan({ nodes: [task('a', { timeoutMs: 20 }), 'b'], edges: ['a>b'], channels: ['n'] });
      const { result } = await runOn((await make()).backend, one, { a: slow, b: writes({ n: 'b' }) });
      expect(result).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_TIMEOUT' }, state: {} });
      await soon(10);
      expect(aborted).toBe(true);
    });

    test('are aborted when the run is cancelled', async () => {
      let cancel: (reason: string) => void = () => undefined;
      const hangs = async (_: unknown, { signal }: { readonly signal: AbortSignal }): Promise<void> => {
        await soon(1);
        cancel('enough');
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
      };
      const { backend } = await make();
      const { result } = await runOn(
        backend,
        plan({ nodes: ['a'] }),
        { a: hangs },
        {
          stop: (given) => (cancel = given),
        },
      );
      expect(result).toMatchObject({ outcome: 'cancelled', error: { message: 'enough' } });
      expect(outcomes(result)).toEqual({ a: 'cancelled' });
    });

    test('have random numbers that depend on the run and the key alone', async () => {
      const durables = await Promise.all(
        [0, 1].map(async () => runOn((await make()).backend, plan({ nodes: ['a'] }), { a: writes({}) })),
      );
      const [one, two] = durables.map(({ durable }) => ['k', 'l', 'k'].map((key) => durable.random(key)));
      expect(one).toEqual(two);
      expect(one?.[0]).toBe(one?.[2]);
      expect(one?.[0]).not.toBe(one?.[1]);
      for (const value of one ?? []) expect(value >= 0 && value < 1).toBe(true);
    });
  });

  const asking = plan({
    nodes: ['a', { kind: 'ask', id: 'ok', question: 'Publish?', choices: ['yes', 'no'], output: 'said' } as never, 'b'],
    edges: ['a>ok', 'ok>b'],
    channels: ['n', 'said', 'end'],
  });

  describe.each(kinds)('questions on a back end: $name', ({ make }) => {
    test('are answered by who runs it', async () => {
      const { result } = await runOn(
        (await make()).backend,
        asking,
        { a: writes({ n: 1 }), b: ({ said }: { said: string }) => ({ end: said }) },
        { answer: () => Promise.resolve('no') },
      );
      expect(result).toMatchObject({ outcome: 'succeeded', state: { n: 1, said: 'no', end: 'no' } });
    });

    test('pause the run when nobody answers', async () => {
      const { result } = await runOn((await make()).backend, asking, { a: writes({ n: 1 }), b: writes({}) });
      expect(result).toMatchObject({ outcome: 'paused', state: { n: 1 } });
      expect(result.questions.map(({ path, question }) => [path, question])).toEqual([['ok', 'Publish?']]);
    });
  });

  describe.each(kinds)('a run that is gone on with on a back end: $name', ({ make }) => {
    test('does nothing twice, or is refused where nothing is kept', async () => {
      const { backend, answer } = await make();
      const performed: string[] = [];
      const bindings = {
        a: async () => {
          await soon(1);
          performed.push('a');
          return { n: 1 };
        },
        b: ({ n, said }: { n: number; said: string }) => (performed.push('b'), { end: `${n} ${said}` }),
      };
      await runOn(backend, asking, bindings);
      if (answer === undefined) {
        await expect(runOn(backend, asking, bindings, { resume: RUN })).rejects.toMatchObject({ code: 'SKEIN_USAGE' });
        return;
      }
      answer(RUN, 'yes');
      expect(() => answer(RUN, 'no')).toThrow(expect.objectContaining({ code: 'SKEIN_ANSWER' }));
      const { result, events } = await runOn(backend, asking, bindings, { resume: RUN });
      expect(result).toMatchObject({ outcome: 'succeeded', state: { n: 1, said: 'yes', end: '1 yes' }, reused: 1 });
      expect(performed).toEqual(['a', 'b']);
      expect(events.filter(({ type }) => type === 'run.resumed')).toHaveLength(1);
      await expect(runOn(backend, asking, bindings, { resume: 'other' })).rejects.toMatchObject({
        code: 'SKEIN_NO_RUN',
      });
    });
  });
}
