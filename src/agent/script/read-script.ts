import { parseDuration } from '../../base/duration.js';
import { ERROR_CODES } from '../../base/errors.js';
import { present } from '../../base/json.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Findings } from '../../text/findings.js';
import type { MapForm } from '../../text/forms.js';
import { seen, toJson, type SourceNode } from '../../text/nodes.js';
import { ANSWER, CALL, ERROR, QUESTION, REPLY, RESULT, RULE, SCRIPT, USAGE } from '../../text/script-keys.js';
import { readFields, type Fields } from '../../text/shape.js';
import type {
  Script,
  ScriptAnswer,
  ScriptCall,
  ScriptError,
  ScriptReply,
  ScriptResult,
  ScriptRule,
} from './script-types.js';
import { readData } from '../../text/data-nodes.js';
import { readWhole } from '../../text/yaml.js';
import type { ScriptInput } from './script-input.js';

/**
 * Parses a script. Reports all problems at once, with line and column.
 *
 * @throws SkeinError `SKEIN_DEFINITION` with the problems in `details.problems`.
 * @example
 * const script = readScript('rules:\n  - agent: writer\n    answer: Once upon a time', 'story.script.yaml');
 */
export function readScript(text: string, file: string): Script {
  const name = `the script ${file}`;
  return readWhole(text, { file, problem: `${name} has problems`, hint: HINT }, (root, findings) =>
    readTop(root, name, findings),
  );
}

/** Reads a script that a program gives as data. Reports all problems at once, with the path in the data. */
export function readScriptInput(script: ScriptInput): Script {
  const name = 'the script of the run';
  const read = readData(script, { problem: `${name} has problems`, hint: HINT }, (root, findings) =>
    readTop(root, name, findings),
  );
  return { ...read, isInCode: true };
}

const HINT = 'correct the script; docs/scripts.md lists its keys';

/** Reads a map of a script. Unlike in a workflow, a key without a value is an error: the rule would match more than intended. */
function open(node: SourceNode, name: string, form: MapForm, findings: Findings): Fields | undefined {
  return readFields(node, { name, form, exact: true }, findings);
}

/** The readable entries of a list. */
function listOf<T>(
  fields: Fields,
  key: string,
  read: (item: SourceNode, number: number) => T | undefined,
): readonly T[] {
  const items = fields.items(key, fields.findings.words.writeItems) ?? [];
  return items.map((item, i) => read(item, i + 1)).filter((item) => item !== undefined);
}

function readTop(node: SourceNode, name: string, findings: Findings): Script | undefined {
  const top = open(node, 'a script', SCRIPT, findings);
  if (top === undefined) return undefined;
  return {
    name,
    strict: top.flag('strict') ?? true,
    rules: listOf(top, 'rules', (rule, i) => readRule(rule, `rule ${i}`, findings)),
    answers: listOf(top, 'answers', (reply) => readReply(reply, findings)),
    tools: listOf(top, 'tools', (result) => readResult(result, findings)),
  };
}

function readRule(node: SourceNode, what: string, findings: Findings): ScriptRule | undefined {
  const rule = open(node, what, RULE, findings);
  if (rule === undefined) return undefined;
  const single = rule.node('answer');
  const several = rule.node('answers');
  const real = readReal(rule, what, findings);
  if (real && (single !== undefined || several !== undefined)) {
    findings.error('script-answers', `${what} has both "real" and an answer`, rule.at, 'keep one of them');
  } else if (real) {
    // A real call needs no answer.
  } else if (single !== undefined && several !== undefined) {
    findings.error('script-answers', `${what} has both "answer" and "answers"`, rule.at, 'keep one of them');
  } else if (
    single === undefined &&
    (several === undefined || (several.kind === 'list' && several.items.length === 0))
  ) {
    findings.error('script-answers', `${what} has no answer`, rule.at, 'add answer: TEXT, or a list of answers');
  }
  const readOne = (answer: SourceNode, i: number): ScriptAnswer | undefined =>
    readAnswer(answer, `answer ${i} of ${what}`, findings);
  const only = single === undefined ? undefined : readOne(single, 1);
  return {
    at: rule.at,
    ...present({
      step: rule.text('step'),
      agent: rule.text('agent'),
      prompt: rule.text('prompt'),
      phase: rule.word('phase', RULE.keys.phase),
    }),
    real,
    answers: only === undefined ? listOf(rule, 'answers', readOne) : [only],
    repeat: rule.flag('repeat') ?? false,
    once: rule.flag('once') ?? false,
    optional: rule.flag('optional') ?? false,
  };
}

/** `real: true` is for a step that calls a tool directly. */
function readReal(rule: Fields, what: string, findings: Findings): boolean {
  if (rule.flag('real') !== true) return false;
  if (!rule.has('step'))
    findings.error('script-answers', `${what} has "real" and names no step`, rule.at, 'add step: ID');
  return true;
}

const PLAIN = { cut: false, empty: false, delayMs: 0, times: 1 } as const;

/** A plain text is short for `{ text: ... }`. */
function readAnswer(node: SourceNode, what: string, findings: Findings): ScriptAnswer | undefined {
  const plain = plainText(node);
  if (plain !== undefined) return { ...PLAIN, text: plain };
  const answer = open(node, what, ANSWER, findings);
  if (answer === undefined) return undefined;
  const json = answer.node('json');
  const said = present({
    text: answer.text('text'),
    json: json === undefined ? undefined : toJson(json),
    tools: answer.has('tools') ? listOf(answer, 'tools', (call) => readCall(call, what, findings)) : undefined,
    error: readError(answer, what, findings),
    question: readQuestion(answer, what, findings),
  });
  const cut = answer.flag('cut') ?? false;
  const empty = answer.flag('empty') ?? false;
  if (!cut && !empty && Object.keys(said).length === 0) {
    const hint = 'give it text, json, tools, error, question, cut or empty';
    findings.error('script-answers', `${what} says nothing`, answer.at, hint);
  }
  const delayMs = readDelay(answer, 'delay', what, findings) ?? 0;
  const times = answer.integer('times', ANSWER.keys.times) ?? 1;
  return { ...said, cut, empty, delayMs, times, ...present({ usage: readUsage(answer) }) };
}

/** Returns a text; undefined for other values, because a model does not answer with a number. */
function plainText(node: SourceNode): string | undefined {
  return node.kind === 'scalar' && typeof node.value === 'string' ? node.value : undefined;
}

function readCall(node: SourceNode, what: string, findings: Findings): ScriptCall | undefined {
  const call = open(node, `a tool call of ${what}`, CALL, findings);
  if (call === undefined) return undefined;
  const input = call.node('input');
  return {
    name: needed(call, 'name', `a tool call of ${what} has no name`, findings),
    input: input === undefined ? {} : toJson(input),
  };
}

/** Reads a required text. */
function needed(fields: Fields, key: string, lacking: string, findings: Findings): string {
  if (!fields.has(key)) findings.error('script-answers', lacking, fields.at, `add "${key}: TEXT"`);
  return fields.text(key) ?? '';
}

function readError(answer: Fields, what: string, findings: Findings): ScriptError | undefined {
  const error = answer.fields('error', ERROR);
  if (error === undefined) return undefined;
  const code = error.text('code');
  if (code !== undefined && !ERROR_CODES.some((known) => known === code)) {
    const hint = findings.near(code, ERROR_CODES) ?? 'docs/library.md lists the codes';
    findings.error('script-error-code', `there is no error code ${quoteShort(code)}`, error.placeOf('code'), hint);
  }
  const status = error.integer('status', ERROR.keys.status);
  if ((code === undefined) === (status === undefined)) {
    const message = `error of ${what} needs either a code or a status`;
    findings.error('script-error-code', message, error.at, 'keep one of them, such as status: 429');
  }
  const retryAfterMs = readDelay(error, 'retry_after', what, findings);
  return present({ code, status, message: error.text('message'), retryAfterMs });
}

/** Reads a question; a plain text is its `text`. */
function readQuestion(answer: Fields, what: string, findings: Findings): ScriptAnswer['question'] {
  const node = answer.node('question');
  const plain = node === undefined ? undefined : plainText(node);
  if (plain !== undefined) return { text: plain };
  const question = answer.fields('question', QUESTION);
  if (question === undefined) return undefined;
  const text = needed(question, 'text', `the question of ${what} has no text`, findings);
  const choices = question.texts('choices')?.map((choice) => choice.text) ?? [];
  return { text, ...(choices.length === 0 ? {} : { choices }) };
}

function readUsage(answer: Fields): ScriptAnswer['usage'] {
  const usage = answer.fields('usage', USAGE);
  if (usage === undefined) return undefined;
  const { input, output } = USAGE.keys;
  return { input: usage.integer('input', input) ?? 0, output: usage.integer('output', output) ?? 0 };
}

function readReply(node: SourceNode, findings: Findings): ScriptReply | undefined {
  const reply = open(node, 'an answer of the person', REPLY, findings);
  if (reply === undefined) return undefined;
  const lacking = 'an answer of the person needs "question" and "answer"';
  const question = needed(reply, 'question', lacking, findings);
  const answer = needed(reply, 'answer', lacking, findings);
  return { question, answer, ...present({ times: reply.integer('times', REPLY.keys.times) }) };
}

function readResult(node: SourceNode, findings: Findings): ScriptResult | undefined {
  const fields = open(node, 'the result of a tool', RESULT, findings);
  if (fields === undefined) return undefined;
  const tool = needed(fields, 'tool', 'the result of a tool needs "tool" and "result"', findings);
  const [input, result] = [fields.node('input'), fields.node('result')];
  // A null in YAML is usually a forgotten value.
  if (result === undefined || (result.kind === 'scalar' && result.value === null))
    findings.error(
      'script-answers',
      'the result of a tool needs "result"',
      fields.at,
      'add "result: TEXT", or a value',
    );
  return {
    tool,
    input: input === undefined ? {} : toJson(input),
    result: result === undefined ? null : toJson(result),
  };
}

/** Reads a duration such as `200ms`, or a number of seconds. */
function readDelay(fields: Fields, key: string, what: string, findings: Findings): number | undefined {
  const node = fields.node(key);
  if (node === undefined) return undefined;
  const value = node.kind === 'scalar' ? node.value : undefined;
  if (typeof value === 'number' && value >= 0) return Math.round(value * 1_000);
  const ms = typeof value === 'string' ? parseDuration(value) : undefined;
  if (ms !== undefined) return ms;
  findings.error(
    'bad-duration',
    `${key} of ${what} is ${seen(node, findings.words)}`,
    node.at,
    'write 200ms, 2s, or a number of seconds',
  );
  return undefined;
}
