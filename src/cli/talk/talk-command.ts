import { EXIT, exitCodeOf, exitCodeOfError, isOfBounds, printFailure } from '../failures.js';
import { pauseLines, questionLines, shellWord } from '../runs/text.js';
import { SkeinError, type ErrorData } from '../../base/errors.js';
import { escaped, jsonText, oneLine, printable } from '../view/printable.js';
import { printNote, printResult } from '../view/streams.js';
import { ASK_AGAIN, nextSteps, raisedBudget, trustFlag } from '../view/next-steps.js';
import { createStyle, wantsColor, type Style } from '../view/style.js';
import type { Conversation, TurnEnd, TurnInputs } from './conversation.js';
import type { Messages } from './messages.js';
import { costText } from '../../events/cost-text.js';
import { sayMore, type GivenBefore } from './say-more.js';
import { standLine, transitionLine } from './turn-text.js';

export interface Telling extends GivenBefore {
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  readonly color: boolean;
}

interface Talk extends Telling {
  readonly conversation: Conversation;
  readonly style: Style;
  readonly turns: TurnEnd[];
}

/** Sends the messages, reports each turn, and returns the exit code: 0 at the end, 5 if it waits for more, 6 at a limit. */
export async function talk(conversation: Conversation, messages: Messages, telling: Telling): Promise<number> {
  const one = talkOf(conversation, telling);
  try {
    if (messages.typed) tellStand(one);
    const code = await sayAll(one, messages);
    return await told(one, code, messages.left());
  } finally {
    await conversation.close();
  }
}

/** Runs a single turn, reports it, and returns the exit code. */
export async function talkOnce(conversation: Conversation, inputs: TurnInputs, telling: Telling): Promise<number> {
  const one = talkOf(conversation, telling);
  try {
    return await told(one, await say(one, inputs), 0);
  } finally {
    await conversation.close();
  }
}

function talkOf(conversation: Conversation, telling: Telling): Talk {
  return {
    ...telling,
    conversation,
    style: createStyle(wantsColor(process.stderr, process.env, telling.color)),
    turns: [],
  };
}

async function sayAll(one: Talk, messages: Messages): Promise<number> {
  let code: number = EXIT.paused;
  for (;;) {
    const message = await messages.next(`${one.style.bold(oneLine(one.conversation.stand.state, 60))}> `);
    if (message === undefined) {
      if (messages.typed) printNote('');
      return messages.typed ? EXIT.ok : code;
    }
    code = messages.typed ? await sayTyped(one, message) : await say(one, { message });
    const goesOn = messages.typed ? code !== EXIT.ok && code !== EXIT.outOfBudget : code === EXIT.paused;
    if (!goesOn || (one.turns.at(-1)?.questions.length ?? 0) > 0) return code;
  }
}

/** A person can continue after a failed turn, which does not count. */
async function sayTyped(one: Talk, message: string): Promise<number> {
  try {
    return await say(one, { message });
  } catch (error) {
    if (!SkeinError.isInstance(error)) throw error;
    printFailure(error);
    const code = exitCodeOfError(error);
    return code === EXIT.ok ? EXIT.usage : code;
  }
}

/** Runs and reports one turn. Returns the exit code of a conversation that ends with it. */
async function say(one: Talk, inputs: TurnInputs): Promise<number> {
  const end = await one.conversation.turn(inputs);
  one.turns.push(end);
  if (one.json !== true) tellTurn(one, end);
  return codeOf(end);
}

function codeOf({ outcome, error, stand }: TurnEnd): number {
  if (outcome === 'succeeded' || outcome === 'degraded') return stand.complete ? EXIT.ok : EXIT.paused;
  return isOfBounds(error) ? EXIT.outOfBudget : exitCodeOf(outcome, { strict: false, error });
}

/** The texts of earlier states and the transitions appear beside the answer. */
function tellTurn({ style, quiet, conversation }: Talk, end: TurnEnd): void {
  if (quiet !== true) {
    for (const { state, text } of end.before) printNote(`${style.dim(`[${oneLine(state, 60)}]`)} ${printable(text)}`);
    for (const transition of end.transitions) printNote(transitionLine(transition, style));
  }
  printResult(process.stdout.isTTY ? escaped(end.text) : end.text);
  if (end.error !== undefined) tellError(end.error, style);
  if (end.outcome === 'failed' || end.outcome === 'cancelled') {
    const name = oneLine(conversation.thread, 60);
    printNote(`the turn does not count: the conversation ${name} is where it was`);
  }
  const cost = end.spent.modelCalls === 0 ? '' : costText(end.spent);
  if (quiet !== true) printNote(standLine(end.stand, style) + (cost === '' ? '' : style.dim(` · ${cost}`)));
}

function tellError({ code, message, hint }: ErrorData, style: Style): void {
  printNote(`${style.bad('error')} ${code}: ${printable(message)}`);
  if (hint !== undefined) printNote(`    hint: ${printable(hint)}`);
}

function tellStand({ conversation, style, quiet }: Talk): void {
  if (quiet === true) return;
  printNote(`conversation ${oneLine(conversation.thread, 80)}; Ctrl-D leaves it`);
  printNote(standLine(conversation.stand, style));
}

/** Prints what to do next, or everything as one document. `unsaid`: the number of messages for which there was no turn. */
async function told(
  { conversation, turns, json, quiet, ...telling }: Talk,
  code: number,
  unsaid: number,
): Promise<number> {
  const { thread, stand } = conversation;
  const last = turns.at(-1);
  if (unsaid > 0) {
    const what = unsaid === 1 ? '1 message was not said' : `${unsaid} messages were not said`;
    printNote(
      `${telling.style.warn('warning')}: ${what}: the conversation ${stand.complete ? 'is over' : 'stopped before'}`,
    );
  }
  if (json === true) {
    const listed = turns.map(({ stand: { state }, before, ...turn }) => ({ ...turn, state, said: before }));
    printResult(jsonText({ thread, ...stand, exitCode: code, unsaid, turns: listed }));
  } else {
    const trust = await conversation.needsYes();
    for (const line of nextLines(conversation, { last, code, quiet, telling, trust })) printNote(line);
  }
  return code;
}

interface AfterTurns {
  readonly last: TurnEnd | undefined;
  readonly code: number;
  readonly quiet: boolean | undefined;
  readonly telling: GivenBefore;
  /** Whether the next command needs `--trust`. */
  readonly trust: boolean;
}

function nextLines(conversation: Conversation, { last, code, quiet, telling, trust }: AfterTurns): readonly string[] {
  const flag = trustFlag(trust);
  const { thread, stand, isKept, hasBegun } = conversation;
  const run = last === undefined ? undefined : conversation.nameOf(last.runId);
  if (last !== undefined && last.questions.length > 0) {
    if (run === undefined) return [...last.questions.flatMap(questionLines), ...nextSteps(ASK_AGAIN)];
    const resume = `skein resume ${shellWord(run)}${flag}`;
    return [...pauseLines(last.questions, run), ...nextSteps('continue when there are answers', resume)];
  }
  if (code === EXIT.outOfBudget) return (run === undefined ? undefined : raisedBudget(run, last?.error, flag)) ?? [];
  return stand.complete || !isKept || quiet === true ? [] : sayMore({ ...telling, thread, stand, hasBegun, trust });
}
