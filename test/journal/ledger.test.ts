import { atOnce } from '../../src/base/slices.js';
import { describe, expect, test } from 'vitest';
import type { RunHistory } from '../../src/journal/history.js';
import { openLedger as openedInSlices } from '../../src/journal/ledger.js';
import type { Ledger } from '../../src/journal/ledger.js';
import type { JournalRecord } from '../../src/journal/record.js';
import { replay } from '../../src/journal/replay.js';
import { begin, done, end, failed, open, stored } from './examples.js';

const openLedger = (...histories: Parameters<typeof openedInSlices>): Ledger => atOnce(openedInSlices(...histories));

function historyOf(run: string, records: readonly JournalRecord[], forget?: readonly string[]): RunHistory {
  const first = begin(run, forget === undefined ? {} : { parent: 'parent', forget });
  return replay(run, stored(run, [[first, open(1), ...records]]));
}

const cleanup = { cleanup: true } as const;
const ASKED_AGAIN: JournalRecord = { t: 'pause', at: 1, key: 'a~2@ask:x', id: 'q', name: 'x' };
const CLEANED_TWICE = [
  failed('a'),
  done('a@close', cleanup),
  done('a@backoff'),
  failed('a~2'),
  done('a~2@close', cleanup),
];
const over = [end('failed'), open(2)];

/** Orders of the outcomes that are not offered any more. */
function hidden(records: readonly JournalRecord[]): number[] {
  const history = historyOf('run-1', records);
  const ledger = openLedger(history);
  return [...history.entries].flatMap(([key, list]) => {
    const found = new Set(ledger.find(key).map(({ order }) => order));
    return list.map(({ order }) => order).filter((order) => !found.has(order));
  });
}

describe('a look-up (J3)', () => {
  test('gives the outcomes of this key alone, newest first, with their order', () => {
    const ledger = openLedger(historyOf('r', [done('a', { id: '1' }), done('b'), done('a', { id: '2' }), done('a/b')]));
    expect(ledger.find('a')).toEqual([
      { record: done('a', { id: '2' }), order: 2 },
      { record: done('a', { id: '1' }), order: 0 },
    ]);
    for (const key of ['c', 'a~2', '__proto__', 'constructor', '']) expect(ledger.find(key)).toEqual([]);
  });

  test('finds nothing in a run that did nothing yet', () => {
    for (const ledger of [openLedger(undefined), openLedger(historyOf('r', []))]) {
      expect(ledger.find('a')).toEqual([]);
      expect(ledger.started('a')).toBeUndefined();
      expect(ledger.timer('a')).toBeUndefined();
      expect(ledger.pause('a')).toBeUndefined();
    }
  });

  test('knows what is under way in this run, and of its parents which effects were lost', () => {
    const pause = { t: 'pause', at: 1, key: 'p', id: 'q', name: 'ok' } as const;
    const history = historyOf('r', [{ t: 'start', at: 7, key: 's' }, { t: 'timer', at: 1, key: 't', due: 9 }, pause]);
    const own = openLedger(history);
    expect([own.started('s'), own.timer('t'), own.pause('p')]).toEqual([
      { at: 7, failed: false, runId: 'r' },
      { due: 9 },
      pause,
    ]);
    const fork = openLedger(historyOf('fork', []), [history]);
    expect([fork.started('s'), fork.timer('t'), fork.pause('p')]).toEqual([
      { at: 7, failed: false, runId: 'r' },
      undefined,
      undefined,
    ]);
  });

  test('of an effect that a run did itself, or does again on purpose, counts what that run knows', () => {
    const parent = historyOf('r', [{ t: 'start', at: 7, key: 's' }]);
    expect(openLedger(historyOf('fork', [done('s')]), [parent]).started('s')).toBeUndefined();
    expect(openLedger(historyOf('fork', []), [historyOf('q', [done('s')]), parent]).started('s')).toBeUndefined();
    const again = historyOf('fork', [{ t: 'start', at: 9, key: 's' }]);
    expect(openLedger(again, [parent]).started('s')).toEqual({ at: 9, failed: false, runId: 'fork' });
  });
});

describe('after a session that failed, what failed is tried again (J3)', () => {
  test.each<[string, readonly JournalRecord[], readonly number[]]>([
    ['a failure', [done('a'), failed('b')], [1]],
    ['the failure of the last attempt, not of those before', [failed('a'), failed('a~2'), failed('a~3')], [2]],
    ['no failure before a later attempt that only began', [failed('a'), { t: 'start', at: 1, key: 'a~2' }], []],
    ['no failure before the pause of a later attempt', [failed('a'), ASKED_AGAIN], []],
    ['no failure that a backoff followed', [failed('a'), done('a@backoff')], []],
    ['an attempt that ran out of time', [done('a@timeout')], [0]],
    ['no such attempt but the last', [done('a@timeout'), done('a@backoff'), done('a~2@timeout')], [2]],
    ['both when the body failed, too', [failed('a'), done('a@timeout')], [0, 1]],
    ['no tool whose failure the model took', [failed('a@tool#1.1'), done('a@model#2')], []],
    ['a model call at the end', [done('a@model#1'), done('a@tool#1.1'), failed('a@model#2')], [2]],
    ['cleanup of what failed', [done('a@open', cleanup), failed('a@model#1'), done('a@close', cleanup)], [0, 1, 2]],
    ['no cleanup of what succeeded', [done('a@open', cleanup), done('a@model#1'), done('a@close', cleanup)], []],
    ['cleanup that failed', [done('a@model#1'), failed('a@close', cleanup)], [1]],
    ['cleanup is no success', [failed('a@model#1'), done('a@close', cleanup)], [0, 1]],
    ['cleanup of the last attempt alone', CLEANED_TWICE, [3, 4]],
    ['no success of another step counts', [failed('a'), done('b'), done('a/b'), done('a#2')], [0]],
    ['no success before it counts', [done('a'), failed('a@route')], [1]],
    ['no failure in a step that was tried again', [failed('call/a'), failed('call~2/a')], [1]],
    ['also when it got elsewhere then', [failed('call/a'), done('call~2/b')], []],
    ['no failure of a map that was tried again', [failed('m[k~9]/a'), failed('m~2[k~9]/a')], [1]],
    ['items stand alone', [failed('m[a]/x'), failed('m[b]/x'), done('m[b]/x~2')], [0]],
    ['no round of a loop that was tried again', [done('loop#1/a'), failed('loop#2/a'), done('loop~2#1/a')], []],
    ['a second visit, whatever became of the first', [failed('c/a'), done('c~2/a'), failed('c#2/a')], [2]],
    ['no attempt of a visit but the last', [failed('c#2/a'), failed('c#2~2/a'), failed('c#2~3/a')], [2]],
    ['of an earlier visit, too', [failed('a'), failed('a#2~2')], [0, 1]],
    ['text in brackets is no attempt', [failed('m[a]/x'), done('m[a~2]/x')], [0]],
  ])('%s', (_, records, orders) => {
    expect(hidden([...records, ...over])).toEqual(orders);
    expect(hidden([...records, end('degraded'), open(2)])).toEqual(orders);
  });

  test('and of earlier sessions, not of later ones', () => {
    const records = [failed('a'), open(2), failed('b'), end('failed'), open(3), failed('c')];
    expect(hidden(records)).toEqual([0, 1]);
    expect(hidden([...records, end('paused'), open(4)])).toEqual([0, 1]);
    expect(hidden([...records, end('degraded'), open(4)])).toEqual([0, 1, 2]);
  });

  test('until it succeeded: the success is what counts', () => {
    const ledger = openLedger(historyOf('r', [failed('a'), ...over, done('a'), end('failed'), open(3)]));
    expect(ledger.find('a').map(({ order }) => order)).toEqual([1]);
  });

  test.each(['paused', 'cancelled', 'succeeded', 'out_of_budget'] as const)(
    'a session that ended %s is repeated as it was, with its failures',
    (outcome) => {
      expect(hidden([failed('a'), done('b@timeout'), end(outcome), open(2)])).toEqual([]);
    },
  );

  test('so is one that was killed', () => {
    expect(hidden([failed('a'), done('b@timeout'), open(2)])).toEqual([]);
  });
});

describe('a fork (J4)', () => {
  const orders = (ledger: Ledger, key: string): unknown[] =>
    ledger.find(key).map(({ record, order }) => [record.id, order]);
  const grandparent = historyOf('g', [done('a', { id: 'g1' }), done('b', { id: 'g2' }), done('a', { id: 'g3' })]);
  const parent = historyOf('p', [done('c', { id: 'p1' }), done('a', { id: 'p2' })], ['elsewhere']);

  test('falls back on its parents, the nearest first; theirs comes before its own', () => {
    const ledger = openLedger(historyOf('f', [done('a', { id: 'f1' })], []), [parent, grandparent]);
    expect(orders(ledger, 'a')).toEqual([
      ['f1', 0],
      ['p2', -1],
      ['g3', -3],
      ['g1', -5],
    ]);
    expect(orders(ledger, 'b')).toEqual([['g2', -4]]);
    expect(orders(ledger, 'c')).toEqual([['p1', -2]]);
  });

  test('of a run that has nothing of its own yet does, too', () => {
    expect(orders(openLedger(undefined, [parent]), 'c')).toEqual([['p1', -2]]);
  });

  test('takes no final failure of a parent, however it ended', () => {
    const records = [failed('a'), failed('b'), done('b@backoff'), done('c@timeout'), end('cancelled')];
    const ledger = openLedger(historyOf('f', [failed('a')], []), [historyOf('p', records)]);
    expect(['a', 'b', 'b@backoff', 'c@timeout'].map((key) => ledger.find(key).map(({ order }) => order))).toEqual([
      [0],
      [-3],
      [-2],
      [],
    ]);
  });

  test('forgets what it was told to: the step, its visits, what is inside, in any attempt', () => {
    const inside = ['s', 's~2', 's@model#1', 's#2', 's#3~2', 's/a', 's~4/a~2@tool#1', 's[k]/a', 's#2[k]/a', 's#1/a'];
    const outside = ['t', 'st', 's.t', 's-t/a', 't/s', 't[s]/a'];
    const old = historyOf(
      'p',
      [...inside, ...outside].map((key) => done(key)),
    );
    const ledger = openLedger(historyOf('f', [], ['s']), [old]);
    for (const key of inside) expect(ledger.find(key), key).toEqual([]);
    for (const key of outside) expect(ledger.find(key), key).toHaveLength(1);
  });

  test('forgets a step inside of another, an item, a visit', () => {
    const keys = ['c/a', 'c~2/a@x', 'c/b', 'm[k]/a', 'm~2[k]/a', 'm[kk]/a', 'v', 'v#2', 'v#2/a', 'v#22'];
    const forget = ['c/a', 'm[k]', 'v#2'];
    const old = historyOf(
      'p',
      keys.map((key) => done(key)),
    );
    const ledger = openLedger(historyOf('f', [], forget), [old]);
    expect(keys.filter((key) => ledger.find(key).length > 0)).toEqual(['c/b', 'm[kk]/a', 'v', 'v#22']);
  });

  test('hides by what it forgets what its parents have, not what is its own; a parent what its parents have', () => {
    const own = historyOf('f', [done('a', { id: 'f1' })], ['a']);
    expect(orders(openLedger(own, [parent, grandparent]), 'a')).toEqual([['f1', 0]]);
    const forgetful = historyOf('p', [done('b', { id: 'p1' })], ['b', 'a']);
    const ledger = openLedger(historyOf('f', [], []), [forgetful, grandparent]);
    expect(orders(ledger, 'b')).toEqual([['p1', -1]]);
    expect(orders(ledger, 'a')).toEqual([]);
  });
});
