import { describe, expect, test } from 'vitest';
import { HistoryFold } from '../../src/journal/fold.js';
import { encodeRecord } from '../../src/journal/codec.js';
import type { Entry, RunHistory } from '../../src/journal/history.js';
import type { JournalRecord } from '../../src/journal/record.js';
import { replay } from '../../src/journal/replay.js';
import { FULL, begin, done, end, failed, longJournal, open, stored } from './examples.js';

const RUN = 'run-1';

/** What a journal says in which each record is a batch. */
function historyOf(...records: readonly JournalRecord[]): RunHistory {
  return replay(RUN, stored(RUN, [[begin(RUN)], ...records.map((record) => [record])]));
}

function addTo(fold: HistoryFold, record: JournalRecord): void {
  fold.add(record, encodeRecord(record));
}

function fieldsOf({ record, order, session }: Entry): unknown {
  return { record, order, session };
}

function start(key: string, at = 5): JournalRecord {
  return { t: 'start', at, key, id: `id of ${key}` };
}

describe('a journal says', () => {
  test('what the run is, and with which definition its last session ran (J11)', () => {
    const plain = historyOf(open(1));
    expect(plain.begin).toEqual(begin(RUN));
    const first = { plan: { value: 'plan 1' }, code: { a: 'code 1' }, inputs: { value: { n: 1 } } };
    expect(plain.current).toEqual(first);
    const edited = historyOf(open(1), open(2, { plan: { blob: 'd' } }), open(3, { code: { b: 'c' } }), open(4));
    expect(edited.current).toEqual({ plan: { blob: 'd' }, code: { b: 'c' }, inputs: first.inputs });
    expect(historyOf(open(1, { inputs: {} })).current).toEqual({ ...first, inputs: {} });
    expect(edited.begin).toEqual(begin(RUN));
  });

  test('which sessions there were, and how those ended that did', () => {
    const { sessions } = historyOf(open(1), end('failed'), open(2), open(3), end('succeeded'));
    expect(sessions).toEqual([
      { open: open(1), end: end('failed') },
      { open: open(2) },
      { open: open(3), end: end('succeeded') },
    ]);
  });

  test('the outcomes of each key, newest last, in one order over all keys and sessions', () => {
    const { entries } = historyOf(open(1), failed('a'), done('b'), end('failed'), open(2), start('c'), done('a'));
    expect([...entries].map(([key, list]) => [key, list.map(fieldsOf)])).toEqual([
      [
        'a',
        [
          { record: failed('a'), order: 0, session: 0 },
          { record: done('a'), order: 2, session: 1 },
        ],
      ],
      ['b', [{ record: done('b'), order: 1, session: 0 }]],
    ]);
  });

  test('which effects were started and have no success (J6)', () => {
    const { started } = historyOf(
      open(1),
      ...['never ended', 'failed', 'done', 'again', 'late'].map((key) => start(key)),
      ...['failed', 'again', 'late', 'not started'].map((key) => failed(key)),
      done('done'),
      done('nor this'),
      start('again', 7),
      done('late'),
    );
    expect([...started]).toEqual([
      ['never ended', { at: 5, id: 'id of never ended', failed: false }],
      ['failed', { at: 5, id: 'id of failed', failed: true }],
      ['again', { at: 7, id: 'id of again', failed: false }],
    ]);
  });

  test('when timers are due that have not fired, and which questions are open', () => {
    const timer = (key: string, due: number): JournalRecord => ({ t: 'timer', at: 1, key, due });
    const pause = (key: string): JournalRecord => ({ t: 'pause', at: 1, key, id: `id of ${key}`, name: 'ok' });
    const { timers, pauses } = historyOf(
      open(1),
      timer('a', 10),
      timer('b', 20),
      timer('b', 30),
      timer('c', 40),
      FULL.timer,
      ...['p', 'q', 'r'].map((key) => pause(key)),
      ...['a', 'q'].map((key) => done(key)),
      ...['c', 'r'].map((key) => failed(key)),
    );
    expect([...timers]).toEqual([
      ['b', { due: 30 }],
      [FULL.timer.key, { id: FULL.timer.id, due: FULL.timer.due }],
    ]);
    expect([...pauses]).toEqual([['p', pause('p')]]);
  });

  test('what people may look at, in order', () => {
    const log = (path: string): JournalRecord => ({ ...FULL.log, path });
    expect(historyOf(log('early'), open(1), log('a'), end('failed'), log('late')).logs).toEqual(
      ['early', 'a', 'late'].map(log),
    );
  });

  test('where it goes on', () => {
    const batches = stored(RUN, [[begin(RUN)], [open(1), done('a')], [end('succeeded')]]);
    expect(replay(RUN, batches)).toMatchObject({ batches: 3, sum: batches[2]?.sum });
    expect(replay(RUN, batches)).not.toHaveProperty('cut');
  });

  test('the same of any key, also of those that mean something to objects', () => {
    const { entries, started } = historyOf(open(1), start('__proto__'), done('constructor'), done('toString'));
    expect([...entries.keys()]).toEqual(['constructor', 'toString']);
    expect(started.get('__proto__')).toMatchObject({ failed: false });
    expect(entries.get('valueOf')).toBeUndefined();
  });
});

describe('a journal can not say', () => {
  test.each<[string, readonly JournalRecord[], string, number]>([
    ['nothing of what the run is', [open(1)], "first record is 'open'", 1],
    ['twice what the run is', [begin(RUN), begin(RUN)], "second 'begin'", 2],
    ['that it is of another run', [begin('run-2')], 'journal of the run "run-2"', 1],
    ['what happened before the first session', [begin(RUN), done('a')], "'done' stands before the first session", 2],
    ['that it ended before it was opened', [begin(RUN), end('failed')], "'end' stands before", 2],
    ['that a session ended twice', [begin(RUN), open(1), end('failed'), end('failed')], 'already ended', 4],
  ])('%s', (_, records, why, line) => {
    const act = (): unknown => replay(RUN, stored(RUN, [records]));
    expect(act).toThrow(why);
    expect(act).toThrow(
      expect.objectContaining({ code: 'SKEIN_JOURNAL', details: { run: RUN, batch: 0, line } }) as Error,
    );
  });
});

test('taking a journal in two parts gives what taking it at once gives', () => {
  const records = longJournal(RUN).flat();
  const whole = new HistoryFold(RUN);
  for (const record of records) addTo(whole, record);
  const expected = whole.history(1, 'sum');
  for (let at = 1; at < records.length; at += 7) {
    const parts = new HistoryFold(RUN);
    for (const record of records.slice(0, at)) addTo(parts, record);
    parts.history(0, '');
    for (const record of records.slice(at)) addTo(parts, record);
    expect(parts.history(1, 'sum')).toEqual(expected);
  }
});

test('records are only read: they may be frozen', () => {
  const freeze = (record: JournalRecord): JournalRecord => Object.freeze(record);
  const fold = new HistoryFold(RUN);
  for (const record of longJournal(RUN).flat()) addTo(fold, freeze(record));
  expect(fold.history(0, '')?.sessions).toHaveLength(3);
});
