import { SkeinError } from '../../base/errors.js';
import { canonicalJson } from '../../base/hash.js';
import { isPlainObject, ownValue, type Json, type JsonObject } from '../../base/json.js';
import { nodeIdOf, nodePathOf, pathOf } from '../../base/address.js';
import type { ModelRequest, ReplayedCall } from '../model.js';
import type { Script, ScriptAnswer, ScriptRule } from './script-types.js';
import { readTextFile } from '../text-files.js';
import type { ScriptInput } from './script-input.js';
import { readScript, readScriptInput } from './read-script.js';

/** A script in use: which rules apply, the progress of each, and what was never used. */
export interface ScriptBook {
  readonly calls: readonly string[];
  /**
   * Returns the answer to a call; undefined for an unplanned call if the script is not strict or if the supervision of a step calls.
   *
   * @throws SkeinError `SKEIN_SCRIPT` for an unplanned call of a strict script.
   */
  next(request: Asked): ScriptAnswer | undefined;
  /** Reports a call of a model, or of a step directly, that was answered from the record of the run: its answer counts as given. */
  skip(call: ReplayedCall | StepCalled): void;
  /** The result of the step at a path that calls a tool directly; undefined if the script has none, or lets the call be made. */
  step(called: StepCalled): ScriptAnswer | undefined;
  isReal(called: StepCalled): boolean;
  /** Returns the person's answer to a question and counts it; undefined if the script has none, or none left. */
  reply(question: string): string | undefined;
  /** The result of a tool without a function; undefined if the script has none. */
  result(tool: string, input: JsonObject): Json | undefined;
  /** @throws SkeinError `SKEIN_SCRIPT` for a strict script with rules that were unused, or not used to their end */
  finish(): void;
}

type Asked = Pick<ModelRequest, 'messages' | 'caller'>;

export interface StepCalled {
  readonly step: string;
}

interface Progress {
  readonly rule: ScriptRule;
  readonly number: number;
  readonly line: number | undefined;
  /** Number of answers given, by path of the step; a `once` rule has one entry for the run. */
  readonly given: Map<string, number>;
}

export function openScriptBook(script: Script): ScriptBook {
  const progress: readonly Progress[] = script.rules.map((rule, i) => ({
    rule,
    number: i + 1,
    line: script.isInCode === true ? undefined : rule.at.line,
    given: new Map(),
  }));
  /** How often each answer of the person was given. */
  const replies: number[] = [];
  const calls = script.rules.flatMap((rule) => rule.answers.flatMap(({ tools = [] }) => tools.map(({ name }) => name)));
  return {
    calls: [...new Set(calls)],
    next(request) {
      const answer = takeFirst(progress, request);
      // A supervision call without an answer in the script gets the answer that lets the step pass.
      if (answer !== undefined || !script.strict || request.caller.phase !== undefined) return answer;
      throw unplanned(script, progress, request);
    },
    skip(call) {
      if ('step' in call) takeOfStep(progress, call);
      else takeFirst(progress, { messages: call.messages(), caller: call.caller });
    },
    step: (called) => takeOfStep(progress, called),
    isReal: ({ step }) => progress.find(({ rule }) => speaksOf(rule, step))?.rule.real === true,
    reply(question) {
      const at = script.answers.findIndex(
        (reply, i) =>
          question.includes(reply.question) && (replies[i] ?? 0) < (reply.times ?? Number.POSITIVE_INFINITY),
      );
      if (at === -1) return undefined;
      replies[at] = (replies[at] ?? 0) + 1;
      return script.answers[at]?.answer;
    },
    result: (tool, input) => script.tools.find((one) => one.tool === tool && contains(input, one.input))?.result,
    finish() {
      if (!script.strict) return;
      const unused = progress.flatMap((one) => leftOver(one));
      if (unused.length === 0) return;
      throw new SkeinError('SKEIN_SCRIPT', `${script.name} was not used up:\n  ${unused.join('\n  ')}`, {
        hint: 'take out what is not needed, mark it optional: true, or set strict: false',
        details: { unused },
      });
    },
  };
}

/** Whether a value equals, or contains, the value in the script. */
function contains(value: Json | undefined, part: Json): boolean {
  if (!isPlainObject(part)) return canonicalJson(value ?? null) === canonicalJson(part);
  return Object.entries(part).every(([key, inner]) => contains(ownValue(value, key) as Json, inner));
}

/** Whether a rule applies to a step that calls a tool directly: the rule names the step, and nothing that only a model has. */
function speaksOf({ step, agent, prompt, phase }: ScriptRule, path: string): boolean {
  return step !== undefined && agent === undefined && prompt === undefined && phase === undefined && isStep(step, path);
}

function takeOfStep(progress: readonly Progress[], { step: path }: StepCalled): ScriptAnswer | undefined {
  for (const one of progress) {
    if (!speaksOf(one.rule, path)) continue;
    if (one.rule.real) {
      one.given.set('', 0);
      return undefined;
    }
    const answer = take(one, path);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

function takeFirst(progress: readonly Progress[], request: Asked): ScriptAnswer | undefined {
  for (const one of progress) {
    if (one.rule.real || one.rule.phase !== request.caller.phase) continue;
    if (!criteria(one.rule, request).every(({ holds }) => holds)) continue;
    const answer = take(one, request.caller.path);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

function take(one: Progress, path: string): ScriptAnswer | undefined {
  // A retried step, and steps inside it, continue where the previous attempt stopped.
  const key = one.rule.once ? '' : pathOf(path);
  const given = one.given.get(key) ?? 0;
  const answer = answerAt(one.rule, given);
  if (answer !== undefined) one.given.set(key, given + 1);
  return answer;
}

function answerAt(rule: ScriptRule, given: number): ScriptAnswer | undefined {
  let passed = 0;
  for (const answer of rule.answers) {
    passed += answer.times;
    if (given < passed) return answer;
  }
  return rule.repeat ? rule.answers.at(-1) : undefined;
}

function planned(rule: ScriptRule): number {
  return rule.answers.reduce((sum, answer) => sum + answer.times, 0);
}

function leftOver(one: Progress): readonly string[] {
  const { rule, given } = one;
  if (rule.optional) return [];
  if (given.size === 0) return [`${describe(one)} was never used`];
  const all = planned(rule);
  return [...given]
    .filter(([, count]) => count < all)
    .map(([path, count]) => {
      const where = path === '' ? '' : ` in step ${path}`;
      return `${describe(one)} gave ${count} of ${all} answers${where}`;
    });
}

interface Criterion {
  readonly name: 'step' | 'agent' | 'prompt';
  readonly holds: boolean;
}

function criteria(rule: ScriptRule, request: Asked): readonly Criterion[] {
  const { step, agent, prompt } = rule;
  const list: Criterion[] = [];
  if (step !== undefined) list.push({ name: 'step', holds: isStep(step, request.caller.path) });
  if (agent !== undefined) list.push({ name: 'agent', holds: agent === request.caller.agent });
  if (prompt !== undefined) list.push({ name: 'prompt', holds: userText(request).includes(prompt) });
  return list;
}

/** Whether a rule's `step` is this step, by path or by the id of its node. */
function isStep(step: string, path: string): boolean {
  const tried = pathOf(path);
  if (step === tried) return true;
  return step === nodePathOf(tried) || step === nodeIdOf(tried);
}

function userText(request: Asked): string {
  return request.messages.map((message) => (message.role === 'user' ? message.text : '')).join('\n');
}

function unplanned(script: Script, progress: readonly Progress[], request: Asked): SkeinError {
  const { path, agent, turn } = request.caller;
  const asked = firstUserText(request);
  const nearest = nearestRule(progress, request);
  const lines = [
    `${script.name} does not plan this call: step ${path}, agent "${agent}", turn ${turn}`,
    `  asked: ${asked}`,
    ...askedThen(request),
    `  nearest rule: ${nearest ?? 'the script has no rules'}`,
  ];
  return new SkeinError('SKEIN_SCRIPT', lines.join('\n'), {
    hint: 'add a rule or an answer for it, or set strict: false',
    details: { step: path, agent, turn, asked },
  });
}

/**
 * What came last: a tool call that failed, which is often why the model is asked again; or a message of the user that is not the first one,
 * which says what was wrong with the answer before, or continues a conversation.
 */
function askedThen({ messages }: Asked): readonly string[] {
  const last = messages.at(-1);
  const failed = last?.role === 'tool' ? last.results.find(({ isError }) => isError) : undefined;
  if (failed !== undefined) return [`  after ${failed.name} failed: ${shortened(failed.output)}`];
  const isFirst = messages.findIndex(({ role }) => role === 'user') === messages.length - 1;
  if (last?.role !== 'user' || isFirst) return [];
  return [`  and then: ${shortened(last.text)}`];
}

function nearestRule(progress: readonly Progress[], request: Asked): string | undefined {
  let best: { one: Progress; share: number; failed: readonly Criterion[] } | undefined;
  for (const one of progress.filter(({ rule }) => rule.phase === undefined)) {
    const list = criteria(one.rule, request);
    const failed = list.filter((criterion) => !criterion.holds);
    const share = list.length === 0 ? 1 : 1 - failed.length / list.length;
    if (best === undefined || share > best.share) best = { one, share, failed };
  }
  if (best === undefined) return undefined;
  const { one, failed } = best;
  const all = planned(one.rule);
  const why =
    failed.length === 0
      ? `its ${all} ${all === 1 ? 'answer is' : 'answers are'} used up`
      : `its ${failed.map((criterion) => criterion.name).join(' and ')} does not match`;
  return `${describe(one)}: ${why}`;
}

function describe({ rule, number, line }: Progress): string {
  const conditions = [
    rule.step === undefined ? '' : `step ${rule.step}`,
    rule.agent === undefined ? '' : `agent ${rule.agent}`,
    rule.phase === undefined ? '' : `phase ${rule.phase}`,
    rule.prompt === undefined ? '' : `prompt ${JSON.stringify(rule.prompt.slice(0, 60))}`,
  ].filter((part) => part !== '');
  const about = conditions.length === 0 ? ['any call'] : conditions;
  return `rule ${number} (${[...(line === undefined ? [] : [`line ${line}`]), ...about].join(', ')})`;
}

function firstUserText(request: Asked): string {
  const text = request.messages.find((message) => message.role === 'user');
  return text?.role === 'user' ? shortened(text.text) : '';
}

function shortened(text: string): string {
  const plain = text.replaceAll(/\s+/g, ' ').trim();
  return plain.length > 200 ? `${plain.slice(0, 200)}...` : plain;
}

/**
 * Opens a script for one run.
 *
 * @param script the file's name in messages, or the script itself
 * @param path path of the file
 * @throws SkeinError `SKEIN_FILE` if it cannot be read, `SKEIN_DEFINITION` with all of its problems.
 */
export async function openScript(script: string | ScriptInput, path: string): Promise<ScriptBook> {
  if (typeof script !== 'string') return openScriptBook(readScriptInput(script));
  return openScriptBook(readScript(await readTextFile(path, 'script'), script));
}
