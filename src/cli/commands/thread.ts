import type { Command } from 'commander';
import { countText } from '../../base/text.js';
import { SkeinError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import { costText } from '../../events/cost-text.js';
import { addSpending, NO_SPENDING } from '../../events/spending.js';
import {
  getThread,
  listThreads,
  type RunStatus,
  type Store,
  type ThreadEdit,
  type ThreadOverview,
  type ThreadTurn,
} from '../../index.js';
import type { JsonFlag } from '../run/run-flags.js';
import { shortId } from '../runs/find-run.js';
import { localTime, paintStatus, pauseLines } from '../runs/text.js';
import { withStore } from '../runs/with-store.js';
import { toldTurn } from '../talk/turn-text.js';
import { shownJson, oneLine, printable } from '../view/printable.js';
import { printResult } from '../view/streams.js';
import { styleFor, type Style } from '../view/style.js';

/** Maximum number of turns shown, the latest ones. */
const SHOWN = 50;
/** Maximum number of characters of a value. */
const LONGEST = 2_000;

/** `skein thread NAME`. */
export function define(command: Command): void {
  command
    .argument('<thread>', 'the name of the conversation')
    .option('--json', 'print state, turns, edits and open questions as one JSON document')
    .action(show);
}

async function show(name: string, { json = false }: JsonFlag): Promise<void> {
  const { thread, ids } = await withStore((store) => ({
    thread: threadNamed(store, name),
    ids: store.ids(),
  }));
  printResult(json ? shownJson(thread) : lines(thread, ids, styleFor(process.stdout)).join('\n'));
}

/** @throws SkeinError `SKEIN_NO_THREAD` with the name that may be meant */
function threadNamed(store: Store, name: string): ThreadOverview {
  try {
    return getThread(store, name);
  } catch (error) {
    if (!SkeinError.isInstance(error) || error.code !== 'SKEIN_NO_THREAD') throw error;
    const names = listThreads(store).map(({ id }) => id);
    const hint = didYouMean(name, names.slice(0, 1_000)) ?? 'skein threads lists them';
    throw new SkeinError(error.code, error.message, { hint });
  }
}

function lines(thread: ThreadOverview, ids: readonly string[], style: Style): readonly string[] {
  const { id, workflow, from, turns, edits, questions } = thread;
  const of = workflow === undefined ? '' : ` of ${oneLine(workflow, 40)}`;
  const forked = from === undefined ? [] : [`forked from turn ${from.turn} of ${oneLine(from.thread, 60)}`];
  const shown = turns.slice(-SHOWN);
  const hidden = turns.length - shown.length;
  const first = shown[0]?.turn ?? 0;
  const between = (after: number): readonly string[] =>
    edits.filter((edit) => edit.after === after).flatMap((edit) => editLines(edit, style));
  return [
    `${style.bold(oneLine(id, 80))}${of}: ${countText(turns.length, 'turn')}${costOf(turns)}`,
    ...forked,
    ...(hidden === 0 ? [] : [style.dim(`the first ${countText(hidden, 'turn')} are not shown: --json prints all`)]),
    ...(hidden === 0 ? between(0) : []),
    ...shown.flatMap((turn) => [...turnLines(turn, ids, style), ...(turn.turn >= first ? between(turn.turn) : [])]),
    ...(questions.length === 0 ? [] : ['', ...pauseLines(questions, shortId(turns.at(-1)?.runId ?? '', ids))]),
  ];
}

/** A turn that has not ended may still count. */
const OPEN: ReadonlySet<RunStatus> = new Set(['running', 'paused', 'interrupted']);

function turnLines(turn: ThreadTurn, ids: readonly string[], style: Style): readonly string[] {
  const { runId, status, counts, beganAt, error } = turn;
  const { inputs, results } = toldTurn(turn);
  const run = ids.includes(runId) ? `  run ${oneLine(shortId(runId, ids), 40)}` : '';
  const passed = counts || OPEN.has(status) ? '' : style.dim('  does not count');
  return [
    '',
    `turn ${turn.turn}  ${paintStatus(status, style)}  ${localTime(beganAt)}${style.dim(run)}${costOf([turn])}${passed}`,
    ...valueLines(inputs, '> '),
    ...valueLines(results, ''),
    ...(counts && Object.keys(inputs).length + Object.keys(results).length === 0
      ? ['  left everything as it was']
      : []),
    ...(error === undefined ? [] : [`  ${style.bad('error')}: ${indented(printable(error.message))}`]),
  ];
}

/** The cost of turns. Empty if no model was called. */
function costOf(turns: readonly ThreadTurn[]): string {
  const spent = turns.map((turn) => turn.spent ?? NO_SPENDING).reduce(addSpending, NO_SPENDING);
  const cost = spent.modelCalls === 0 ? '' : costText(spent);
  return cost === '' ? '' : `, ${cost}`;
}

function editLines({ at, who, why, values }: ThreadEdit, style: Style): readonly string[] {
  return [
    '',
    `${style.accent('changed')} by ${oneLine(who, 60)}  ${localTime(at)}  ${style.dim(oneLine(why, 200))}`,
    ...valueLines(values, ''),
  ];
}

function valueLines(values: Readonly<Record<string, unknown>>, mark: string): readonly string[] {
  return Object.entries(values).map(([name, value]) => {
    const text = printable(typeof value === 'string' ? value : JSON.stringify(value));
    return `  ${mark}${oneLine(name, 60)}: ${indented(text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text)}`;
  });
}

/** Indents the lines of a value below its name, so that none looks like another name. */
function indented(text: string): string {
  return text.trimEnd().replaceAll('\n', '\n    ');
}
