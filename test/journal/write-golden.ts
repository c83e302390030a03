/**
 * Writes the golden journals of the version in package.json, hand-made ones and those of real runs, where they are not there yet:
 *
 *     npx tsx test/journal/write-golden.ts && npx prettier --write test/journal/golden
 *
 * Until a version is released its journals may be deleted and written anew when the records change; after that they stay as they are.
 */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { JournalRecord } from '../../src/journal/record.js';
import type { StoredBatch } from '../../src/journal/store.js';
import { FULL, begin, done, end, failed, open, stored } from './examples.js';
import { memoryStore } from '../../src/stores/memory.js';
import { writeGolden } from './golden-file.js';
import { REAL_RUNS, recordReal, writeNotes } from './real-runs.js';

/** The version that is being made. */
export function versionInTheMaking(): string {
  const text = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

interface HandMade {
  readonly name: string;
  readonly runId: string;
  readonly batches: readonly StoredBatch[];
}

/** Journals that have every kind of record, with all fields and with as few as can be. */
export function handMadeJournals(): readonly HandMade[] {
  const start = (key: string): JournalRecord => ({ t: 'start', at: 20, key });
  const everyKind: readonly (readonly JournalRecord[])[] = [
    [FULL.begin, open(1)],
    [FULL.start, FULL.log],
    [FULL.done, FULL.timer, FULL.pause],
    [FULL.end],
    [FULL.open, FULL.log],
    [done('mail@tool#1', { value: { sent: true } }), done('ok@answer', { value: 'yes' })],
    [{ t: 'timer', at: 20, key: 'late@timer', due: 30 }, start('mail@tool#2')],
    [{ t: 'pause', at: 21, key: 'go@event', id: 'digest-6', name: 'go' }, end('paused')],
  ];
  const retried: readonly (readonly JournalRecord[])[] = [
    [begin('run-2', { inputs: {}, code: {}, origin: { version: 1 } })],
    [open(1), done('draft', { value: { text: 'line 1\nline 2 \u2028 \ud83d\udca5 \\"' } })],
    [failed('send'), { t: 'timer', at: 10, key: 'send@backoff', due: 11 }, done('send@backoff')],
    [failed('send~2'), failed('scan[a@b~2.ts]/read', { cleanup: true }), end('failed')],
    [open(2, { code: { send: 'new' } }), done('send', { blob: 'digest-7', ms: 3, reads: { draft: 'digest-8' } })],
    [done('send~2'), open(3), done('loop#2~2#3/step', { value: null }), end('succeeded')],
  ];
  return [
    { name: 'every-kind.json', runId: 'run-1', batches: stored('run-1', everyKind) },
    { name: 'retried.json', runId: 'run-2', batches: stored('run-2', retried) },
  ];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const { name, runId, batches } of handMadeJournals()) {
    const written = writeGolden(versionInTheMaking(), name, runId, batches);
    console.log(`${written ? 'written' : 'already there'}: ${versionInTheMaking()}/${name}`);
  }
  for (const { name, runId, workflow, inputs } of REAL_RUNS) {
    const store = memoryStore();
    const cwd = mkdtempSync(join(tmpdir(), 'skein-golden-'));
    await writeNotes(cwd);
    const { outcome } = await recordReal(await workflow(), { store, runId, inputs, cwd, asked: [] });
    const written = writeGolden(versionInTheMaking(), name, runId, store.read(runId));
    console.log(`${written ? 'written' : 'already there'}: ${versionInTheMaking()}/${name}, ${outcome}`);
  }
}
