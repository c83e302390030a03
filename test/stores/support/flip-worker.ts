/**
 * Changes bits of a store, one at a time, and compares what it then tells with what it told before. Arguments: file, number of this
 * process, number of processes, number of bytes in all. Prints what came of it as JSON.
 */
import { copyFileSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { SkeinError } from '../../../src/base/errors.js';
import { readRun } from '../../../src/journal/overview.js';
import { listRuns } from '../../../src/journal/run-list.js';
import { openSqliteStore } from '../../../src/stores/sqlite.js';

const [file = '', own = '0', processes = '1', positions = '1'] = process.argv.slice(2);
const copy = `${file}-${own}`;
/** The same time for all, so that what is still running lasts equally long. */
const now = Date.now() + 60_000;

/** What a store says of each run, or why it does not. */
async function tell(path: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const told = new Map<string, string>();
  const note = (what: string, work: () => unknown): void => {
    try {
      told.set(what, JSON.stringify(work()));
    } catch (error) {
      if (!SkeinError.isInstance(error)) throw error;
      told.set(what, `refused ${error.code}`);
    }
  };
  let store;
  try {
    store = await openSqliteStore(path);
  } catch (error) {
    if (!SkeinError.isInstance(error)) throw error;
    for (const what of ['list', ...ids]) told.set(what, `refused ${error.code}`);
    return told;
  }
  const open = store;
  note('list', () => listRuns(open).map((run) => (run.problem === undefined ? run : { damaged: true })));
  for (const id of ids) note(id, () => readRun(open, id, { outputs: true, now }));
  try {
    store.close();
  } catch (error) {
    if (!SkeinError.isInstance(error)) throw error;
  }
  return told;
}

/** Drivers close files when what was compiled for them has been collected, and the event loop has had its turn. */
async function letGo(): Promise<void> {
  globalThis.gc?.();
  await new Promise((resolve) => setImmediate(resolve));
}

/** Deterministic, and all over the file. */
function* places(size: number): Generator<number> {
  const count = Number(positions);
  for (let n = Number(own); n < count; n += Number(processes))
    yield Math.floor(((n * 0.618_033_988_749_895) % 1) * size);
}

function isShorter(text: string, before: string): boolean {
  const [one, other] = [text, before].map((part) => JSON.parse(part) as { cut?: string; id?: string; name?: string });
  return one?.cut !== undefined && one.id === other?.id && one.name === other?.name;
}

/** A list in which some are told as damaged, wherever they stand, and all others as they were and in their order. */
function isListWithDamage(text: string, before: string): boolean {
  const [list = [], whole = []] = [text, before].map((part) => JSON.parse(part) as readonly { damaged?: true }[]);
  const good = list.filter((run) => run.damaged !== true).map((run) => JSON.stringify(run));
  const left = whole.map((run) => JSON.stringify(run)).filter((run) => good.includes(run));
  return list.length === whole.length && left.join('\n') === good.join('\n');
}

async function main(): Promise<void> {
  // It is lifted to the tables of today first.
  copyFileSync(file, copy);
  const ids = await openSqliteStore(copy).then((store) => {
    listRuns(store);
    const all = store.list().map(({ id }) => id);
    store.close();
    return all;
  });
  const bytes = readFileSync(copy);
  const before = await tell(copy, ids);
  const report = { same: 0, refused: 0, shorter: 0, wrong: [] as string[] };
  for (const place of places(bytes.length)) {
    await letGo();
    for (let bit = 0; bit < 8; bit++) {
      const flipped = Buffer.from(bytes);
      flipped[place] = (flipped[place] ?? 0) ^ (1 << bit);
      for (const end of ['-wal', '-shm']) rmSync(copy + end, { force: true });
      writeFileSync(copy, flipped);
      const after = await tell(copy, ids);
      let verdict: 'same' | 'refused' | 'shorter' = 'same';
      for (const [what, was] of before) {
        const is = after.get(what) ?? '';
        if (is === was) continue;
        if (is.startsWith('refused SKEIN_')) verdict = 'refused';
        else if (what === 'list' && isListWithDamage(is, was)) verdict = 'refused';
        else if (what !== 'list' && isShorter(is, was)) verdict = 'shorter';
        else if (report.wrong.length < 20) report.wrong.push(`byte ${place}, bit ${bit}: ${what}: ${is.slice(0, 300)}`);
      }
      report[verdict] += 1;
    }
  }
  writeSync(1, JSON.stringify(report));
}

await main();
