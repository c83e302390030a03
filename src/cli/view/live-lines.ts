import { percentText } from '../../events/step-notes.js';
import { cellsOfText } from '../../base/text.js';
import { rowsOf, type Row } from './live-rows.js';
import { fitCells, isolated, oneLine, padCells, printable } from './printable.js';
import type { RunLog } from './run-log.js';
import type { StepLog } from './step-log.js';
import { modelText, outcomeMark, outcomeWords, shortCost, shortCount } from './step-text.js';
import type { Style } from './style.js';

/** The space for a picture in lines and cells, its time in milliseconds since 1970, and the number of earlier frames. */
export interface Moment {
  readonly columns: number;
  readonly lines: number;
  readonly now: number;
  readonly frame: number;
}

/** A row with the texts of its columns, without terminal control characters. */
interface Cells extends Readonly<Record<Column, string>> {
  readonly row: Row;
  readonly tree: string;
}

type Column = 'name' | 'state' | 'time' | 'tokens' | 'cost';

/** Widths of the columns. 0 for a hidden column. */
type Widths = Readonly<Record<Column, number>>;

/** A column is hidden on screens narrower than this. */
const LEAST = { time: 16, tokens: 40, cost: 60, state: 50, text: 30 };
const WIDEST_STATE = 32;
const NARROWEST_STATE = 6;
/** A tree on a narrow screen has one level of indentation per this many cells. */
const CELLS_A_LEVEL = 12;
const GAP = '  ';

/** The picture of a run in progress: a line with its progress, then its steps as a tree. Each line fits. */
export function liveLines(log: RunLog, style: Style, moment: Moment): readonly string[] {
  const { columns, lines, now } = moment;
  const head = headLine(log, style, moment);
  if (lines < 2) return [head];
  const { rows, more } = rowsOf(log, lines - 1);
  const { signs } = style;
  const trees = branches(rows, Math.floor(columns / CELLS_A_LEVEL), style);
  const cells = rows.map((row, at) => cellsOf(row, trees[at] ?? '', log, now));
  const widths = widthsOf(cells, columns);
  const writing = rows.filter(({ step }) => (step?.said ?? '') !== '').length;
  const hasTexts = columns >= LEAST.text && rows.length + writing + (more === undefined ? 1 : 2) <= lines;
  const body = cells.flatMap((one) => {
    const line = rowLine(one, widths, style, moment);
    const text = hasTexts ? textLine(one, style, columns) : undefined;
    return text === undefined ? [line] : [line, text];
  });
  if (more === undefined) return [head, ...body];
  const counts = [
    [more.running, 'running'],
    [log.progress.waiting, 'waiting'],
    [log.progress.done, 'done'],
  ] as const;
  const rest = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  const last =
    rest.length === 0 ? [] : [style.dim(fitCells(`${signs.cut} ${rest.join(', ')}`, columns, 'end', signs.cut))];
  return [head, ...body, ...last];
}

/** `review  12/31 · 1 failed · 1m20 · 84k tok · $0.31`, as much of it as fits. */
function headLine(log: RunLog, style: Style, { columns, now }: Moment): string {
  const { progress } = log;
  const { usage } = log.spent;
  const tokens = usage.inputTokens + usage.outputTokens;
  const cost = shortCost(log.spent);
  const parts = [
    { text: `${progress.done}/${progress.total}`, paint: style.bold },
    ...(progress.failed === 0 ? [] : [{ text: `${progress.failed} failed`, paint: style.bad }]),
    { text: clockText(now - log.startedAt), paint: style.dim },
    ...(tokens === 0 ? [] : [{ text: `${shortCount(tokens)} tok`, paint: style.dim }]),
    ...(cost === '' ? [] : [{ text: cost, paint: style.dim }]),
  ];
  const between = ` ${style.signs.dot} `;
  const kept = parts.filter(
    (_, at) =>
      parts.slice(0, at + 1).reduce((sum, { text }) => sum + text.length + between.length, 0) - between.length <=
      columns,
  );
  const counts = kept.map(({ text, paint }) => paint(text)).join(style.dim(between));
  const used = kept.reduce((sum, { text }) => sum + text.length + between.length, 0) - between.length;
  const room = columns - used - GAP.length;
  const name = room < 8 ? '' : isolated(fitCells(printable(log.plan.name), room, 'middle', style.signs.cut));
  if (kept.length === 0) return fitCells(parts[0]?.text ?? '', columns, 'end', style.signs.cut);
  return name === '' ? counts : `${style.accent(name)}${GAP}${counts}`;
}

function cellsOf(row: Row, tree: string, log: RunLog, now: number): Cells {
  const { step } = row;
  const name = printable(row.name);
  if (step === undefined) return { row, tree, name, state: '', time: '', tokens: '', cost: '' };
  const tokens = step.spent.usage.inputTokens + step.spent.usage.outputTokens;
  const isTimed = step.status !== 'skipped' && !step.reused;
  return {
    row,
    tree,
    name,
    state: stateText(step, log),
    time: isTimed ? clockText((step.endedAt ?? now) - step.startedAt) : '',
    tokens: tokens === 0 ? '' : shortCount(tokens),
    cost: shortCost(step.spent),
  };
}

/** Maximum characters of a state; no terminal has room for more. */
const LONGEST_STATE = 200;

/** The activity or progress of a running step; the outcome or model of an ended one. */
function stateText(step: StepLog, log: RunLog): string {
  const within = log.progress.within(step.path);
  if (step.status === 'running' && step.openTools.size > 0)
    return `runs ${oneLine([...new Set(step.openTools.values())].join(', '), LONGEST_STATE)}`;
  if (step.activity !== undefined) return printable(step.activity);
  if (step.reused && step.status === 'succeeded') return 'reused';
  if (within !== undefined && within.total > 0) {
    const count = `${within.done}/${within.total}`;
    if (step.kind !== 'loop') return count;
    return step.change === undefined ? `round ${count}` : `round ${count}, last ${percentText(step.change)} new`;
  }
  if (step.status !== 'running' && step.status !== 'succeeded') return outcomeWords(step.status);
  return step.model === undefined ? '' : modelText(step.model);
}

function widthsOf(cells: readonly Cells[], columns: number): Widths {
  const widest = (text: (cells: Cells) => string): number =>
    cells.reduce((most, one) => Math.max(most, cellsOfText(text(one))), 0);
  const time = columns < LEAST.time ? 0 : widest((one) => one.time);
  const tokens = columns < LEAST.tokens ? 0 : widest((one) => one.tokens);
  const cost = columns < LEAST.cost ? 0 : widest((one) => one.cost);
  const name = widest((one) => one.tree + one.name);
  // Without the mark and the columns at the right.
  const left =
    columns - 2 - [time, tokens, cost].reduce((sum, width) => sum + (width === 0 ? 0 : width + GAP.length), 0);
  const wanted =
    columns < LEAST.state
      ? 0
      : Math.min(
          WIDEST_STATE,
          widest((one) => one.state),
        );
  const room = left - Math.min(name, Math.floor(left / 2)) - GAP.length;
  const state = Math.min(wanted, room) < Math.min(NARROWEST_STATE, wanted) ? 0 : Math.min(wanted, room);
  return {
    name: Math.max(1, Math.min(name, left - (state === 0 ? 0 : state + GAP.length))),
    state,
    time,
    tokens,
    cost,
  };
}

function rowLine(
  { row, tree, name, ...texts }: Cells,
  widths: Widths,
  style: Style,
  { frame, columns }: Moment,
): string {
  const { cut } = style.signs;
  const shortTree = fitCells(tree, Math.max(0, widths.name - 1), 'start', '');
  const shown = isolated(fitCells(name, widths.name - cellsOfText(shortTree), 'middle', cut));
  const state = isolated(fitCells(texts.state, widths.state, 'end', cut));
  const columnsOf = [
    ...(widths.state === 0 ? [] : [padCells(state, widths.state)]),
    ...(widths.time === 0 ? [] : [texts.time.padStart(widths.time)]),
    ...(widths.tokens === 0 ? [] : [texts.tokens.padStart(widths.tokens)]),
    ...(widths.cost === 0 ? [] : [texts.cost.padStart(widths.cost)]),
  ];
  const mark = columns < 4 ? '' : `${markOf(row.step, style, frame)} `;
  const rest = columnsOf.length === 0 ? '' : GAP + columnsOf.join(GAP);
  const isRunning = row.step?.status === 'running';
  const filled = padCells('', rest.trim() === '' ? 0 : widths.name - cellsOfText(shortTree + shown));
  return `${mark}${style.dim(shortTree)}${isRunning ? style.bold(shown) : row.step === undefined ? style.dim(shown) : shown}${filled}${style.dim(rest.trimEnd())}`;
}

function markOf(step: StepLog | undefined, style: Style, frame: number): string {
  const { waiting, spinner } = style.signs;
  if (step === undefined) return style.dim(waiting);
  if (step.status !== 'running') return outcomeMark(step.status, style);
  return style.accent(spinner[frame % spinner.length] ?? waiting);
}

/** The end of the text that the model writes, on one line. */
function textLine({ row, tree }: Cells, style: Style, columns: number): string | undefined {
  const end = row.step?.said.trimEnd() ?? '';
  if (end === '') return undefined;
  const line = printable(end.slice(end.lastIndexOf('\n') + 1).replace(LOWER_HALF, ''))
    .replaceAll(/\s+/g, ' ')
    .trim();
  const before = `${' '.repeat(2 + cellsOfText(tree))}${style.signs.bar} `;
  return style.dim(before + isolated(fitCells(line, columns - cellsOfText(before), 'start', style.signs.cut)));
}

/** The second half of a surrogate pair whose first half was cut. */
const LOWER_HALF = /^[\udc00-\udfff]/;

/** The branches of the tree before each row. Deep rows on narrow screens are indented only as far as space allows. */
function branches(rows: readonly Row[], levels: number, { signs }: Style): readonly string[] {
  const goesOn: boolean[] = [];
  const trees: string[] = [];
  for (const { depth } of rows.toReversed()) {
    const trunks = Array.from({ length: Math.max(0, depth - 1) }, (_, at) =>
      goesOn[at + 1] === true ? signs.trunk : '  ',
    );
    const own = depth === 0 ? [] : [goesOn[depth] === true ? signs.branch : signs.lastBranch];
    trees.push([...trunks, ...own].slice(-Math.max(levels, 1)).join(''));
    goesOn.length = depth + 1;
    goesOn[depth] = true;
  }
  return trees.toReversed();
}

/** Formats a time in few characters: `4s`, `1m20`, `2h05`. */
function clockText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds}s`;
  const [count, unit] = seconds < 3_600 ? [seconds, 'm'] : [Math.floor(seconds / 60), 'h'];
  return `${Math.floor(count / 60)}${unit}${String(count % 60).padStart(2, '0')}`;
}
