import { describe, expect, it } from 'vitest';
import { SkeinError } from '../../src/base/errors.js';
import { conditionText } from '../../src/lang/condition-text.js';
import { evaluateCondition } from '../../src/lang/condition.js';
import type { Condition } from '../../src/lang/values.js';

function truthy(channel: string, path?: readonly string[]): Condition {
  const value = path === undefined ? { channel } : { channel, path };
  return { op: 'truthy', value, text: `{{ $steps.${[channel, ...(path ?? [])].join('.')} }}` };
}

const holds = (output: unknown, path?: readonly string[]): boolean =>
  evaluateCondition(truthy('qa', path), () => output).holds;

describe('the truth table of conditions', () => {
  it.each<[string, string, boolean, string[]]>([
    ['{"is_approved": true}', '$steps.qa.output.is_approved', true, ['is_approved']],
    ['{"is_approved": "YES"}', '$steps.qa.output.is_approved', true, ['is_approved']],
    ['{"is_approved": 1}', '$steps.qa.output.is_approved', false, ['is_approved']],
    ['{"is_approved": {"x": true}}', '$steps.qa.output.is_approved', false, ['is_approved']],
    ['{"a": {"b": true}}', '$steps.qa.output.a.b', true, ['a', 'b']],
    ['{"a": {"b": true}}', '$steps.qa.output.a.c', false, ['a', 'c']],
    ['yes', '$steps.qa.output.is_approved', true, ['is_approved']],
    ['[true]', '$steps.qa.output.is_approved', false, ['is_approved']],
    ['1', '$steps.qa.output', true, []],
    ['approved', '$steps.qa.output', false, []],
    ['true', '$steps.par.outputs.c1.output', true, []],
    ['{"ok":true}', '$steps.par.outputs.c1.output.ok', true, ['ok']],
  ])('the output %j, asked for by %s, is %s', (output, _, expected, path) => {
    expect(holds(output, path)).toBe(expected);
  });

  it('an output that nobody has written is an error with the condition as it was written', () => {
    for (const condition of [truthy('qa'), truthy('qa', ['ok'])]) {
      let thrown: unknown;
      try {
        evaluateCondition(condition, () => undefined);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(SkeinError);
      const text = condition.op === 'truthy' ? condition.text : '';
      expect(thrown).toMatchObject({
        code: 'SKEIN_TEMPLATE',
        message: `workflow: condition did not resolve to boolean: "${text}"`,
      });
    }
  });
});

describe('what counts as true', () => {
  it.each(['TRUE', ' yes\n', '1', 'Yes', '\ttrue '])('the text %j', (text) => {
    expect(holds(text)).toBe(true);
    expect(holds({ ok: text }, ['ok'])).toBe(true);
  });

  it.each(['', 'no', 'yes!', '"yes"', '01', 'truetrue', 'y es', '{"ok":true}', 'null', '0'])(
    'not the text %j',
    (text) => {
      expect(holds(text)).toBe(false);
    },
  );

  it('data of a step with a schema is as good as its text', () => {
    expect(holds({ is_approved: true }, ['is_approved'])).toBe(true);
    expect(holds({ is_approved: 'no' }, ['is_approved'])).toBe(false);
    expect(holds({ list: [{ ok: true }] }, ['list', '0', 'ok'])).toBe(true);
    expect(holds(true)).toBe(true);
    expect(holds(1)).toBe(true);
    expect(holds(false)).toBe(false);
    expect(holds(null)).toBe(false);
    expect(holds(null, ['ok'])).toBe(false);
    expect(holds([true], ['0'])).toBe(false);
  });

  it('JSON in a code fence is read as JSON', () => {
    expect(holds('Here:\n```json\n{"ok": true}\n```\nDone.', ['ok'])).toBe(true);
    expect(holds('Here:\n```json\n{"ok": false}\n```', ['ok'])).toBe(false);
    expect(holds('```json\ntrue\n```')).toBe(true);
    expect(holds('```json\nfalse\n```\nyes')).toBe(false);
    expect(holds('```\nyes\n```')).toBe(false);
  });

  it('names of JavaScript objects are no keys', () => {
    for (const key of ['constructor', '__proto__', 'toString']) expect(holds('{"a":1}', [key])).toBe(false);
    expect(holds('{"__proto__":true}', ['__proto__'])).toBe(true);
  });
});

it('a condition says in words what it asks, and why it does not hold', () => {
  expect(conditionText(truthy('steps.qa.output', ['ok']))).toBe('steps.qa.output.ok is true');
  expect(evaluateCondition(truthy('qa', ['ok']), () => 'no')).toEqual({ holds: false, reason: 'qa.ok is not true' });
});
