import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { formatDuration, parseDuration } from '../../base/duration.js';
import type { PruneResult, RunSummary } from '../../index.js';
import { listRuns, pruneRuns } from '../../index.js';
import { EXIT } from '../exit-codes.js';
import { shortId } from '../runs/find-run.js';
import { localTime, resultStyle, statusWords, tableLines } from '../runs/text.js';
import { withStore } from '../runs/with-store.js';
import { jsonText } from '../view/json-text.js';
import { oneLine } from '../view/printable.js';
import { countText } from '../view/step-text.js';
import { printNote, printResult } from '../view/streams.js';

/** So many runs are listed; the record of each is read. */
const LISTED = 30;
const DEFAULT_AGE_MS = 30 * 24 * 3_600_000;

interface PruneFlags {
  readonly keep?: number;
  readonly olderThan?: number;
  readonly json?: boolean;
}

/** `skein runs`, `skein runs prune`. */
export function define(command: Command, done: (code: number) => void): void {
  command
    .option('--json', 'print all runs as one JSON document')
    .addHelpText(
      'after',
      '\nEverywhere a run is named by its id, a beginning or end of it, or -1 for the newest, -2 for the one before.',
    )
    .action(async (options: { readonly json?: boolean }) => {
      done(await list(options.json ?? false));
    });
  command
    .command('prune')
    .description('remove the records of runs that have ended')
    .option('--keep <n>', 'keep the newest n of them', readCount)
    .option(
      '--older-than <duration>',
      'only those that ended longer ago, such as 30d (the default without --keep)',
      readAge,
    )
    .option('--json', 'print what was removed as one JSON document')
    .addHelpText(
      'after',
      '\nRuns that can be gone on with stay, and so do runs that others which stay were forked from.',
    )
    .action(async (_: PruneFlags, own: Command) => {
      done(await prune(own.optsWithGlobals<PruneFlags>()));
    });
}

async function list(json: boolean): Promise<number> {
  const { runs, ids } = await withStore((store) => {
    const summaries = listRuns(store, json ? undefined : LISTED);
    return { runs: summaries, ids: store.list().map((row) => row.id) };
  });
  if (json) printResult(jsonText({ runs }));
  else if (runs.length === 0) printNote('no run is recorded here');
  else printResult(runLines(runs, ids).join('\n'));
  if (!json && ids.length > runs.length)
    printNote(`and ${ids.length - runs.length} older ones: skein runs --json lists all`);
  return EXIT.ok;
}

function runLines(runs: readonly RunSummary[], ids: readonly string[]): readonly string[] {
  const [head = '', ...lines] = tableLines([
    ['run', 'workflow', 'status', 'began', 'time', 'steps', 'pauses'],
    ...runs.map((run) => [
      oneLine(shortId(run.id, ids), 40),
      oneLine(run.name, 40),
      run.problem === undefined ? statusWords(run.status) : 'damaged',
      localTime(run.beganAt),
      formatDuration(run.ms),
      String(run.steps),
      run.pauses === 0 ? '' : String(run.pauses),
    ]),
  ]);
  return [resultStyle().dim(head), ...lines];
}

async function prune({ keep, olderThan, json = false }: PruneFlags): Promise<number> {
  const olderThanMs = olderThan ?? (keep === undefined ? DEFAULT_AGE_MS : undefined);
  const which = { ...(keep === undefined ? {} : { keep }), ...(olderThanMs === undefined ? {} : { olderThanMs }) };
  const result = await withStore((store) => pruneRuns(store, which));
  printResult(json ? jsonText(result) : prunedText(result));
  return EXIT.ok;
}

function prunedText({ removed, recent, unfinished, parents }: PruneResult): string {
  const stayed = [
    recent === 0 ? '' : `${recent} new enough`,
    unfinished === 0 ? '' : `${unfinished} not finished`,
    parents === 0 ? '' : `${parents} with forks that stay`,
  ].filter((part) => part !== '');
  return `removed ${countText(removed.length, 'run')}; ${stayed.length === 0 ? 'none is left' : `stayed: ${stayed.join(', ')}`}`;
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
