import type { Command } from 'commander';
import { isDeepStrictEqual } from 'node:util';
import { formatDuration } from '../../base/duration.js';
import { costText } from '../../events/cost-text.js';
import { spendingOf } from '../../events/spending.js';
import type { RunOverview, StepOverview } from '../../index.js';
import type { JsonFlag } from '../run/run-flags.js';
import { RUN, findRun, shortId } from '../runs/find-run.js';
import { lineDiff } from '../runs/line-diff.js';
import { localTime, tableLines } from '../runs/text.js';
import { withRuns } from '../runs/with-store.js';
import { oneLine, secretsHidden, shownJson } from '../view/printable.js';
import { outcomeWords, tokensText } from '../view/step-text.js';
import { printResult } from '../view/streams.js';
import { styleFor, type Style } from '../view/style.js';

/** Maximum number of differing lines shown per step. */
const SHOWN_LINES = 20;
const LONGEST_LINE = 200;

/** `skein compare RUN RUN`. */
export function define(command: Command): void {
  command
    .argument(...RUN)
    .argument('<other>', 'the run to compare it with')
    .option('--json', 'print both side by side as one JSON document')
    .action(compare);
}

async function compare(run: string, other: string, { json = false }: JsonFlag): Promise<void> {
  const { left, right, names } = await withRuns(async (runs, recorded) => {
    const { ids } = recorded;
    const chosen = [await findRun(recorded, run), await findRun(recorded, other)] as const;
    const [one, two] = [await runs.read(chosen[0], { outputs: true }), await runs.read(chosen[1], { outputs: true })];
    return { left: one, right: two, names: chosen.map((id) => oneLine(shortId(id, ids), 40)) };
  });
  const pairs = pairSteps(left, right);
  printResult(json ? shownJson(document(left, right, pairs)) : lines(left, right, { pairs, names }).join('\n'));
}

function document(one: RunOverview, other: RunOverview, pairs: readonly StepPair[]): unknown {
  return {
    runs: [headOf(one), headOf(other)],
    sameInputs: isDeepStrictEqual(one.inputs, other.inputs),
    steps: pairs.map((pair) => ({
      path: pair.path,
      differs: isOther(pair),
      runs: [pair.one ?? null, pair.other ?? null],
    })),
  };
}

function headOf(run: RunOverview): unknown {
  const { id, name, status, beganAt, ms } = run;
  return { id, name, status, beganAt, ms, ...spendingOf(run) };
}

function lines(
  one: RunOverview,
  other: RunOverview,
  { pairs, names }: { readonly pairs: readonly StepPair[]; readonly names: readonly string[] },
): readonly string[] {
  const style = styleFor(process.stdout);
  const row = (name: string, say: (run: RunOverview) => string): readonly string[] => [name, '', say(one), say(other)];
  const [head = '', ...rest] = tableLines([
    ['', '', ...names],
    row('workflow', (run) => oneLine(run.name, 40)),
    row('status', (run) => outcomeWords(run.status)),
    row('began', (run) => localTime(run.beganAt)),
    row('time', (run) => formatDuration(run.ms)),
    row('model calls', (run) => String(run.modelCalls)),
    row('tokens', (run) => tokensText(run.usage)),
    row('cost', (run) => (run.modelCalls === 0 ? 'none' : costText(run))),
    ['', '', '', ''],
    ...pairs.map((pair) => [
      oneLine(pair.path, 60),
      isOther(pair) ? style.signs.differs : '',
      stepText(pair.one),
      stepText(pair.other),
    ]),
  ]);
  return [
    style.bold(head),
    ...rest,
    ...(isDeepStrictEqual(one.inputs, other.inputs) ? [] : diffLines('inputs', [one.inputs, other.inputs], style)),
    ...pairs
      .filter((pair) => pair.differs)
      .flatMap((pair) =>
        diffLines(`output of ${oneLine(pair.path, 100)}`, [pair.one?.output, pair.other?.output], style),
      ),
  ];
}

/** True if the step differs between the runs in outcome or result. */
function isOther({ one, other, differs }: StepPair): boolean {
  return differs || one?.outcome !== other?.outcome;
}

function stepText(step: StepOverview | undefined): string {
  if (step === undefined) return '-';
  const { outcome, usage, ms, from, modelCalls, set } = step;
  const time = outcome === 'skipped' ? '' : formatDuration(ms);
  const taken = from === undefined ? '' : set === undefined ? 'taken over' : 'set by the fork';
  return [outcomeWords(outcome), time, tokensText(usage), modelCalls === 0 ? '' : costText(step), taken]
    .filter((part) => part !== '')
    .join(', ');
}

/** A secret of several lines is only found in the whole text. */
function shownText(value: unknown): string {
  return secretsHidden().text(valueText(value));
}

function diffLines(title: string, values: readonly [unknown, unknown], style: Style): readonly string[] {
  const all = lineDiff(shownText(values[0]), shownText(values[1]));
  const shown = all.slice(0, SHOWN_LINES).map((line) => {
    const text = `  ${line.slice(0, 2)}${oneLine(line.slice(2), LONGEST_LINE)}`;
    return line.startsWith('-') ? style.bad(text) : style.good(text);
  });
  const left = all.length - shown.length;
  return ['', `${title}:`, ...shown, ...(left === 0 ? [] : [style.dim(`  … and ${left} more lines, all in --json`)])];
}

/** A step in two runs. Undefined in a run that did not take it. */
interface StepPair {
  readonly path: string;
  readonly one: StepOverview | undefined;
  readonly other: StepOverview | undefined;
  /** True if both succeeded with different outputs. */
  readonly differs: boolean;
}

/** Pairs the steps of two runs, in the order of the first. Steps of the second run only are inserted where they began there. */
function pairSteps(one: RunOverview, other: RunOverview): readonly StepPair[] {
  const [left, right] = [byPath(one.steps), byPath(other.steps)];
  const paths = [...left.keys()];
  let place = 0;
  for (const path of right.keys()) {
    if (left.has(path)) place = Math.max(place, paths.indexOf(path) + 1);
    else {
      paths.splice(place, 0, path);
      place += 1;
    }
  }
  return paths.map((path) => {
    const [a, b] = [left.get(path), right.get(path)];
    const both = a?.outcome === 'succeeded' && b?.outcome === 'succeeded';
    return { path, one: a, other: b, differs: both && !isDeepStrictEqual(a.output, b.output) };
  });
}

/** Formats a value as text that can be compared line by line. */
function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(sorted(value), null, 2) ?? '');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [key, sorted(inner)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function byPath(steps: readonly StepOverview[]): ReadonlyMap<string, StepOverview> {
  return new Map(steps.map((step) => [step.path, step]));
}
