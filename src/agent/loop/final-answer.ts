import { SkeinError } from '../../base/errors.js';
import type { StructuredOutput } from '../../plan/agent-spec.js';
import { limitHint, limitKey } from '../../plan/notations.js';
import type { ModelTurn } from '../model.js';
import type { AgentStep } from '../session.js';
import type { AnswerFields, FieldsRead } from './answer-fields.js';
import { checkFailed, type AnswerChecks, type Violation } from './answer-checks.js';
import { checkOutput, repairPrompt } from './structured-output.js';

interface Judging extends AgentStep {
  readonly checks: AnswerChecks;
  readonly fields?: AnswerFields | undefined;
}

/** The result of a step. */
interface Answered {
  readonly output: unknown;
  /** The values that go to channels of their own. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

const NO_FIELDS: FieldsRead = { ok: true, values: {} };

/** Whether a step has used its repair round. */
export interface Repairs {
  repaired: boolean;
}

/**
 * Returns the result of a step whose model answered; undefined after requesting the repair round. Refused text leaves the transcript.
 *
 * @throws SkeinError `SKEIN_MODEL_EMPTY`, `SKEIN_MODEL_CAP`, `SKEIN_MODEL_REFUSED`, `SKEIN_OUTPUT_INVALID`, `SKEIN_CHECK`
 */
export function finalAnswer(options: Judging, turn: ModelTurn, repairs: Repairs): Answered | undefined {
  const { fields, spec } = options;
  const { output, name } = spec;
  if (turn.text.trim() === '') {
    checkEmpty(options, turn);
    if (output === undefined && fields === undefined) return { output: '' };
  }
  const { read, taken } = readAnswer(options, turn);
  const violations = options.checks.output(turn.text, false);
  if (read.ok && taken.ok && violations.length === 0) return { output: read.value, fields: taken.values };
  const findings = [read, taken].flatMap((one) => (one.ok ? [] : one.findings));
  findings.push(...violations.map(({ finding }) => finding));
  if (!repairs.repaired) {
    repairs.repaired = true;
    options.transcript.add({ role: 'user', text: repairPrompt(output, findings, fields) });
    // Calls that were made stay in the transcript, with their results.
    options.transcript.setAside(turn.toolCalls.length === 0 ? 2 : 1);
    return undefined;
  }
  if (violations.length > 0) throw checkFailed(violations, name, turn.text);
  const answer = read.ok ? { output: read.value } : invalidOutput(options, output, turn, read.findings);
  return taken.ok
    ? { ...answer, fields: taken.values }
    : { ...answer, fields: withoutFields(options, taken.findings, turn) };
}

/** @throws SkeinError `SKEIN_MODEL_CAP`, `SKEIN_MODEL_REFUSED` */
function readAnswer(options: Judging, turn: ModelTurn) {
  const { fields, spec } = options;
  const { output } = spec;
  const read = output === undefined ? ({ ok: true, value: turn.text } as const) : checkOutput(output, turn.text);
  const taken = fields?.read(turn.text, output !== undefined && read.ok ? read.value : undefined) ?? NO_FIELDS;
  // A cut answer that still contains everything required is accepted.
  const isWhole = (output !== undefined || fields !== undefined) && read.ok && taken.ok;
  if (turn.reason === 'length' && !isWhole) checkCut(options, turn);
  if (turn.reason === 'window' && !isWhole) throw windowFull(options, turn);
  if (turn.reason === 'content-filter' && !isWhole) throw filtered(options, turn);
  return { read, taken };
}

/** @throws SkeinError `SKEIN_OUTPUT_INVALID` */
function withoutFields(
  { fields, spec, step }: Judging,
  findings: readonly string[],
  turn: ModelTurn,
): NonNullable<Answered['fields']> {
  const message = `the answer of agent "${spec.name}" does not have its fields: ${findings.join('; ')}`;
  if (fields?.strict === true) {
    throw new SkeinError('SKEIN_OUTPUT_INVALID', message, {
      hint: 'change the prompt, or use a stronger model',
      details: { findings, answer: turn.text.slice(0, 2_000) },
    });
  }
  step.note({ kind: 'warning', code: 'output.unparsed', message: `${message}; its text is used as it is` });
  return fields?.none ?? {};
}

/**
 * Whether the text beside tool calls passes the checks. If it fails, none of the calls is made, and the model gets one repair round.
 *
 * @throws SkeinError `SKEIN_CHECK`
 */
export function isAccepted(options: Judging, turn: ModelTurn, repairs: Repairs): boolean {
  const violations = options.checks.output(turn.text, true);
  if (violations.length === 0) return true;
  if (repairs.repaired) throw checkFailed(violations, options.spec.name, turn.text);
  repairs.repaired = true;
  const output = notMade(violations);
  const results = turn.toolCalls.map(({ id, name }) => ({ id, name, output, isError: true }));
  options.transcript.add({ role: 'tool', results });
  options.transcript.setAside(2);
  return false;
}

function notMade(violations: readonly Violation[]): string {
  const findings = violations.map(({ finding }) => finding).join('; ');
  return `Error: this call was not made, because the text that came with it can't be used: ${findings}. Say it again, corrected, and make the call again.`;
}

function invalidOutput(
  options: Judging,
  output: StructuredOutput | undefined,
  turn: ModelTurn,
  findings: readonly string[],
) {
  const message = `the answer of agent "${options.spec.name}" does not match its schema: ${findings.join('; ')}`;
  if (output?.onInvalid === 'warn') {
    warn(options, 'output-invalid', `${message}; its text is used as it is`);
    return { output: turn.text };
  }
  throw new SkeinError('SKEIN_OUTPUT_INVALID', message, {
    hint: invalidHint(options, turn),
    details: { findings, answer: turn.text.slice(0, 2_000) },
  });
}

function invalidHint({ step }: Judging, { model }: ModelTurn): string {
  if (model === 'mock/echo') return 'mock/echo repeats what it is asked: write the answers into a script, --mock=FILE';
  const key = limitKey(step.notation, 'onInvalid');
  return key === undefined
    ? 'simplify the schema, or use a stronger model'
    : `simplify the schema, use a stronger model, or set ${key}: warn`;
}

/** @throws SkeinError `SKEIN_MODEL_CAP` if the limit is a default; a limit that somebody set is intended */
function checkCut(options: AgentStep, { model, cutAt }: ModelTurn): void {
  if (cutAt === undefined) {
    warn(options, 'answer-cut', `${model} reached its output limit, or its context window is full: the answer is cut`);
    return;
  }
  const message = `the answer of agent "${options.spec.name}" was cut at ${cutAt} tokens, the limit of agents that set none`;
  throw new SkeinError('SKEIN_MODEL_CAP', message, {
    hint: limitHint(options.step.notation, 'maxOutputTokens', 'ask for a shorter answer'),
  });
}

/** No setting of the agent chose where the answer ends, and the same request would end there again. */
function windowFull({ spec }: Judging, { model }: ModelTurn): SkeinError {
  const message = `the answer of agent "${spec.name}" was cut: the context window of ${model} is full`;
  const hint = 'shorten what the agent reads (prompt, tool results, conversation), or use a model with a larger window';
  return new SkeinError('SKEIN_MODEL_CAP', message, { hint });
}

/** Another attempt may say it in other words, so a retry tries again, as after an empty answer. */
function filtered({ spec }: Judging, { model }: ModelTurn): SkeinError {
  const message = `the answer of agent "${spec.name}" was cut by the content filter of ${model}`;
  return new SkeinError('SKEIN_MODEL_REFUSED', message, { hint: 'change the prompt or the model', retryable: true });
}

function warn(options: AgentStep, code: string, message: string): void {
  options.step.note({ kind: 'warning', code, message });
}

/** Allows an empty answer only if the model ended its turn normally; a schema must still match. */
function checkEmpty(options: Judging, turn: ModelTurn): void {
  if (turn.reason === 'window') throw windowFull(options, turn);
  if (turn.cutAt !== undefined) checkCut(options, turn);
  const error = emptyAnswer(options, turn);
  const isEnded = turn.reason === 'stop' || turn.reason === 'tool-calls';
  if (options.spec.allowEmpty !== true || !isEnded) throw error;
  warn(options, 'empty-answer', error.message);
}

function emptyAnswer(options: AgentStep, turn: ModelTurn): SkeinError {
  const why = {
    length: ': it reached its output limit first, or its context window is full',
    'content-filter': ': its content filter stopped it',
  };
  const reason = turn.reason === 'length' || turn.reason === 'content-filter' ? why[turn.reason] : '';
  return new SkeinError(
    'SKEIN_MODEL_EMPTY',
    `${turn.model} gave agent "${options.spec.name}" an empty answer${reason}`,
    {
      hint: 'retry the step, or change the prompt or the model',
    },
  );
}
