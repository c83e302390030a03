import { describe, expect, it } from 'vitest';
import type { SkeinError } from 'skein';
import { DOORS, outcome } from './doors.js';

/** What untyped code gives by mistake: a thing instead of its name, a promise or a function that was not called, null, one thing instead of a list. */
const VALUES: readonly unknown[] = [5, Number.NaN, '', 'x', true, null, {}, { a: 1 }, [], ['x'], [{}], [null], () => 1];

/** The names of the options, as the hint about one that does not exist lists them. */
async function namesOf(options: object, call: (options: object) => unknown): Promise<readonly string[]> {
  const error = await outcome(() => call({ ...options, [STRANGE]: 1 }));
  const { hint = '' } = error as SkeinError;
  return hint.replace('options are: ', '').split(', ');
}

/** Nothing is like it. */
const STRANGE = 'qqqqqqqq';

/** The errors of a call: what it throws, and what its run ends with. */
async function errorOf(call: () => unknown): Promise<unknown> {
  const got = await outcome(async () => {
    const given = (await call()) as { readonly result?: unknown } | undefined;
    return await given?.result;
  });
  return got instanceof Error ? got : (got as { readonly error?: unknown } | undefined)?.error;
}

describe('an option of another kind is refused or does no harm: it never ends in an error of JavaScript', () => {
  it.each(Object.entries(DOORS))('%s', async (_, [options, call]) => {
    const names = await namesOf(options, call);
    expect(names.length).toBeGreaterThan(0);
    const wrong: string[] = [];
    for (const name of names) {
      for (const value of VALUES) {
        const error = await errorOf(() => call({ ...options, [name]: value }));
        if (error === undefined || error === null) continue;
        const code = (error as { readonly code?: unknown }).code;
        if (typeof code !== 'string' || !code.startsWith('SKEIN_') || code === 'SKEIN_INTERNAL')
          wrong.push(
            `${name}: ${JSON.stringify(value)}: ${error instanceof Error ? error.message : JSON.stringify(error)}`,
          );
      }
    }
    expect(wrong).toEqual([]);
  });
});
