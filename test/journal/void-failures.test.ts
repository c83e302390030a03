import { atOnce } from '../../src/base/slices.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RunHistory } from '../../src/journal/history.js';
import { openLedger as openedInSlices } from '../../src/journal/ledger.js';
import type { Ledger } from '../../src/journal/ledger.js';
import type { DoneRecord, JournalRecord } from '../../src/journal/record.js';
import { replay } from '../../src/journal/replay.js';
import { begin, done, end, failed, open, stored } from './examples.js';

const openLedger = (...histories: Parameters<typeof openedInSlices>): Ledger => atOnce(openedInSlices(...histories));

/** A step: those around it from the outside, then itself. `way` leads inside: `/`, `[k]/`, `#2/`. */
interface Level {
  readonly id: string;
  readonly attempt: number;
  readonly way: string;
}

interface Happening {
  readonly step: readonly Level[];
  readonly name: string;
  readonly kind: 'success' | 'failure' | 'cleanup' | 'start';
}

type SessionEnd = 'failed' | 'degraded' | 'paused' | 'cancelled' | 'succeeded' | 'killed';

interface Story {
  readonly sessions: readonly { readonly happenings: readonly Happening[]; readonly end: SessionEnd }[];
}

function write(step: readonly Level[]): string {
  return step.map(({ id, attempt, way }) => `${id}${attempt > 1 ? `~${attempt}` : ''}${way}`).join('');
}

function keyOf({ step, name }: Happening): string {
  return write(step) + (name === '' ? '' : `@${name}`);
}

/** The rules as they are written down, each entry against all others. */
function hiddenByTheRules(story: Story): string[] {
  const all = story.sessions.flatMap(({ happenings }, session) =>
    happenings.map((happening, place) => ({ ...happening, session, place })),
  );
  // A start tells only of itself until there is a success; what counts here is that its attempt is known.
  const recorded = all.filter(({ kind }) => kind !== 'start').map((each, order) => ({ ...each, order }));
  type Recorded = (typeof recorded)[number];
  const sameStep = (one: Happening, other: Happening): boolean => write(one.step) === write(other.step);
  const isPlainFailure = (each: Happening): boolean => each.kind === 'failure' || each.name.startsWith('timeout');
  const isLater = (one: Happening, than: Happening): boolean =>
    than.step.some((level, depth) => {
      const other = one.step[depth];
      const sameAround = write(one.step.slice(0, depth)) === write(than.step.slice(0, depth));
      return other !== undefined && sameAround && other.id === level.id && other.attempt > level.attempt;
    });
  /** The session at whose end a failure becomes void. */
  const judgedIn = ({ session }: Recorded): number =>
    story.sessions.findIndex(({ end: how }, at) => at >= session && (how === 'failed' || how === 'degraded'));
  const isFollowed = (each: Recorded): boolean =>
    recorded.some(
      (other) =>
        other.order > each.order &&
        other.session <= judgedIn(each) &&
        other.kind === 'success' &&
        !isPlainFailure(other) &&
        sameStep(other, each),
    );
  // A timeout ends its attempt whatever comes after it.
  const isFinal = (each: Recorded): boolean =>
    !all.some((other) => isLater(other, each)) && (each.name.startsWith('timeout') || !isFollowed(each));
  const isFailure = (each: Recorded): boolean =>
    isPlainFailure(each) ||
    (each.kind === 'cleanup' &&
      recorded.some((other) => isPlainFailure(other) && isFinal(other) && sameStep(other, each)));
  const isOver = (session: number): boolean =>
    story.sessions.some(({ end: how }, at) => at >= session && (how === 'failed' || how === 'degraded'));
  return recorded
    .filter((each) => isOver(each.session) && isFailure(each) && isFinal(each))
    .map((each) => `${each.order} ${keyOf(each)}`);
}

function recordOf(happening: Happening): JournalRecord {
  const key = keyOf(happening);
  const records: Readonly<Record<Happening['kind'], DoneRecord | JournalRecord>> = {
    success: done(key),
    failure: failed(key),
    cleanup: done(key, { cleanup: true }),
    start: { t: 'start', at: 1, key: `${key}.only-started` },
  };
  return records[happening.kind];
}

function historyOf(story: Story): RunHistory {
  const records = story.sessions.flatMap(({ happenings, end: how }, at) => [
    open(at + 1),
    ...happenings.map(recordOf),
    ...(how === 'killed' ? [] : [end(how)]),
  ]);
  // That `loop` is one shows in its first round.
  const round: JournalRecord = { t: 'start', at: 1, key: 'loop#1/seen' };
  return replay('r', stored('r', [[begin('r'), open(0), round], records]));
}

function hiddenByTheLedger(story: Story): string[] {
  const history = historyOf(story);
  const ledger = openLedger(history);
  const hidden: { key: string; order: number }[] = [];
  for (const [key, list] of history.entries) {
    const found = ledger.find(key).map(({ order }) => order);
    expect(found).toEqual(found.toSorted((a, b) => b - a));
    for (const { order } of list) if (!found.includes(order)) hidden.push({ key, order });
  }
  return hidden.toSorted((a, b) => a.order - b.order).map(({ key, order }) => `${order} ${key}`);
}

const attempt = fc.integer({ min: 1, max: 3 });
const around = fc.constantFrom(
  { id: 'call', way: '/' },
  { id: 'call#2', way: '/' },
  { id: 'm', way: '[k@~2]/' },
  { id: 'm', way: '[k]/' },
  { id: 'loop', way: '#1/' },
  { id: 'loop', way: '#2/' },
);
const level = fc.record({ id: fc.constantFrom('a', 'b', 'a#2'), attempt, way: fc.constant('') });
const outer = fc.tuple(around, attempt).map(([place, at]) => ({ ...place, attempt: at }));
const happening: fc.Arbitrary<Happening> = fc.record({
  step: fc.tuple(fc.array(outer, { maxLength: 1 }), level).map(([outside, own]) => [...outside, own]),
  name: fc.constantFrom('', '', 'model#1', 'timeout', 'backoff', 'tool#1.1'),
  kind: fc.constantFrom('success', 'failure', 'failure', 'cleanup', 'start'),
});
const story: fc.Arbitrary<Story> = fc.record({
  sessions: fc.array(
    fc.record({
      happenings: fc.array(happening, { maxLength: 12 }),
      end: fc.constantFrom('failed', 'degraded', 'paused', 'cancelled', 'succeeded', 'killed'),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

test('what the ledger hides is what the rules say, on any history', () => {
  let hidden = 0;
  let offered = 0;
  fc.assert(
    fc.property(story, (told) => {
      const expected = hiddenByTheRules(told);
      hidden += expected.length;
      offered += told.sessions.flatMap(({ happenings }) => happenings).length - expected.length;
      expect(hiddenByTheLedger(told)).toEqual(expected);
    }),
    { numRuns: 1_000 },
  );
  expect(Math.min(hidden, offered)).toBeGreaterThan(1_000);
});
