import fc from 'fast-check';
import { expect, test } from 'vitest';
import { definePlan, memoryStore, run } from 'skein';
import type { RunOptions } from 'skein';
import type { TaskStep } from 'skein/graph';
import { cases, seedOf } from '../thorough.js';

/** A node before it has a name: what its function reads, and how it goes about it. */
interface Raw {
  /** Which earlier nodes it comes after: bit k is node k. */
  readonly after: number;
  /** Which channels it reads before its part, inside of it, and after it: bits. */
  readonly reads: readonly [number, number, number];
  readonly usesPart: boolean;
  readonly asks: boolean;
  /** How many attempts fail, after all has been read. */
  readonly failures: number;
}

const rawPlan = fc.array(
  fc.record<Raw>({
    after: fc.nat(63),
    reads: fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255)),
    usesPart: fc.boolean(),
    asks: fc.nat(3).map((n) => n === 0),
    failures: fc.nat(2),
  }),
  { minLength: 1, maxLength: 5 },
);

type State = Readonly<Record<string, unknown>>;

/** `edited`: the nodes whose functions were edited, as bits. Their results differ, or not. */
function planOf(raw: readonly Raw[], edited: number) {
  const names = ['x', 'y', ...raw.map((_, at) => `n${at}`)];
  const nodes = raw.map(({ reads, usesPart, asks, failures }, at) => {
    const edition = (edited >> at) % 2;
    const seen = (state: State, when: 0 | 1 | 2): string =>
      names
        .flatMap((name, bit) => ((reads[when] >> bit) % 2 === 1 ? [`${name}=${String(state[name])}`] : []))
        .join(' ');
    const body = async (state: State, step: TaskStep): Promise<string> => {
      const before = seen(state, 0);
      const part = usesPart ? await step.run('part', () => `${seen(state, 1)} ${edition}`) : '';
      const said = asks ? await step.ask({ text: `About ${before} ${part}?` }) : '';
      const after = seen(state, 2);
      if (step.attempt <= failures) throw new Error('busy');
      return `(${[before, part, said, after, at % 2 === 0 ? '' : edition].join(' ')})`;
    };
    const retry = { retries: 2, on: 'any', delayMs: 0, backoff: 'fixed' } as const;
    return { id: `n${at}`, output: `n${at}`, version: `${edition}`, retry, run: body };
  });
  const edges = raw.flatMap(({ after }, at) =>
    raw.flatMap((_, from) => (from < at && (after >> from) % 2 === 1 ? [[`n${from}`, `n${at}`]] : [])),
  );
  return definePlan({ name: 'random', inputs: ['x', 'y'], nodes, edges });
}

/** What a person says depends on the question. */
const ANSWER: Pick<RunOptions, 'answer'> = { answer: ({ text }) => Promise.resolve(`re ${text}`) };

test('[J4] a fork with other inputs or of an edited workflow, and a fork of that one, end like a run of their own', async () => {
  let forks = 0;
  await fc.assert(
    fc.asyncProperty(rawPlan, fc.nat(31), fc.nat(3), async (raw, edited, other) => {
      const store = memoryStore();
      const inputs = { x: 'a', y: 'b' };
      const others = { x: other % 2 === 0 ? 'a' : 'c', y: other < 2 ? 'b' : 'd' };
      const plans = [planOf(raw, 0), planOf(raw, edited)] as const;
      await run(plans[0], { ...ANSWER, store, runId: '0', inputs }).result;
      const steps = [
        [plans[0], others],
        [plans[1], others],
        [plans[0], inputs],
      ] as const;
      for (const [at, [plan, given]] of steps.entries()) {
        const fresh = await run(plan, { ...ANSWER, inputs: given }).result;
        const fork = { run: String(at) };
        const forked = await run(plan, { ...ANSWER, store, runId: String(at + 1), fork, inputs: given }).result;
        expect([forked.outcome, forked.state]).toEqual([fresh.outcome, fresh.state]);
        forks += 1;
      }
    }),
    { numRuns: cases(30), seed: seedOf(20) },
  );
  expect(forks).toBeGreaterThan(60);
});
