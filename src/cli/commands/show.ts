import type { Command } from 'commander';
import { countText } from '../../base/text.js';
import { triesOf } from '../../base/address.js';
import { formatDuration } from '../../base/duration.js';
import {
  decidedText,
  endorserText,
  sourcesText,
  trustText,
  type DecidedCall,
  type Endorsement,
} from '../../events/trust.js';
import { formatCensus, type RunOverview } from '../../index.js';
import { runNeedsYes } from '../run/needs-yes.js';
import type { JsonFlag } from '../run/run-flags.js';
import { RUN, findRun, shortId } from '../runs/find-run.js';
import { localTime, paintStatus, pauseLines, shellWord, stepLine, tableLines, usageLine } from '../runs/text.js';
import { withRuns } from '../runs/with-store.js';
import { CONTINUED, nextSteps, stepsAtEnd, trustFlag } from '../view/next-steps.js';
import { hideSecretsOfRecord, oneLine, printable, shownJson } from '../view/printable.js';
import { outcomeWords } from '../view/step-text.js';
import { printResult } from '../view/streams.js';
import { styleFor, type Style } from '../view/style.js';

/** Above this number of steps, only those with a problem are listed one by one. */
const LISTED_STEPS = 100;

/** `skein show RUN`. */
export function define(command: Command): void {
  command
    .argument(...RUN)
    .option('--taint', 'show which steps untrusted text influenced, where it came from, and how calls were decided')
    .option('--json', 'print everything recorded about steps, sessions and questions as one JSON document')
    .action(show);
}

interface Flags extends JsonFlag {
  readonly taint?: boolean;
}

/** A run, as the next commands name it. */
interface Named {
  readonly id: string;
  /** Whether they need `--trust`. */
  readonly trust: boolean;
}

async function show(text: string, { json = false, taint = false }: Flags): Promise<void> {
  const { overview, short, trust } = await withRuns(async (runs, recorded, store) => {
    const { ids } = recorded;
    const id = await findRun(recorded, text);
    const read = await runs.read(id, { outputs: json });
    const mayGoOn = !json && !taint && read.status !== 'succeeded' && read.status !== 'running';
    return { overview: read, short: shortId(id, ids), trust: mayGoOn && (await runNeedsYes(store, id)) };
  });
  hideSecretsOfRecord(overview);
  const style = styleFor(process.stdout);
  const lines = taint ? taintLines(overview, style) : showLines(overview, { id: short, trust }, style);
  printResult(json ? shownJson(overview) : lines.join('\n'));
}

function showLines(overview: RunOverview, run: Named, style: Style): readonly string[] {
  const { steps, census, error, questions, warnings } = overview;
  const usage = usageLine(overview);
  return [
    ...headLines(overview, style),
    '',
    ...stepLines(overview, style),
    ...(steps.length === 0 ? [] : ['']),
    ...(census === undefined ? [] : [formatCensus(census)]),
    ...(usage === undefined ? [] : [usage]),
    ...warnings.map(
      ({ path, message }) => `warning: ${path === '' ? '' : `${printable(path)}: `}${printable(message)}`,
    ),
    ...(error === undefined ? [] : [`${style.bad('error')} ${error.code}: ${printable(error.message)}`]),
    ...(error?.hint === undefined ? [] : [`    hint: ${printable(error.hint)}`]),
    ...pauseLines(questions, run.id),
    ...nextLines(overview, run),
  ];
}

function headLines(
  { id, name, status, beganAt, ms, sessions, parent, origin, steps, cut }: RunOverview,
  style: Style,
): readonly string[] {
  const file = origin['file'];
  const taken = steps.filter((step) => step.from !== undefined).length;
  const which =
    sessions.length < 2
      ? ''
      : `, ${sessions.length} sessions (${sessions.map((one) => outcomeWords(one.status)).join(', ')})`;
  return [
    `${style.bold(printable(name))} ${paintStatus(status, style)}`,
    `run ${printable(id)}`,
    `began ${localTime(beganAt)}, took ${formatDuration(ms)}${which}`,
    ...(typeof file === 'string' ? [`file ${printable(file)}`] : []),
    ...(parent === undefined ? [] : [forkedText(parent, taken)]),
    ...(cut === undefined ? [] : [`${style.warn('warning')}: ${printable(cut)}`]),
  ];
}

function forkedText({ id, set = [] }: NonNullable<RunOverview['parent']>, taken: number): string {
  const given = set.length === 0 ? '' : `, set: ${set.map((key) => oneLine(key, 60)).join(', ')}`;
  return `forked from ${printable(id)}: ${countText(taken, 'step')} taken from it${given}`;
}

function stepLines({ steps }: RunOverview, style: Style): readonly string[] {
  const listed = steps.length <= LISTED_STEPS ? steps : steps.filter((step) => step.outcome !== 'succeeded');
  const shown = outerFirst(listed.slice(0, LISTED_STEPS));
  const width = Math.max(0, ...shown.map((step) => oneLine(step.path, 60).length));
  const left = steps.length - shown.length;
  const lines = shown.map((step) => stepLine(step, width, style));
  return left === 0 ? lines : [...lines, `  … and ${countText(left, 'step')} more, all in --json`];
}

/** A step that contains others is recorded when it ends, and shown before them. */
function outerFirst(steps: RunOverview['steps']): RunOverview['steps'] {
  const first = new Map<string, number>();
  for (const [at, { path }] of steps.entries())
    for (const { of } of triesOf(path)) first.set(of, Math.min(at, first.get(of) ?? at));
  const placed = steps.map((step, at) => ({ step, place: first.get(step.path) ?? at }));
  return placed
    .toSorted((a, b) => a.place - b.place || a.step.path.length - b.step.path.length)
    .map(({ step }) => step);
}

function nextLines({ status, questions, error, steps }: RunOverview, { id, trust }: Named): readonly string[] {
  if (status === 'running') return [];
  if (status === 'paused' && questions.some((pause) => pause.overdue !== true)) return [];
  if (status === 'interrupted' || status === 'paused')
    return nextSteps(CONTINUED, `skein resume ${shellWord(id)}${trustFlag(trust)}`);
  return stepsAtEnd({ outcome: status, error, steps, recorded: { id, takenOver: false, trust } });
}

/** Lists the steps of a run with an influence other than the user's, or of something private, its sources, and the decisions about their calls. */
function taintLines({ id, name, steps, guarded, endorsed }: RunOverview, style: Style): readonly string[] {
  const labelled = steps.flatMap((step) => (step.label === undefined ? [] : [{ ...step, label: step.label }]));
  const influenced = labelled.filter(({ label }) => label.level !== 'trusted');
  const rows = labelled.map(({ path, label }) => [
    oneLine(path, 60),
    trustText(label),
    label.sources.length === 0 ? '' : `from ${oneLine(sourcesText(label), 300)}`,
  ]);
  return [
    `${style.bold(printable(name))}, run ${printable(id)}`,
    '',
    influenced.length === 0
      ? 'only you influenced the steps'
      : `others influenced ${influenced.length} of ${countText(steps.length, 'step')}`,
    ...tableLines(rows).map((line) => `  ${line}`),
    '',
    guarded.length === 0
      ? 'no call was asked about or denied'
      : `${countText(guarded.length, 'call')} asked about or denied`,
    ...guarded.flatMap((one) => callLines(one, style)),
    ...(endorsed.length === 0 ? [] : ['', `${countText(endorsed.length, 'result')} endorsed`]),
    ...tableLines(endorsed.map(endorsedRow)).map((line) => `  ${line}`),
  ];
}

function endorsedRow(one: Endorsement): readonly string[] {
  const was = `was ${trustText(one)}, from ${oneLine(sourcesText(one), 300)}`;
  return [oneLine(one.path, 60), `${endorserText(one)}, ${new Date(one.at).toISOString()}`, was];
}

function callLines(call: DecidedCall, style: Style): readonly string[] {
  const { path, tool, rule, why, lineage, findings, declare } = call;
  const said = decidedText(call);
  return [
    `  ${style.bold(oneLine(path, 60))} ${oneLine(tool, 80)}: ${said} ${style.dim(`(${oneLine(rule, 80)})`)}`,
    ...[
      ...(why === undefined ? [] : [why]),
      `influenced by: ${sourcesText(call)}`,
      ...lineage,
      ...(findings === undefined ? [] : [`found there: ${findings.join(', ')}`]),
      ...(declare === undefined ? [] : [`would allow it: ${declare}`]),
    ].map((line) => `    ${oneLine(line, 500)}`),
  ];
}
