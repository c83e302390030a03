import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { startRun } from '../../../src/engine/run.js';
import { tell } from '../../guard/support/figures.js';
import { cases, seedOf } from '../../thorough.js';
import { plan, task } from '../plans.js';

/** A value that carries, by itself, the names of the inputs that it was made of. */
interface Marked {
  readonly from: readonly string[];
}

const INPUTS = ['in0', 'in1', 'in2', 'in3'];

/** Node `at` of a plan without choices reads some of the channels before it, and writes its own one or the list. */
interface RawStep {
  readonly reads: number;
  readonly after: number;
  readonly list: boolean;
}

const steps = fc.array(fc.record({ reads: fc.nat(1023), after: fc.nat(255), list: fc.boolean() }), {
  minLength: 1,
  maxLength: 8,
});

function marks(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(marks);
  return value === undefined ? [] : (value as Marked).from;
}

function bodyOf({ reads, list }: RawStep, names: readonly string[], own: string) {
  const mine = names.filter((_, at) => (reads >> at) % 2 === 1);
  return (state: Readonly<Record<string, unknown>>): Record<string, unknown> => {
    const from = [...new Set(mine.flatMap((name) => marks(state[name])))];
    return { [list ? 'list' : own]: { from } };
  };
}

describe('labels are not more than what was read', () => {
  test('values that carry by themselves what they were made of have exactly these sources', async () => {
    let n = 0;
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(15), async (raw, untrusted) => {
        const own = raw.map((_, at) => `own${at}`);
        const names = [...INPUTS, 'list', ...own];
        const graph = plan({
          inputs: INPUTS.map((name) => ({ name, channel: name, required: true })),
          channels: [...INPUTS, 'list:append', ...own],
          nodes: raw.map((_, at) => task(`n${at}`)),
          edges: raw.flatMap(({ after }, to) =>
            raw.flatMap((_, from) => (from < to && (after >> from) % 2 === 1 ? [`n${from}>n${to}`] : [])),
          ),
        });
        const bindings = Object.fromEntries(raw.map((step, at) => [`n${at}`, bodyOf(step, names, `own${at}`)]));
        const inputs = Object.fromEntries(INPUTS.map((name) => [name, { from: [name] }]));
        const doubted = INPUTS.filter((_, at) => (untrusted >> at) % 2 === 1);
        const { state, labels = {} } = await startRun(graph, { inputs, bindings, untrusted: doubted }).result;
        for (const [name, value] of Object.entries(state)) {
          const wanted = [...new Set(marks(value))].filter((one) => doubted.includes(one)).toSorted();
          n += 1;
          expect(labels[name]?.sources ?? [], name).toEqual(wanted.map((one) => `input:${one}`));
        }
      }),
      { numRuns: cases(300), seed: seedOf(16) },
    );
    tell({
      what: 'labels: values that carry by themselves where they come from',
      n,
      forbidden: 0,
      goal: 'exactly these sources',
    });
  });
});
