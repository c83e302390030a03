import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/base/problem.js';
import { definePlan } from '../../src/plan/builder.js';
import type { AskInput, StateOf } from '../../src/plan/builder-input.js';
import { checkPlan } from '../../src/plan/checks.js';
import type { Plan } from '../../src/plan/plan.js';

function planOf(more: Partial<AskInput<StateOf>>): Plan {
  return definePlan({ name: 'p', nodes: [{ id: 'q', kind: 'ask', question: 'Publish?', ...more }] }).plan;
}

function found(more: Partial<AskInput<StateOf>>): readonly string[] {
  return checkPlan(planOf(more)).map(({ code, path }: Problem) => `${code} ${path ?? ''}`);
}

const CHOICES = { choices: ['yes', 'no'] };

describe('the expiry of a question', () => {
  it('is part of the plan as it was written', () => {
    const written = { ...CHOICES, expiresMs: 5, onExpire: { answer: 'no' } } as const;
    expect(planOf(written).nodes[0]).toMatchObject(written);
    expect(found(written)).toEqual([]);
    expect(found({ expiresMs: 0.5 * 365 * 86_400_000, onExpire: 'fail' })).toEqual([]);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('is a positive number, not %d', (expiresMs) => {
    expect(found({ expiresMs })).toEqual(['bad-limit nodes[0].expiresMs']);
  });

  it('must have a time when it has a consequence', () => {
    expect(found({ onExpire: 'fail' })).toEqual(['bad-expiry nodes[0].onExpire']);
    expect(found({ onExpire: { answer: 1 } })).toEqual(['bad-expiry nodes[0].onExpire']);
  });

  it('gives an answer that a person could give', () => {
    const answer = (value: string | number, asked: Partial<AskInput<StateOf>>): readonly string[] =>
      found({ expiresMs: 5, onExpire: { answer: value }, ...asked });
    expect(answer('no', CHOICES)).toEqual([]);
    expect(answer('perhaps', CHOICES)).toEqual(['bad-expiry nodes[0].onExpire.answer']);
    expect(answer(3, { schema: { type: 'integer' } })).toEqual([]);
    expect(answer('3', { schema: { type: 'integer' } })).toEqual(['bad-expiry nodes[0].onExpire.answer']);
    expect(answer(3, { ...CHOICES, schema: { type: 'integer' } })).toEqual([]);
    expect(answer('anything', {})).toEqual([]);
  });

  it.each([{ expiresMs: 'soon' }, { onExpire: 'never' }, { onExpire: {} }, { onExpire: [] }])(
    'has the form of one: not %j',
    (wrong) => {
      expect(found({ expiresMs: 5, ...wrong } as never)[0]).toMatch(/^bad-/);
    },
  );
});
