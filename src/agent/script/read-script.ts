import { isScalar, LineCounter, visit } from 'yaml';
import { parseDuration } from '../../base/duration.js';
import { ERROR_CODES, SkeinError } from '../../base/errors.js';
import type { Json } from '../../base/json.js';
import type { Problem } from '../../base/problem.js';
import { formatProblem } from '../../base/problem.js';
import { didYouMean } from '../../base/suggest.js';
import type { LimitFinding } from '../../text/yaml-limits.js';
import { composeYaml } from '../../text/yaml-document.js';
import { YAML_LIMITS } from '../../text/yaml-limits.js';
import { ANSWER, CALL, ERROR, QUESTION, REPLY, RULE, SCRIPT, USAGE } from '../../text/script-keys.js';
import type { Script, ScriptAnswer, ScriptCall, ScriptError, ScriptReply, ScriptRule } from './script-types.js';
import { YamlFields } from './yaml-fields.js';

/**
 * Reads a script. Everything that is wrong is reported at once, with line and column.
 *
 * @throws SkeinError `SKEIN_DEFINITION` with the problems in `details.problems`.
 * @example
 * const script = readScript('rules:\n  - agent: writer\n    answer: Once upon a time', 'story.script.yaml');
 */
export function readScript(text: string, file: string): Script {
  const fields = new YamlFields(file, linesOf(text));
  const { exceeded, document, second } = composeYaml(text, YAML_LIMITS, { merge: false });
  if (exceeded !== undefined) throw invalid(file, [limitProblem(text, file, exceeded)]);
  for (const { message, pos } of document?.errors ?? [])
    fields.problemAt('yaml-syntax', message.split('\n', 1)[0] ?? message, pos[0]);
  if (second !== undefined) fields.problemAt('yaml-syntax', 'a script is one document', second);
  visit(document ?? null, {
    Map: (_key, { items }) => {
      // The parser would compare each key with each.
      const names = new Set<unknown>();
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key;
        if (names.has(name)) fields.problem('yaml-syntax', 'Map keys must be unique', key);
        names.add(name);
      }
    },
    Alias: (_key, node) => fields.problem('yaml-alias', 'a script has no aliases', node, 'write it out'),
  });
  const script = fields.problems.length > 0 ? undefined : readTop(document?.contents, file, fields);
  if (script === undefined || fields.problems.length > 0) throw invalid(file, fields.problems);
  return script;
}

function limitProblem(text: string, file: string, { offset, message, hint }: LimitFinding): Problem {
  const before = text.slice(0, offset);
  const at = { file, line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
  return { code: 'yaml-limit', severity: 'error', message, at, hint };
}

function linesOf(text: string): LineCounter {
  const lines = new LineCounter();
  for (let start = 0; start !== -1; start = text.indexOf('\n', start) + 1 || -1) lines.addNewLine(start);
  return lines;
}

function invalid(file: string, problems: readonly Problem[]): SkeinError {
  const listed = problems.map(formatProblem).join('\n');
  return new SkeinError('SKEIN_DEFINITION', `the script ${file} has problems:\n${listed}`, {
    hint: 'correct the script; docs/scripts.md lists its keys',
    details: { problems: problems.map((problem) => ({ ...problem, at: { ...problem.at } })) as unknown as Json },
  });
}

function readTop(node: unknown, file: string, fields: YamlFields): Script | undefined {
  const top = fields.map(node, 'a script', SCRIPT);
  if (top === undefined) return undefined;
  const rules = fields.list(top.get('rules'), '"rules"').map((rule, i) => readRule(rule, `rule ${i + 1}`, fields));
  const answers = fields.list(top.get('answers'), '"answers"').map((reply) => readReply(reply, fields));
  return {
    file,
    strict: fields.flag(top.get('strict'), '"strict"', true),
    rules: present(rules),
    answers: present(answers),
  };
}

function present<T>(list: readonly (T | undefined)[]): readonly T[] {
  return list.filter((item) => item !== undefined);
}

function readRule(node: unknown, what: string, fields: YamlFields): ScriptRule | undefined {
  const rule = fields.map(node, what, RULE);
  if (rule === undefined) return undefined;
  const step = fields.text(rule.get('step'), `"step" of ${what}`);
  const agent = fields.text(rule.get('agent'), `"agent" of ${what}`);
  const prompt = fields.text(rule.get('prompt'), `"prompt" of ${what}`);
  const single = rule.get('answer');
  const nodes = single === undefined ? fields.list(rule.get('answers'), `"answers" of ${what}`) : [single];
  if (single !== undefined && rule.has('answers')) {
    fields.problem('script-answers', `${what} has both "answer" and "answers"`, node, 'keep one of them');
  } else if (nodes.length === 0) {
    fields.problem('script-answers', `${what} has no answer`, node, 'add answer: TEXT, or a list of answers');
  }
  return {
    at: fields.at(node),
    ...(step === undefined ? {} : { step }),
    ...(agent === undefined ? {} : { agent }),
    ...(prompt === undefined ? {} : { prompt }),
    answers: present(nodes.map((answer, i) => readAnswer(answer, `answer ${i + 1} of ${what}`, fields))),
    repeat: fields.flag(rule.get('repeat'), `"repeat" of ${what}`, false),
    once: fields.flag(rule.get('once'), `"once" of ${what}`, false),
    optional: fields.flag(rule.get('optional'), `"optional" of ${what}`, false),
  };
}

const PLAIN = { cut: false, empty: false, delayMs: 0, times: 1 } as const;

/** A plain text stands for `{ text: ... }`. */
function readAnswer(node: unknown, what: string, fields: YamlFields): ScriptAnswer | undefined {
  const plain = fields.json(node, what);
  if (typeof plain === 'string') return { ...PLAIN, text: plain };
  const answer = fields.map(node, what, ANSWER);
  if (answer === undefined) return undefined;
  const text = fields.text(answer.get('text'), `"text" of ${what}`);
  const json = fields.json(answer.get('json'), `"json" of ${what}`);
  const tools = readCalls(answer.get('tools'), what, fields);
  const error = answer.has('error') ? readError(answer.get('error'), what, fields) : undefined;
  const question = answer.has('question') ? readQuestion(answer.get('question'), what, fields) : undefined;
  const usage = answer.has('usage') ? readUsage(answer.get('usage'), what, fields) : undefined;
  const read = {
    cut: fields.flag(answer.get('cut'), `"cut" of ${what}`, false),
    empty: fields.flag(answer.get('empty'), `"empty" of ${what}`, false),
    delayMs: readDelay(answer.get('delay'), `"delay" of ${what}`, fields),
    times: fields.count(answer.get('times'), `"times" of ${what}`, ANSWER.keys.times) ?? 1,
    ...(text === undefined ? {} : { text }),
    ...(json === undefined ? {} : { json }),
    ...(tools === undefined ? {} : { tools }),
    ...(error === undefined ? {} : { error }),
    ...(question === undefined ? {} : { question }),
    ...(usage === undefined ? {} : { usage }),
  };
  if (!read.cut && !read.empty && ![text, json, tools, error, question].some((part) => part !== undefined)) {
    fields.problem(
      'script-answers',
      `${what} says nothing`,
      node,
      'give it text, json, tools, error, question, cut or empty',
    );
  }
  return read;
}

function readCalls(node: unknown, what: string, fields: YamlFields): readonly ScriptCall[] | undefined {
  if (node === undefined) return undefined;
  return present(
    fields.list(node, `"tools" of ${what}`).map((item) => {
      const call = fields.map(item, `a tool call of ${what}`, CALL);
      if (call === undefined) return undefined;
      const name = fields.text(call.get('name'), '"name" of a tool call');
      if (name === undefined) fields.problem('script-answers', `a tool call of ${what} has no name`, item);
      return { name: name ?? '', input: fields.json(call.get('input'), '"input" of a tool call') ?? {} };
    }),
  );
}

function readError(node: unknown, what: string, fields: YamlFields): ScriptError | undefined {
  const error = fields.map(node, `"error" of ${what}`, ERROR);
  if (error === undefined) return undefined;
  const code = fields.text(error.get('code'), '"code" of an error');
  if (code !== undefined && !(ERROR_CODES as readonly string[]).includes(code)) {
    fields.problem(
      'script-error-code',
      `there is no error code "${code}"`,
      error.get('code'),
      didYouMean(code, ERROR_CODES),
    );
  }
  const status = fields.count(error.get('status'), '"status" of an error', ERROR.keys.status);
  if ((code === undefined) === (status === undefined)) {
    fields.problem('script-error-code', `"error" of ${what} needs either a code or a status`, node);
  }
  const message = fields.text(error.get('message'), '"message" of an error');
  const wait = error.has('retry_after') ? readDelay(error.get('retry_after'), '"retry_after"', fields) : undefined;
  return {
    ...(code === undefined ? {} : { code }),
    ...(status === undefined ? {} : { status }),
    ...(message === undefined ? {} : { message }),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  };
}

/** A plain text is the question. */
function readQuestion(node: unknown, what: string, fields: YamlFields): ScriptAnswer['question'] {
  const plain = fields.json(node, `"question" of ${what}`);
  if (typeof plain === 'string') return { text: plain };
  const question = fields.map(node, `"question" of ${what}`, QUESTION);
  if (question === undefined) return undefined;
  const text = fields.text(question.get('text'), '"text" of a question');
  if (text === undefined) fields.problem('script-answers', `the question of ${what} has no text`, node);
  const choices = fields
    .list(question.get('choices'), '"choices" of a question')
    .map((one) => fields.text(one, 'a choice'));
  return { text: text ?? '', ...(choices.length === 0 ? {} : { choices: present(choices) }) };
}

function readUsage(node: unknown, what: string, fields: YamlFields): ScriptAnswer['usage'] {
  const usage = fields.map(node, `"usage" of ${what}`, USAGE);
  if (usage === undefined) return undefined;
  const input = fields.count(usage.get('input'), '"input" of a usage', USAGE.keys.input) ?? 0;
  return { input, output: fields.count(usage.get('output'), '"output" of a usage', USAGE.keys.output) ?? 0 };
}

function readReply(node: unknown, fields: YamlFields): ScriptReply | undefined {
  const reply = fields.map(node, 'an answer of the person', REPLY);
  if (reply === undefined) return undefined;
  const question = fields.text(reply.get('question'), '"question"');
  const answer = fields.text(reply.get('answer'), '"answer"');
  if (question === undefined || answer === undefined) {
    fields.problem('script-answers', 'an answer of the person needs "question" and "answer"', node);
  }
  const times = fields.count(reply.get('times'), '"times" of an answer of the person', REPLY.keys.times);
  return { question: question ?? '', answer: answer ?? '', ...(times === undefined ? {} : { times }) };
}

/** A duration such as `200ms`, or a number of seconds. */
function readDelay(node: unknown, what: string, fields: YamlFields): number {
  if (node === undefined) return 0;
  const value = fields.json(node, what);
  if (typeof value === 'number' && value >= 0) return Math.round(value * 1_000);
  const ms = typeof value === 'string' ? parseDuration(value) : undefined;
  if (ms !== undefined) return ms;
  fields.problem('script-type', `${what} must be a duration such as 200ms, or seconds`, node);
  return 0;
}
