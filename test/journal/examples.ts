import { FIRST_SUM, chainSum, encodeRecord } from '../../src/journal/codec.js';
import type { DoneRecord, EndRecord, JournalRecord, OpenRecord } from '../../src/journal/record.js';
import type { StoredBatch } from '../../src/journal/store.js';
import { emptyCensus } from '../../src/events/census.js';
import type { RunOutcome } from '../../src/events/census.js';

/** Of each kind of record one with all fields that it can have. */
export const FULL = {
  begin: {
    t: 'begin',
    at: 1_700_000_000_000,
    run: 'run-1',
    name: 'review',
    seed: 'run-0',
    parent: 'run-0',
    forget: ['review', 'scan[a@b.ts]'],
    plan: { blob: 'digest-of-a-plan' },
    code: { 'review/lint': 'digest-1' },
    inputs: { value: { topic: 'bridges' } },
    origin: { file: 'review.yaml', flags: ['--live'] },
  },
  open: { t: 'open', at: 2, fence: 3, plan: { value: { format: 1 } }, code: {}, inputs: {} },
  start: { t: 'start', at: 3, key: 'mail@tool#1', id: 'digest-2' },
  done: {
    t: 'done',
    at: 4,
    key: 'mail@tool#1',
    id: 'digest-2',
    reads: { draft: 'digest-3' },
    ms: 12,
    error: {
      code: 'SKEIN_TOOL_FAILED',
      message: 'no post today',
      hint: 'try tomorrow',
      details: { day: 'Sunday' },
      retryable: true,
      retryAfterMs: 60_000,
      name: 'PostError',
    },
    cleanup: true,
    inline: true,
    value: { sent: false },
  },
  spent: { t: 'spent', at: 5, key: 'mail', spent: { usd: 0.01, tokens: 900, calls: 1, toolCalls: 0 }, part: 1 },
  timer: { t: 'timer', at: 5, key: 'rest@timer', id: 'digest-4', due: 3_600_005 },
  pause: {
    t: 'pause',
    at: 6,
    key: 'ok@answer',
    id: 'digest-5',
    name: 'ok',
    question: { text: 'Publish?', choices: ['yes', 'no'], schema: { type: 'string' }, evidence: { draft: 'a' } },
    due: 86_400_006,
  },
  log: { t: 'log', at: 7, path: 'mail', body: { type: 'step.note', note: { kind: 'prompt' } } },
  end: {
    t: 'end',
    at: 8,
    outcome: 'failed',
    census: { ...emptyCensus(), succeeded: 2, failed: 1 },
    error: { code: 'SKEIN_TIMEOUT', message: 'too long' },
  },
} as const satisfies { readonly [K in JournalRecord['t']]: Extract<JournalRecord, { t: K }> };

/** The first record of a run. */
export function begin(run: string, more: Partial<Extract<JournalRecord, { t: 'begin' }>> = {}): JournalRecord {
  return {
    t: 'begin',
    at: 1,
    run,
    name: 'sample',
    seed: run,
    plan: { value: 'plan 1' },
    code: { a: 'code 1' },
    inputs: { value: { n: 1 } },
    origin: {},
    ...more,
  };
}

export function open(fence: number, more: Partial<OpenRecord> = {}): OpenRecord {
  return { t: 'open', at: fence, fence, ...more };
}

export function done(key: string, more: Partial<DoneRecord> = {}): DoneRecord {
  return { t: 'done', at: 9, key, ...more };
}

/** An outcome with an error. */
export function failed(key: string, more: Partial<DoneRecord> = {}): DoneRecord {
  return done(key, { error: { code: 'SKEIN_STEP_FAILED', message: `${key} broke` }, ...more });
}

export function end(outcome: RunOutcome): EndRecord {
  return { t: 'end', at: 99, outcome, census: emptyCensus() };
}

/** Texts as a store keeps them: numbered, with the chain of sums. */
export function storedTexts(runId: string, texts: readonly string[]): StoredBatch[] {
  let sum = FIRST_SUM;
  return texts.map((text, seq) => {
    sum = chainSum(sum, runId, seq, text);
    return { seq, text, sum };
  });
}

/** Records as a store keeps them, a batch for each list. */
export function stored(runId: string, batches: readonly (readonly JournalRecord[])[]): StoredBatch[] {
  return storedTexts(
    runId,
    batches.map((records) => records.map((record) => encodeRecord(record)).join('\n')),
  );
}

/** A journal of about 200 records of every kind in batches of one to five, over three sessions of which the second was killed. */
export function longJournal(runId: string): readonly (readonly JournalRecord[])[] {
  const records: JournalRecord[] = [];
  for (let i = 0; i < 48; i++) {
    const key = `m[${i}@x]/é`;
    if (i === 16) records.push(end('failed'), open(2, { code: { a: 'code 2' } }));
    if (i === 32) records.push(open(3, { plan: { value: 'plan 2' }, inputs: { blob: 'large' } }));
    records.push({ t: 'start', at: i, key });
    if (i % 7 !== 0) records.push(i % 5 === 0 ? failed(key) : done(key, { id: `d${i}`, value: [i] }));
    records.push({ t: 'timer', at: i, key: `${key}@timer`, due: i * 1_000 });
    if (i % 3 === 0) records.push({ t: 'pause', at: i, key: `${key}@answer`, id: 'q', name: 'ok' });
    if (i % 2 === 0) records.push(done(`${key}@timer`), { t: 'log', at: i, path: key, body: {} });
  }
  const batches: JournalRecord[][] = [[begin(runId), open(1)]];
  for (let at = 0, size = 1; at < records.length; at += size, size = (size % 5) + 1) {
    batches.push(records.slice(at, at + size));
  }
  batches.push([end('succeeded')]);
  return batches;
}
