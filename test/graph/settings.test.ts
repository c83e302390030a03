import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { graph } from '../../src/graph.js';

/** What users of plain JavaScript may write. */
const loose = graph as (settings: unknown) => unknown;

describe('settings of a graph that types would refuse', () => {
  it.each([
    [{ maxStep: 5 }, 'a graph has no option "maxStep"', 'did you mean "maxSteps"?'],
    [{ zzzzzzzz: 5 }, 'a graph has no option "zzzzzzzz"', 'options are: name'],
    [{ policy: 'enforced' }, 'there is no policy "enforced"', 'quickEnforce'],
    [{ invariants: {} }, 'the option "invariants" is a list', 'invariants: ['],
    [{ invariants: [{ message: 'm' }] }, 'an invariant needs a predicate', 'invariants: ['],
    [{ invariants: [null] }, 'an invariant needs a predicate', 'invariants: ['],
    [{ invariants: [{ predicate: () => true, policy: 5 }] }, 'there is no policy 5', 'quickEnforce'],
  ])('%j is refused at once', (settings, message, hint) => {
    let refused: unknown;
    try {
      loose(settings);
    } catch (error) {
      refused = error;
    }
    expect(refused).toMatchObject({ code: 'SKEIN_USAGE', message });
    expect(refused).toHaveProperty('hint', expect.stringContaining(hint));
  });

  it.each([
    [z.object({ a: z.string() }), 'one schema'],
    [{ a: z.string(), b: 'number' }, 'the key "b" is not a valid schema'],
    ['text', 'schemas by key'],
  ])('a state of another form is refused, case %#', (state, message) => {
    expect(() => loose({ state })).toThrow(message);
    expect(() => loose({ state })).toThrow('bad-schema');
  });

  it('those that there are pass', () => {
    const all = {
      name: 'all',
      description: 'All of them.',
      state: { a: z.string() },
      inputs: ['a'],
      reducers: { a: 'last' },
      invariants: [{ predicate: () => true, message: 'm', policy: 'observe' }],
      policy: 'ignore',
      maxSteps: 5,
      concurrency: 2,
      answerKey: 'a',
      taskParam: 'a',
      firstExitWins: true,
    };
    expect(() => loose(all)).not.toThrow();
  });
});
