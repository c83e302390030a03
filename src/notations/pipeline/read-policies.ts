import { seen, type SourceScalar } from '../../text/nodes.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Fields } from '../../text/shape.js';
import { MAX_TIMER_MS, readDuration } from '../step-keys.js';
import { readBudgetKey } from '../budget-key.js';
import { readSecurityKey } from '../security-key.js';
import { readSupervise } from '../supervise-key.js';
import { DEFAULT_LOOPS, LOOPS, POLICIES, RETRY, RETRY_CLASSES, WORKFLOW } from './keys.js';
import type { RetryDef, StepBase } from './definition.js';

const FIRST_DELAY_MS = 1_000;
/** The value of `jitter: true`. */
const SOME_JITTER = 0.1;

/** The settings of a step for failures, time, supervision, spending and security. */
export type Policies = Pick<
  StepBase,
  'when' | 'timeoutMs' | 'retry' | 'onError' | 'supervise' | 'budget' | 'security' | 'endorse'
>;

/** The policies of steps that can't fail. */
export const NO_POLICIES: Policies = {
  when: undefined,
  timeoutMs: undefined,
  retry: undefined,
  onError: 'fail',
  supervise: undefined,
  budget: undefined,
  security: undefined,
  endorse: undefined,
};

/**
 * Reads `when`, `timeout`, `on_error`, `retry`, `supervise`, `budget`, `security`, `endorse`. Codes: `missing-condition`, `bad-duration`,
 * `bad-retry`, `no-effect`, those of types, {@link readSupervise}, {@link readBudgetKey}, {@link readSecurityKey}.
 */
export function readPolicies(fields: Fields, supervises: 'agents' | 'whole' = 'whole'): Policies {
  return {
    when: readWhen(fields),
    timeoutMs: readDuration(fields, 'timeout', { min: 1, max: MAX_TIMER_MS }),
    retry: readRetry(fields),
    onError: readOnError(fields),
    supervise: readSupervise(fields, supervises),
    budget: readBudgetKey(fields, 'step'),
    security: readSecurityKey(fields),
    endorse: fields.word('endorse', POLICIES.endorse),
  };
}

/** Reads the key `when`, of a step or of a case. Problem code: `missing-condition`. */
export function readWhen(fields: Fields): SourceScalar | undefined {
  const when = fields.scalar('when');
  if (when?.text.trim() !== '') return when;
  const hint = 'write a condition such as {{ $steps.ID.output == "yes" }}';
  fields.error('missing-condition', 'when', `when of ${fields.name} is empty`, hint);
  return undefined;
}

export function readOnError(fields: Fields): StepBase['onError'] {
  return fields.word('on_error', POLICIES.on_error) ?? 'fail';
}

function readRetry(step: Fields): RetryDef | undefined {
  const fields = step.fields('retry', RETRY);
  if (fields === undefined) return undefined;
  const backoff = fields.word('backoff', RETRY.keys.backoff) ?? 'fixed';
  const delayMs = readFirstDelay(fields, step.name);
  const jitter = readJitter(fields);
  const on = readPatterns(fields);
  const retries = readRetries(fields, step.name);
  return retries === 0 ? undefined : { retries, backoff, delayMs, jitter, on };
}

function readRetries(fields: Fields, step: string): number {
  const attempts = fields.integer('max_attempts', RETRY.keys.max_attempts);
  const retries = fields.integer('retries', RETRY.keys.retries);
  const isThere = fields.has('max_attempts');
  if (isThere && fields.has('retries')) {
    const message = `retries of ${step} has no effect when max_attempts is set`;
    fields.warning('no-effect', 'retries', message, 'both mean the tries after the first one');
  }
  if (!isThere && !fields.has('retries')) {
    const message = `retry of ${step} repeats nothing without max_attempts`;
    fields.findings.warning('no-effect', message, fields.at, 'add max_attempts: 2');
  }
  return attempts ?? retries ?? 0;
}

function readFirstDelay(fields: Fields, step: string): number {
  const written = readDuration(fields, 'initial_delay', { min: 0, max: MAX_TIMER_MS });
  if (!fields.has('initial_delay_seconds')) return written ?? FIRST_DELAY_MS;
  if (fields.has('initial_delay')) {
    const message = `initial_delay_seconds of ${step} has no effect when initial_delay is set`;
    fields.warning('no-effect', 'initial_delay_seconds', message, 'keep one of the two');
  }
  const seconds = numberBetween(fields, 'initial_delay_seconds', [0, MAX_TIMER_MS / 1_000]);
  return written ?? (seconds === undefined ? FIRST_DELAY_MS : Math.round(seconds * 1_000));
}

function readJitter(fields: Fields): number {
  const node = fields.node('jitter');
  if (node?.kind === 'scalar' && typeof node.value === 'boolean') return node.value ? SOME_JITTER : 0;
  return numberBetween(fields, 'jitter', [0, 1]) ?? 0;
}

function numberBetween(
  fields: Fields,
  key: keyof typeof RETRY.keys,
  [min, max]: readonly [number, number],
): number | undefined {
  const node = fields.node(key);
  if (node === undefined) return undefined;
  const value = node.kind === 'scalar' ? node.value : undefined;
  if (typeof value === 'number' && value >= min && value <= max) return value;
  const message = `${key} of ${fields.name} must be a number from ${min} to ${max}, not ${seen(node)}`;
  fields.error('bad-retry', key, message, key === 'jitter' ? 'write jitter: 0.1' : 'write 0.5 for half a second');
  return undefined;
}

/** Warns about a word that looks like a misspelt class. */
function warnOfNearClass({ text, at }: SourceScalar, { name, findings }: Fields): void {
  const word = text.trim().toLowerCase();
  const hint = word === '' || RETRY_CLASSES.includes(word) ? undefined : findings.near(word, RETRY_CLASSES);
  if (hint === undefined) return;
  const message = `${quoteShort(text.trim())} in on of ${name} is not a class of errors, so it is searched for in their messages`;
  findings.warning('unknown-value', message, at, hint);
}

/** Reads classes of errors and parts of messages. A blank part is refused: it would match every message. */
function readPatterns(fields: Fields): readonly string[] | undefined {
  const texts = fields.texts('on');
  const node = fields.node('on');
  if (node?.kind === 'list' && node.items.length === 0) {
    const hint = 'list classes such as timeout, or remove the key to retry every error that may be temporary';
    fields.error('bad-retry', 'on', `on of ${fields.name} is empty`, hint);
  }
  return texts?.map((written) => {
    const pattern = written.text.trim();
    warnOfNearClass(written, fields);
    const message = `on of ${fields.name} has a blank entry`;
    if (pattern === '') fields.findings.error('bad-retry', message, written.at, 'write a class or a part of a message');
    return pattern;
  });
}

const KEY = 'max_loop_iterations';

/** The accepted forms of a workflow, for messages. */
export const SHAPE = "expected a list of steps or a map with 'steps' and optional 'max_loop_iterations'";

/** Reads the limit of a workflow's jumps back; zero and below mean the default. Problem code: `no-effect`. */
export function readLoops(workflow: Fields): number | undefined {
  const overrides = workflow.fields('overrides', WORKFLOW.keys.overrides);
  const written = readLimit(workflow);
  const limit = (overrides === undefined ? undefined : readLimit(overrides)) ?? written;
  return limit === undefined || limit > 0 ? limit : DEFAULT_LOOPS;
}

function readLimit(fields: Fields): number | undefined {
  const limit = fields.integer(KEY, LOOPS[KEY]);
  if (limit !== undefined && limit < 1) {
    const message = `${KEY} ${limit} has no effect: it means the default, ${DEFAULT_LOOPS}`;
    fields.warning('no-effect', KEY, message, 'the least is 1; remove the jump to forbid it');
  }
  return limit;
}
