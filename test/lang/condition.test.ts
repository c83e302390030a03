import { describe, expect, it } from 'vitest';
import { SkeinError } from '../../src/base/errors.js';
import { containsJson, evaluateCondition, evaluateConditions } from '../../src/lang/condition.js';
import { conditionText } from '../../src/lang/condition-text.js';
import type { Condition } from '../../src/lang/values.js';

const state: Record<string, unknown> = {
  'steps.scan.output': 'Result: RUN trivy',
  'steps.qa.output': '```json\n{"ok":true,"score":7,"tags":["a","b"],"who":{"name":"x","age":3}}\n```',
  'inputs.mode': ' fast\n',
  'inputs.empty': '',
  list: ['a', 'b'],
};
const read = (channel: string): unknown => state[channel];
const holds = (condition: Condition): boolean => evaluateCondition(condition, read).holds;

function text(op: 'contains' | 'not_contains' | 'equals', channel: string, operand: string): Condition {
  return { op, value: { channel }, operand: [operand] };
}

function reasonOf(condition: Condition): string | undefined {
  const verdict = evaluateCondition(condition, read);
  return verdict.holds ? undefined : verdict.reason;
}

describe('conditions on text', () => {
  it('contains: a case-sensitive part (statement 44)', () => {
    expect(holds(text('contains', 'steps.scan.output', 'RUN'))).toBe(true);
    expect(holds(text('contains', 'steps.scan.output', 'run'))).toBe(false);
    expect(holds(text('contains', 'steps.scan.output', ''))).toBe(true);
  });

  it('not_contains is its opposite, and holds for a skipped step (statement 28)', () => {
    expect(holds(text('not_contains', 'steps.scan.output', 'RUN'))).toBe(false);
    expect(holds(text('not_contains', 'steps.nobody.output', 'RUN'))).toBe(true);
    expect(holds(text('contains', 'steps.nobody.output', 'RUN'))).toBe(false);
  });

  it('equals trims both sides (statement 44)', () => {
    expect(holds(text('equals', 'inputs.mode', '  fast '))).toBe(true);
    expect(holds(text('equals', 'inputs.mode', 'Fast'))).toBe(false);
    expect(holds(text('equals', 'inputs.empty', ' '))).toBe(true);
  });

  it('compares other values as JSON text', () => {
    expect(holds(text('contains', 'list', '"b"'))).toBe(true);
  });

  it('reads a path, and a path that leads nowhere as nothing', () => {
    const at = (path: string[], operand: string): Condition => ({
      op: 'equals',
      value: { channel: 'steps.qa.output', path },
      operand: [operand],
    });
    expect(holds(at(['who', 'name'], 'x'))).toBe(true);
    expect(holds(at(['who', 'nobody'], ''))).toBe(true);
  });

  it('renders its operand (statement 40)', () => {
    const operand = [{ channel: 'list' }];
    expect(holds({ op: 'contains', value: { channel: 'steps.scan.output' }, operand: ['RUN ', 'trivy'] })).toBe(true);
    expect(reasonOf({ op: 'equals', value: { channel: 'inputs.mode' }, operand })).toBe(
      'inputs.mode is "fast", not "[\\"a\\",\\"b\\"]"',
    );
  });
});

describe('conditions on JSON', () => {
  const match = (operand: unknown, path?: string[]): Condition =>
    ({ op: 'matches_json', value: { channel: 'steps.qa.output', ...(path && { path }) }, operand }) as Condition;

  it('matches objects by the keys of the operand and lists as subsets', () => {
    expect(holds(match({ ok: true, tags: ['b'] }))).toBe(true);
    expect(holds(match({ who: { age: 3 } }))).toBe(true);
    expect(holds(match({ who: { age: '3' } }))).toBe(false);
    expect(holds(match({ tags: ['c'] }))).toBe(false);
    expect(holds(match(['a'], ['tags']))).toBe(true);
    expect(holds(match({}))).toBe(true);
  });

  it('does not match what is missing or no JSON', () => {
    expect(reasonOf(match({}, ['nope']))).toBe('steps.qa.output.nope is missing');
    expect(holds({ op: 'matches_json', value: { channel: 'steps.scan.output' }, operand: {} })).toBe(false);
    expect(holds({ op: 'matches_json', value: { channel: 'inputs.mode' }, operand: ' fast\n' })).toBe(true);
  });

  it('looks at own keys only', () => {
    expect(containsJson({}, { constructor: {} })).toBe(false);
    expect(containsJson({ a: null }, { a: null })).toBe(true);
    expect(containsJson({}, { a: null })).toBe(false);
  });
});

describe('conditions as expressions', () => {
  const steps = {
    fields: {
      qa: { fields: { output: { channel: 'steps.qa.output' } } },
      scan: { fields: { output: { channel: 'steps.scan.output' } } },
      no: { fields: { output: { channel: 'none' } } },
    },
  };
  const cel = (expression: string): Condition => ({
    op: 'cel',
    expression,
    vars: { steps, mode: { channel: 'inputs.mode' }, names: { channel: 'list' } },
  });

  it('reads JSON out of text where it looks into it', () => {
    expect(holds(cel('steps.qa.output.ok == true && steps.qa.output.score > 5 && "a" in steps.qa.output.tags'))).toBe(
      true,
    );
    expect(holds(cel('steps.qa.output.tags.exists(t, t == "z")'))).toBe(false);
  });

  it('leaves text alone elsewhere, and takes a missing value for the empty text (statement 29)', () => {
    expect(holds(cel('steps.scan.output.contains("RUN") && mode.trim() == "fast"'))).toBe(true);
    expect(holds(cel('steps.qa.output.startsWith("```")'))).toBe(true);
    expect(holds(cel('steps.no.output == "" && !steps.no.output.contains("x")'))).toBe(true);
  });

  it('gives its text as the reason', () => {
    expect(reasonOf(cel('size(names) > 3'))).toBe('"size(names) > 3" is false');
  });

  it('fails on a result that is neither true nor false, on a missing key, and on an expression that is none', () => {
    for (const expression of ['size(names)', 'steps.qa.output.nope == 1', 'a b']) {
      expect(() => holds(cel(expression))).toThrow(expect.objectContaining({ code: 'SKEIN_TEMPLATE' }) as Error);
    }
  });
});

describe('conditions as functions', () => {
  it('ask the caller', () => {
    expect(evaluateCondition({ op: 'code' }, read, () => true)).toEqual({ holds: true });
    expect(evaluateCondition({ op: 'code' }, read, () => false)).toEqual({
      holds: false,
      reason: 'its condition returned false',
    });
  });

  it('fail when nobody answers', () => {
    try {
      evaluateCondition({ op: 'code' }, read);
      expect.unreachable();
    } catch (error) {
      expect(SkeinError.isInstance(error) && error.code).toBe('SKEIN_NO_BINDING');
    }
  });
});

describe('several conditions', () => {
  it('must all hold; the first that does not gives the reason (decision 5)', () => {
    const both = [
      text('contains', 'steps.scan.output', 'RUN'),
      text('contains', 'steps.scan.output', 'STOP'),
      text('equals', 'list', ''),
    ];
    expect(evaluateConditions(both, read)).toEqual({
      holds: false,
      reason: 'steps.scan.output does not contain "STOP"',
    });
    expect(evaluateConditions([], read)).toEqual({ holds: true });
  });
});

describe('reasons', () => {
  it('are cut, on one line, without control characters', () => {
    const reason = reasonOf(text('contains', 'steps.scan.output', `\u001b[31m\n\u202e\u009b${'x'.repeat(500)}`)) ?? '';
    expect(reason).toMatch(/^steps\.scan\.output does not contain "\\u001b\[31m\\n\\u202e\\u009b/);
    expect(reason.length).toBeLessThan(160);
    expect(reason).toMatch(/…"$/);
    expect(/\p{Cc}|\u202e/u.test(reason)).toBe(false);
  });

  it('never end in half a character', () => {
    const reason = reasonOf(text('contains', 'steps.scan.output', `${'x'.repeat(59)}👍👍`)) ?? '';
    expect(/\p{Cs}/u.test(reason)).toBe(false);
    expect(reason).toContain('x…"');
  });
});

describe('conditions in words', () => {
  it.each<[Condition, string]>([
    [text('contains', 'steps.scan.output', 'RUN'), 'steps.scan.output contains "RUN"'],
    [text('not_contains', 'a', 'b'), 'a does not contain "b"'],
    [
      { op: 'equals', value: { channel: 'a', path: ['b'] }, operand: ['x ', { channel: 'inputs.y' }] },
      'a.b is "x {{inputs.y}}"',
    ],
    [{ op: 'matches_json', value: { channel: 'a' }, operand: { x: 1 } }, 'a matches "{\\"x\\":1}"'],
    [{ op: 'cel', expression: 'a == "b"', vars: {} }, 'a == "b"'],
    [{ op: 'code' }, 'a function decides'],
  ])('%j', (condition, words) => {
    expect(conditionText(condition)).toBe(words);
  });
});
