import { isLate } from '../../base/at-once.js';
import { SkeinError } from '../../base/errors.js';
import { isPlainObject } from '../../base/json.js';
import { parseJsonText } from '../../lang/json-path.js';
import { matchPattern } from '../../lang/schema-check.js';
import { countCodePoints } from '../../lang/truncate.js';
import type { StepContext } from '../../engine/ports/executor.js';
import type { AgentSpec } from '../../plan/agent-spec.js';
import type { AnswerCheck, CheckedText, CheckFunction, CheckRule, LengthBounds } from '../../plan/answer-check.js';

export interface Violation {
  readonly check: AnswerCheck;
  /** What is wrong, in words that help a model: `the answer contains the banned word "lamp"`. */
  readonly finding: string;
}

/** The checks of one step. Each is a function of the text, so a replay returns the same. */
export interface AnswerChecks {
  /**
   * Checks the input of the agent. Violations that only warn become warnings.
   *
   * @throws SkeinError `SKEIN_CHECK`
   */
  input(text: string): void;
  /** Returns the violations that the model must correct; the others become warnings. `beside`: the model calls tools in the same turn. */
  output(text: string, beside: boolean): readonly Violation[];
}

type Direction = CheckedText['direction'];

/** Returns what is wrong with a text; undefined if the text passes. */
type Rule = (text: string, direction: Direction) => string | undefined;

export function answerChecks({ name: agent, checks = [] }: AgentSpec, step: StepContext): AnswerChecks {
  const rules = checks.map((check) => ({ check, rule: ruleOf(check, agent, step) }));
  const found = (text: string, direction: Direction, beside: boolean): readonly Violation[] =>
    rules.flatMap(({ check, rule }) => {
      const { direction: of = 'output' } = check;
      if ((of !== direction && of !== 'both') || (beside && !forbids(check))) return [];
      const wrong = rule(text, direction);
      if (wrong === undefined) return [];
      const violation = { check, finding: `${direction === 'output' ? 'the answer' : 'the message'} ${wrong}` };
      if (check.onViolation !== 'warn') return [violation];
      step.note({ kind: 'warning', code: 'check-violated', message: messageOf(violation, agent) });
      return [];
    });
  return {
    input(text) {
      const violations = found(text, 'input', false);
      if (violations.length > 0) throw checkFailed(violations, agent, text);
    },
    output: (text, beside) => (beside && text.trim() === '' ? [] : found(text, 'output', beside)),
  };
}

export function checkFailed(violations: readonly Violation[], agent: string, text: string): SkeinError {
  const [first] = violations;
  const findings = violations.map(({ finding }) => finding);
  return new SkeinError('SKEIN_CHECK', first === undefined ? '' : messageOf(first, agent), {
    hint: 'change the prompt or the check, or let it warn: onViolation: warn, on_violation in YAML',
    details: { findings, text: text.slice(0, 2_000) },
  });
}

function messageOf({ check, finding }: Violation, agent: string): string {
  return check.message ?? `agent "${agent}": ${finding}`;
}

/** A check that requires something applies only to answers: text beside a tool call is not yet an answer. */
function forbids(check: CheckRule): boolean {
  switch (check.kind) {
    case 'bannedWords':
    case 'maxLength':
    case 'maxSentences':
    case 'code':
      return true;
    case 'pattern':
      return check.matches === false;
    case 'minLength':
    case 'requiredFields':
    case 'json':
      return false;
  }
}

function ruleOf(check: CheckRule, agent: string, step: StepContext): Rule {
  switch (check.kind) {
    case 'bannedWords':
      return (text) => bannedWord(text, check.words);
    case 'maxLength':
      return (text) => overLength(text, check, (count, bound) => count > bound, 'may have at most');
    case 'minLength':
      return (text) => overLength(text, check, (count, bound) => count < bound, 'must have at least');
    case 'maxSentences':
      return (text) => tooManySentences(text, check.sentences);
    case 'requiredFields':
      return (text) => missingFields(text, check.fields);
    case 'json':
      return (text) => (parseJsonText(text) === undefined ? 'is not JSON' : undefined);
    case 'pattern':
      return patternRule(check);
    case 'code':
      return codeRule(check.name, agent, step);
  }
}

function codeRule(name: string, agent: string, step: StepContext): Rule {
  const fn = step.checks?.[name] as CheckFunction | undefined;
  if (fn === undefined) throw new SkeinError('SKEIN_NO_BINDING', `the check "${name}" has no function`);
  return (text, direction) => {
    const said: unknown = fn(text, { agent, direction });
    if (isLate(said)) {
      const hint = 'a check answers at once: do what takes time in a node after the agent';
      throw new SkeinError('SKEIN_USAGE', `the check "${name}" returned a promise`, { hint });
    }
    if (said === true || said === undefined) return undefined;
    return typeof said === 'string'
      ? `is refused by the check "${name}": ${said}`
      : `is refused by the check "${name}"`;
  };
}

function patternRule({ pattern, ignoreCase, matches }: Extract<CheckRule, { kind: 'pattern' }>): Rule {
  const mustMatch = matches !== false;
  const shown = JSON.stringify(pattern);
  return (text) => {
    const verdict = matchPattern(pattern, text, ignoreCase);
    if ('fault' in verdict) return `could not be checked against ${shown}: ${verdict.fault}`;
    if (verdict.matches === mustMatch) return undefined;
    return mustMatch ? `does not match ${shown}` : `matches ${shown}, which it must not`;
  };
}

function bannedWord(text: string, words: readonly string[]): string | undefined {
  const folded = folding(text);
  const found = words.find((word) => containsWord(folded, folding(word.trim())));
  return found === undefined ? undefined : `contains the banned word ${JSON.stringify(found)}`;
}

function folding(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** Whether a text begins with a word character. Next to one, a match is only part of a longer word. */
function beginsInWord(text: string): boolean {
  return /^[\p{L}\p{M}\p{N}_]/u.test(text);
}

function endsInWord(text: string): boolean {
  return /[\p{L}\p{M}\p{N}_]$/u.test(text);
}

function containsWord(text: string, word: string): boolean {
  if (word === '') return false;
  const first = beginsInWord(word);
  const last = endsInWord(word);
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    // Any character fits into two code units.
    const before = text.slice(Math.max(0, at - 2), at);
    const after = text.slice(at + word.length, at + word.length + 2);
    if (!(first && endsInWord(before)) && !(last && beginsInWord(after))) return true;
  }
  return false;
}

const CHARACTERS_PER_TOKEN = 4;

function overLength(
  text: string,
  { characters, tokens }: LengthBounds,
  isOver: (count: number, bound: number) => boolean,
  wanted: string,
): string | undefined {
  const count = countCodePoints(text);
  if (characters !== undefined && isOver(count, characters))
    return `has ${count} characters, and ${wanted} ${characters}`;
  const about = Math.ceil(count / CHARACTERS_PER_TOKEN);
  if (tokens !== undefined && isOver(about, tokens)) return `has about ${about} tokens, and ${wanted} ${tokens}`;
  return undefined;
}

const ENDS_OF_SENTENCES = '.!?…';
const WIDE_ENDS = '。！？';

function tooManySentences(text: string, most: number): string | undefined {
  const count = sentencesIn(text);
  return count > most ? `has ${count} sentences, and may have at most ${most}` : undefined;
}

/** A sentence ends with a mark before a space or the end of the text; text after the last mark counts as a sentence. */
function sentencesIn(text: string): number {
  let count = 0;
  let open = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    const isEnd = ENDS_OF_SENTENCES.includes(char) && /^\s?$/.test(text.charAt(at + 1));
    if (open && (isEnd || WIDE_ENDS.includes(char))) {
      count += 1;
      open = false;
    } else if (/[\p{L}\p{N}\p{Cs}]/u.test(char)) open = true;
  }
  return open ? count + 1 : count;
}

function missingFields(text: string, fields: readonly string[]): string | undefined {
  const value = parseJsonText(text);
  const has = (field: string): boolean =>
    isPlainObject(value)
      ? Object.hasOwn(value, field) && value[field] !== null
      : containsWord(folding(text), folding(field));
  const missing = fields.filter((field) => !has(field));
  return missing.length === 0 ? undefined : `lacks ${missing.map((field) => JSON.stringify(field)).join(', ')}`;
}
