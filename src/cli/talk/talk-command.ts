import { relative, resolve } from 'node:path';
import { EXIT, exitCodeOf, exitCodeOfError, isOfBounds, printFailure } from '../failures.js';
import { pauseLines, questionLines, shellWord } from '../runs/text.js';
import type { ErrorData } from '../../base/errors.js';
import { SkeinError } from '../../base/errors.js';
import { escaped, jsonText, oneLine, printable } from '../view/printable.js';
import { printNote, printResult } from '../view/streams.js';
import { ASK_AGAIN, nextSteps } from '../view/next-steps.js';
import type { Style } from '../view/style.js';
import { createStyle, wantsColor } from '../view/style.js';
import type { Conversation, TurnEnd, TurnInputs } from './conversation.js';
import type { KeptFlags } from '../run/run-flags.js';
import type { Messages } from './messages.js';
import { costText } from '../../events/cost-text.js';
import { standLine, transitionLine } from './turn-text.js';

/** How a conversation is reported. */
export interface Telling extends Pick<KeptFlags, (typeof NEEDED)[number]> {
  readonly file: string;
  /** The folder that files named by flags are relative to. */
  readonly cwd: string;
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  readonly color: boolean;
}

/** A conversation in progress. */
interface Talk extends Telling {
  readonly conversation: Conversation;
  readonly style: Style;
  readonly turns: TurnEnd[];
}

/**
 * Sends one message after the other, reports each turn, and returns the exit code: 0 if the conversation is over or the person has left, 5
 * if it waits for more, 6 if a limit ended it.
 */
export async function talk(conversation: Conversation, messages: Messages, telling: Telling): Promise<number> {
  const one = talkOf(conversation, telling);
  try {
    if (messages.typed) tellStand(one);
    const code = await sayAll(one, messages);
    return told(one, code, messages.left());
  } finally {
    await conversation.close();
  }
}

/** Runs a single turn, reports it, and returns the exit code. */
export async function talkOnce(conversation: Conversation, inputs: TurnInputs, telling: Telling): Promise<number> {
  const one = talkOf(conversation, telling);
  try {
    return told(one, await say(one, inputs), 0);
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

function tellError({ message, hint }: ErrorData, style: Style): void {
  printNote(`${style.bad('error')}: ${printable(message)}`);
  if (hint !== undefined) printNote(`    hint: ${printable(hint)}`);
}

function tellStand({ conversation, style, quiet }: Talk): void {
  if (quiet === true) return;
  printNote(`conversation ${oneLine(conversation.thread, 80)}; Ctrl-D leaves it`);
  printNote(standLine(conversation.stand, style));
}

/** Prints what to do next, or everything as one document. `unsaid`: the number of messages for which there was no turn. */
function told({ conversation, turns, json, quiet, ...telling }: Talk, code: number, unsaid: number): number {
  const { thread, stand, isKept } = conversation;
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
  } else if (last !== undefined && last.questions.length > 0) {
    const run = conversation.nameOf(last.runId);
    const lines = run === undefined ? last.questions.flatMap(questionLines) : pauseLines(last.questions, run);
    const next =
      run === undefined
        ? nextSteps(ASK_AGAIN)
        : nextSteps('continue when there are answers', `skein resume ${shellWord(run)}`);
    for (const line of [...lines, ...next]) printNote(line);
  } else if (!stand.complete && code !== EXIT.outOfBudget && isKept && quiet !== true) {
    const name = shellWord(thread);
    const words = [shellWord(telling.file), ...neededFlags(telling)].join(' ');
    const events = stand.events.slice(0, MOST_EVENTS).map((event) => `skein event ${name} ${shellWord(event)}`);
    const what = events.length === 0 ? 'say something more' : 'say something more, or give the event yourself';
    const next = nextSteps(what, `skein run ${words} --thread ${name} --message TEXT`, ...events);
    for (const line of next) printNote(line);
  }
  return code;
}

/** Flags of a turn that the next one needs too: they say who answers, and what can be called. Those of `skein event` are kept. */
const NEEDED = ['model', 'mock', 'replay', 'tools', 'agent', 'prompt', 'policy', 'prices', 'limits'] as const;

/** Flags whose value is a file. */
const FILES: ReadonlySet<string> = new Set(['mock', 'replay', 'tools', 'policy', 'prices', 'limits']);

function neededFlags({ cwd, ...flags }: Telling): readonly string[] {
  return NEEDED.flatMap((name) => {
    const value = flags[name];
    if (value === undefined) return [];
    // Without a file it is the model that echoes.
    if (name === 'mock' && value === '') return ['--mock'];
    const shown = FILES.has(name) ? relative(process.cwd(), resolve(cwd, value)) : value;
    return [name === 'mock' ? shellWord(`--mock=${shown}`) : `--${name} ${shellWord(shown)}`];
  });
}

/** Maximum number of events shown as commands. */
const MOST_EVENTS = 5;
