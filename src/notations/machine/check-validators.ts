import { quoteShort } from '../../lang/value-text.js';
import { schemaFindings } from '../../lang/schema-check.js';
import { didYouMean } from '../../base/suggest.js';
import type { PlacedPack, Validator } from './pack.js';
import { patternOf } from './prompt-checks.js';

type Params = Readonly<Record<string, unknown>>;

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 1;
const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string' && one !== '');
const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

interface Kind {
  /** The parameters, one of which is required. */
  readonly needs: readonly string[];
  readonly isRight: (value: unknown) => boolean;
  readonly wanted: string;
}

const LENGTH: Kind = {
  needs: ['max_characters', 'max_tokens'],
  isRight: isCount,
  wanted: 'a whole number of at least 1',
};
const PATTERN: Kind = { needs: ['pattern'], isRight: isText, wanted: 'a regular expression' };

const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['banned_words', { needs: ['words'], isRight: isTexts, wanted: 'a list of words' }],
  ['max_length', LENGTH],
  ['length', LENGTH],
  ['min_length', { needs: ['min_characters', 'min_tokens'], isRight: isCount, wanted: 'a whole number of at least 1' }],
  ['max_sentences', { needs: ['max_sentences'], isRight: isCount, wanted: 'a whole number of at least 1' }],
  ['required_fields', { needs: ['required_fields', 'fields'], isRight: isTexts, wanted: 'a list of names' }],
  ['regex', PATTERN],
  ['regex_match', PATTERN],
  ['json_valid', { needs: [], isRight: () => true, wanted: 'nothing' }],
]);

const DIRECTIONS: readonly unknown[] = [undefined, 'output', 'input', 'both'];

/** Checks the validators of prompts: each must be known and have valid parameters, even if it is switched off. */
export function checkValidators(placed: PlacedPack, own: ReadonlySet<string>): void {
  for (const [name, { validators = [] }] of Object.entries(placed.pack.prompts)) {
    for (const [index, validator] of validators.entries()) {
      const place = `prompts[${JSON.stringify(name)}].validators[${index}]`;
      const problem = own.has(validator.type) ? undefined : problemOf(validator);
      if (problem === undefined) continue;
      const at = placed.at('prompts', name, 'validators', String(index));
      placed.findings.error(problem.code, `${place}: ${problem.message}`, at, problem.hint);
    }
  }
}

function problemOf({ type, params = {} }: Validator): { code: string; message: string; hint: string } | undefined {
  const kind = KINDS.get(type);
  if (kind === undefined) {
    const hint =
      didYouMean(type, KINDS.keys()) ??
      `known types: ${[...KINDS.keys()].join(', ')}; --tools MODULE, or the option validators, brings others along`;
    return { code: 'unknown-validator', message: `no one implements the validator ${quoteShort(type)}`, hint };
  }
  const direction = params['direction'];
  if (!DIRECTIONS.includes(direction)) {
    const message = `direction must be output, input or both, not ${quoteShort(String(direction))}`;
    return { code: 'bad-validator', message, hint: 'leave it out for output' };
  }
  return saysNothing(type, kind, params) ?? patternProblem(type, params);
}

/** Reports an expression that is invalid, or can't be matched in bounded time. */
function patternProblem(type: string, { pattern }: Params): ReturnType<typeof problemOf> {
  if (typeof pattern !== 'string' || !type.startsWith('regex')) return undefined;
  const finding = schemaFindings({ pattern: patternOf(pattern).pattern }, '').find((one) =>
    one.includes("can't be used"),
  );
  if (finding === undefined) return undefined;
  return {
    code: 'bad-validator',
    message: `pattern of ${type}: ${finding}`,
    hint: 'write it as in JSON Schema; (?i) may stand in front',
  };
}

function saysNothing(type: string, { needs, isRight, wanted }: Kind, params: Params) {
  const given = needs.filter((key) => params[key] !== undefined);
  if (needs.length > 0 && given.length === 0) {
    const hint = `add ${needs.join(' or ')}: ${wanted}`;
    return { code: 'bad-validator', message: `the parameters of ${type} say nothing`, hint };
  }
  const wrong = given.find((key) => !isRight(params[key]));
  if (wrong === undefined) return undefined;
  return { code: 'bad-validator', message: `${wrong} of ${type} must be ${wanted}`, hint: 'correct it' };
}
