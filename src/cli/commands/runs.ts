import { InvalidArgumentError, type Command } from 'commander';
import { countText } from '../../base/text.js';
import { join, resolve } from 'node:path';
import { addTo } from '../../base/collections.js';
import { formatDuration, parseDuration } from '../../base/duration.js';
import { present } from '../../base/json.js';
import { AUDIT_FOLDER } from '../../base/own-names.js';
import { costText } from '../../events/cost-text.js';
import type { Dollars } from '../../events/cost.js';
import type { Usage } from '../../events/event.js';
import type { Spending } from '../../events/spending.js';
import { pruneRuns, type PruneResult, type RunSummary } from '../../index.js';
import type { RunCosts } from '../../recorded-runs.js';
import { noteOwn, storeFile } from '../run/open-store.js';
import type { JsonFlag } from '../run/run-flags.js';
import { shortId } from '../runs/find-run.js';
import { localTime, tableLines } from '../runs/text.js';
import { withRuns, withStore } from '../runs/with-store.js';
import { oneLine, printable, shownJson } from '../view/printable.js';
import { modelText, outcomeWords, tokensText } from '../view/step-text.js';
import { printNote, printResult } from '../view/streams.js';
import { styleFor, type Style } from '../view/style.js';

/** Maximum number of runs listed: the record of each is read. */
const LISTED = 30;
const DEFAULT_AGE_MS = 30 * 24 * 3_600_000;

interface ListFlags extends JsonFlag {
  readonly costs?: boolean;
}

interface PruneFlags extends JsonFlag {
  readonly keep?: number;
  readonly olderThan?: number;
  readonly folders?: boolean;
}

/** `skein runs` with `prune`, `backup` and `trust`. */
export function define(command: Command): void {
  command
    .option('--json', 'print all runs as one JSON document')
    .option('--costs', 'show what the runs have cost, by day, workflow and model')
    .addHelpText(
      'after',
      '\nEvery command takes the id of a run, or its beginning or end. -1 is the newest run, -2 the one before it.',
    )
    .action(list);
  command
    .command('prune')
    .description('remove the records of runs that have ended')
    .option('--keep <n>', 'keep the newest n of them', readCount)
    .option(
      '--older-than <duration>',
      'only those that ended longer ago, such as 30d (the default without --keep)',
      readAge,
    )
    .option('--folders', `also the folders in ${AUDIT_FOLDER} of runs that are not recorded, or no longer are`)
    .option('--json', 'print what was removed as one JSON document')
    .addHelpText('after', '\nRuns that can be resumed stay. So do runs from which a remaining run was forked.')
    .action((_: PruneFlags, own: Command) => prune(own.optsWithGlobals()));
  command
    .command('backup')
    .description('copy the recorded runs into a new file; runs can continue meanwhile')
    .argument('<file>', 'the new file')
    .action(async (file: string) => {
      await withStore((store) => store.backup(resolve(file)));
      printNote(`all recorded runs are in ${printable(file)}; to use it, replace .skein/skein.db with it`);
    });
  command
    .command('trust')
    .description('let resume and fork trust recorded runs that you did not make here')
    .action(async () => {
      await withStore((store, root) => {
        noteOwn(store.token);
        printNote(`the recorded runs in ${printable(storeFile(root))} are trusted from now on`);
      });
    });
}

async function list({ costs = false, json = false }: ListFlags): Promise<void> {
  if (costs) return await listCosts(json);
  const { runs, ids } = await withRuns(async (reader) => {
    const summaries = await reader.list(json ? undefined : LISTED);
    return { runs: summaries, ids: await reader.ids() };
  });
  if (json) printResult(shownJson({ runs }));
  else if (runs.length === 0) printNote('no run is recorded here');
  else printResult(runLines(runs, ids).join('\n'));
  if (!json && ids.length > runs.length)
    printNote(`and ${ids.length - runs.length} older ones: skein runs --json lists all`);
}

async function listCosts(json: boolean): Promise<void> {
  const costs = await withRuns((reader) => reader.costs());
  printResult(json ? shownJson(costs) : costLines(costs, styleFor(process.stdout)).join('\n'));
}

function runLines(runs: readonly RunSummary[], ids: readonly string[]): readonly string[] {
  const style = styleFor(process.stdout);
  const grouped = byThread(runs);
  const [head = '', ...lines] = tableLines([
    ['run', 'workflow', 'status', 'began', 'time', 'steps', 'pauses'],
    ...grouped.map(({ run, thread }) => [
      (thread === undefined ? '' : '  ') + oneLine(shortId(run.id, ids), 40),
      oneLine(run.name, 40),
      run.problem === undefined ? outcomeWords(run.status) : 'damaged',
      localTime(run.beganAt),
      formatDuration(run.ms),
      String(run.steps),
      run.pauses === 0 ? '' : String(run.pauses),
    ]),
  ]);
  const above = (at: number): readonly string[] => {
    const { thread } = grouped[at] ?? {};
    return thread === undefined || thread === grouped[at - 1]?.thread ? [] : [`thread ${oneLine(thread, 80)}`];
  };
  return [style.dim(head), ...lines.flatMap((line, at) => [...above(at), line])];
}

/** Groups the turns of a thread at the place of the newest one. */
function byThread(runs: readonly RunSummary[]): readonly { readonly run: RunSummary; readonly thread?: string }[] {
  const turns = new Map<string, RunSummary[]>();
  for (const run of runs) if (run.thread !== undefined) addTo(turns, run.thread, run);
  return runs.flatMap((run) => {
    const { thread } = run;
    if (thread === undefined) return [{ run }];
    const own = turns.get(thread) ?? [];
    return own[0] === run ? own.map((turn) => ({ run: turn, thread })) : [];
  });
}

interface Pruned extends PruneResult {
  readonly freedBytes: number;
  /** Run folders that were removed, and those that could be. */
  readonly removedFolders: readonly string[];
  readonly otherFolders: readonly string[];
}

async function prune({ keep, olderThan, folders = false, json = false }: PruneFlags): Promise<void> {
  const olderThanMs = olderThan ?? (keep === undefined ? DEFAULT_AGE_MS : undefined);
  const { findLeftovers, removeFolder } = await import('../../recorded-runs.js');
  const pruned = await withStore(async (store, root): Promise<Pruned> => {
    const result = pruneRuns(store, present({ keep, olderThanMs }));
    const freedBytes = store.shrink();
    const recorded = new Set(store.ids());
    const found = await findLeftovers({
      dir: join(root, AUDIT_FOLDER),
      project: root,
      isRecorded: (id) => recorded.has(id),
      olderThanMs: olderThanMs ?? 0,
      now: Date.now(),
    });
    if (folders) for (const folder of found) await removeFolder(folder);
    const [removedFolders, otherFolders] = folders ? [found, []] : [[], found];
    return { ...result, freedBytes, removedFolders, otherFolders };
  });
  printResult(json ? shownJson(pruned) : prunedText(pruned));
  if (!json && pruned.otherFolders.length > 0)
    printNote(
      `${countText(pruned.otherFolders.length, 'folder')} in ${AUDIT_FOLDER} of runs that are not recorded: --folders removes them`,
    );
}

function prunedText({ removed, recent, unfinished, parents, freedBytes, removedFolders }: Pruned): string {
  const stayed = [
    recent === 0 ? '' : `${recent} new enough`,
    unfinished === 0 ? '' : `${unfinished} not finished`,
    parents === 0 ? '' : `${parents} with forks that stay`,
  ].filter((part) => part !== '');
  const gone = [
    `removed ${countText(removed.length, 'run')}`,
    ...(removedFolders.length === 0 ? [] : [countText(removedFolders.length, 'run folder')]),
    ...(freedBytes < 1_024 ? [] : [`${Math.round(freedBytes / 1_024)} KiB freed`]),
  ].join(', ');
  return `${gone}; ${stayed.length === 0 ? 'none is left' : `stayed: ${stayed.join(', ')}`}`;
}

function readCount(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

function readAge(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('It must be a duration such as 30d, 12h or 90m.');
  return ms;
}

function costLines({ days, workflows, models, whole, runs, unread }: RunCosts, style: Style): readonly string[] {
  const sections = [
    ['day', days.map((day) => row(day.day, day))],
    [
      'workflow',
      workflows.map(({ workflow, runs: count, ...spent }) =>
        row(`${oneLine(workflow, 40)} (${countText(count, 'run')})`, spent),
      ),
    ],
    ['model', models.map(({ model, calls, ...spent }) => rowOf(modelText(model), calls, spent))],
  ] as const;
  return [
    ...sections.flatMap(([head, rows]) => {
      const [first = '', ...lines] = tableLines([[head, 'model calls', 'cost', 'tokens'], ...rows]);
      return rows.length === 0 ? [] : [style.dim(first), ...lines, ''];
    }),
    [
      `in all ${countText(runs, 'run')}`,
      countText(whole.modelCalls, 'model call'),
      tokensText(whole.usage),
      costText(whole),
    ]
      .filter((part) => part !== '')
      .join(', '),
    ...unread.map(
      ({ id, problem }) => `${style.warn('warning')}: run ${printable(id)} is not in it: ${printable(problem)}`,
    ),
  ];
}

function row(name: string, spent: Spending): readonly string[] {
  return rowOf(name, spent.modelCalls, spent);
}

function rowOf(name: string, calls: number, spent: Dollars & { readonly usage: Usage }): readonly string[] {
  return [name, String(calls), costText(spent), tokensText(spent.usage)];
}
