import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunHistory } from '../../src/journal/history.js';
import { replay } from '../../src/journal/replay.js';
import type { StoredBatch } from '../../src/journal/store.js';

/** The journal of a run as one version of Skein wrote it, and what it says. */
export interface Golden {
  readonly runId: string;
  readonly batches: readonly StoredBatch[];
  readonly expected: unknown;
}

export const GOLDEN_FOLDER = join(import.meta.dirname, 'golden');

/** What a journal says, as plain JSON that people can read: what every later version has to get out of it. */
export function summaryOf(history: RunHistory): unknown {
  const { begin, current, sessions, entries, started, timers, pauses, logs, batches, cut } = history;
  const outcomes = [...entries].flatMap(([key, list]) =>
    list.map(({ record, order, session }) => ({ key, record, order, session })),
  );
  const summary = {
    begin,
    current,
    sessions: sessions.map(({ open, end }) => ({ fence: open.fence, outcome: end?.outcome ?? 'none' })),
    outcomes: outcomes.toSorted((a, b) => a.order - b.order),
    started: [...started],
    timers: [...timers],
    pauses: [...pauses],
    logs: logs.map(({ path, body }) => ({ path, type: body['type'] })),
    batches,
    cut,
  };
  return JSON.parse(JSON.stringify(summary)) as unknown;
}

/** Folders of versions with the names of their journals. */
export function goldenNames(): { readonly version: string; readonly name: string }[] {
  return readdirSync(GOLDEN_FOLDER).flatMap((version) =>
    readdirSync(join(GOLDEN_FOLDER, version)).map((name) => ({ version, name })),
  );
}

export function readGolden(version: string, name: string): Golden {
  return JSON.parse(readFileSync(join(GOLDEN_FOLDER, version, name), 'utf8')) as Golden;
}

/** Writes a journal that is not there yet; what a version wrote once is never written anew. False: it is there. */
export function writeGolden(version: string, name: string, runId: string, batches: readonly StoredBatch[]): boolean {
  const golden: Golden = { runId, batches, expected: summaryOf(replay(runId, batches)) };
  mkdirSync(join(GOLDEN_FOLDER, version), { recursive: true });
  try {
    writeFileSync(join(GOLDEN_FOLDER, version, name), `${JSON.stringify(golden, undefined, 2)}\n`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
