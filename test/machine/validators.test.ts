import { describe, expect, it } from 'vitest';
import type { PackValidators } from '../../src/notations/machine/prompt-checks.js';
import type { Validator } from '../../src/notations/machine/pack.js';
import { promptAgent } from '../../src/notations/machine/prompt-agent.js';
import { packOf, spoken } from './support/spoken.js';

const check = (type: string, params = {}, more: Partial<Validator> = {}): Validator => ({
  type,
  params,
  enabled: true,
  ...more,
});

/** What is said after the model has answered with one text after the other. */
async function asked(
  validators: readonly Validator[],
  texts: readonly string[],
  own: PackValidators = {},
): Promise<number> {
  const answers = texts.map((text) => [{ type: 'text' as const, text }]);
  return (await spoken(packOf({ validators }), { answers, validators: own })).length;
}

describe('validators', () => {
  it.each([
    [check('banned_words', { words: ['damn'] }), 'Damn it', 'Oh dear'],
    [check('length', { max_characters: 5 }), 'too long', 'short'],
    [check('max_length', { max_tokens: 1 }), 'much too long', 'ok'],
    [check('min_length', { min_characters: 5 }), 'no', 'long enough'],
    [check('max_sentences', { max_sentences: 1 }), 'One. Two. Three.', 'One.'],
    [check('required_fields', { required_fields: ['name'] }), '{"a":1}', '{"name":"x"}'],
    [check('regex', { pattern: '(?i)order \\d+' }), 'none', 'ORDER 7'],
    [check('regex_match', { pattern: 'secret', expect_match: false }), 'a secret', 'nothing'],
    [check('json_valid'), 'no json', '{}'],
  ])('[A10] %j lets an answer be corrected once', async (validator, wrong, right) => {
    expect(await asked([validator], [right])).toBe(1);
    expect(await asked([validator], [wrong, right])).toBe(2);
    await expect(asked([{ ...validator, message: 'Not like this.' }], [wrong, wrong])).rejects.toThrow(
      'Not like this.',
    );
  });

  it('[A10] fail_on_violation: false warns, enabled: false skips', async () => {
    const rule = check('banned_words', { words: ['no'] });
    expect(await asked([{ ...rule, fail_on_violation: false }], ['no'])).toBe(1);
    expect(await asked([{ ...rule, enabled: false }], ['no'])).toBe(1);
  });

  it('[A10] a refused input calls no model', async () => {
    const rule = check('regex', {
      pattern: '(?i)hello',
      expect_match: false,
      direction: 'input',
      message: 'No greetings.',
    });
    await expect(asked([rule], ['Fine.'])).rejects.toThrow('No greetings.');
  });

  it('[A10] functions of the program, with the parameters of the pack', async () => {
    const own: PackValidators = { tone: (text, { word }) => (text.includes(String(word)) ? 'too kind' : true) };
    const validators = [check('tone', { word: 'dear' }), check('tone', { word: 'sweet' })];
    expect(await asked(validators, ['my sweet', 'my dear', 'well'].slice(0, 1).concat('well'), own)).toBe(2);
    await expect(asked(validators, ['dear', 'sweet'], own)).rejects.toThrow('too kind');
    expect(promptAgent(packOf({ validators }), 'chat', { validators: own }).checks).toHaveLength(2);
  });
});
