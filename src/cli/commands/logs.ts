import type { Command } from 'commander';
import { formatDuration } from '../../base/duration.js';
import type { RunMoment } from '../../index.js';
import type { JsonFlag } from '../run/run-flags.js';
import { RUN, findRun } from '../runs/find-run.js';
import { localTime } from '../runs/text.js';
import { withRuns } from '../runs/with-store.js';
import { hideSecretsOfRecord, oneLine, shownJson } from '../view/printable.js';
import { printResult } from '../view/streams.js';
import { styleFor, type Style } from '../view/style.js';

const LONGEST_TEXT = 500;

/** `skein logs RUN`. */
export function define(command: Command): void {
  command
    .argument(...RUN)
    .option('--json', 'print it as one JSON document')
    .action(logs);
}

async function logs(text: string, { json = false }: JsonFlag): Promise<void> {
  const { id, moments } = await withRuns(async (runs, recorded) => {
    const found = await findRun(recorded, text);
    hideSecretsOfRecord(await runs.read(found));
    return { id: found, moments: (await runs.moments(found)).moments };
  });
  const style = styleFor(process.stdout);
  printResult(json ? shownJson({ run: id, moments }) : moments.map((moment) => momentLine(moment, style)).join('\n'));
}

function momentLine({ at, kind, path, text, ms }: RunMoment, style: Style): string {
  const said = oneLine(text, LONGEST_TEXT);
  const marked = kind === 'warning' ? `${style.warn('warning')}: ${said}` : said;
  const where = path === '' ? '' : `${style.bold(oneLine(path, 100))} `;
  const took = ms === undefined ? '' : style.dim(` (${formatDuration(ms)})`);
  return `${style.dim(timeOf(at))}  ${where}${marked}${took}`;
}

function timeOf(at: number): string {
  return `${localTime(at)}.${String(at % 1_000).padStart(3, '0')}`;
}
