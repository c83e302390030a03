import { RunLabels } from '../../src/engine/state/run-labels.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Cell } from '../../src/engine/state/cell.js';
import { cellDigest, cellValue, inputCell, writeCell } from '../../src/engine/state/cell.js';
import { covers, mergeVersions } from '../../src/engine/state/merge.js';
import { EMPTY_VERSION } from '../../src/engine/state/version.js';
import type { Version } from '../../src/engine/state/version.js';
import type { Reducer, ReducerFunction } from '../../src/plan/reducers.js';
import { reducerFor } from '../../src/plan/reducers.js';
import { cases, seedOf } from '../thorough.js';

/** What a version holds, without any structure: every contribution and every plain write that it has seen. */
interface Slow {
  readonly version: Version;
  readonly contributions: ReadonlySet<Mark>;
  /** The plain write that is seen, with all that it overwrote; undefined: none. */
  readonly plain: PlainWrite | undefined;
  /** Greatest place of a writer in it. */
  readonly place: number;
}

interface Mark {
  readonly place: number;
  readonly value: unknown;
}

interface PlainWrite {
  readonly number: number;
  readonly overwrote: ReadonlySet<PlainWrite>;
}

const LIST = 0;
const PLAIN = 1;

type Action =
  | { readonly do: 'write'; readonly on: number; readonly far: number; readonly channel: number }
  | { readonly do: 'merge'; readonly of: readonly number[] }
  | { readonly do: 'read'; readonly on: number };

const index = fc.nat(1_000);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('write' as const), on: index, far: fc.nat(40), channel: fc.nat(1) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('merge' as const), of: fc.array(index, { minLength: 2, maxLength: 6 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('read' as const), on: index }) },
);

const concat: ReducerFunction = (current, item) => [...((current ?? []) as readonly unknown[]), item];
const REDUCERS: Readonly<
  Record<string, { readonly reducer: Reducer; readonly slow: (marks: readonly Mark[]) => unknown }>
> = {
  append: { reducer: reducerFor('append'), slow: (marks) => ['first', ...marks.map(({ value }) => value)] },
  extend: { reducer: reducerFor('extend'), slow: (marks) => ['first', ...marks.flatMap(({ value }) => value)] },
  mergeDict: {
    reducer: reducerFor('mergeDict'),
    slow: (marks) => marks.reduce((all, { value }) => ({ ...all, ...(value as object) }), { first: true }),
  },
  function: { reducer: reducerFor(concat), slow: (marks) => ['first', ...marks.map(({ value }) => value)] },
};
const FIRST: Readonly<Record<string, unknown>> = { mergeDict: { first: true } };

function valueFor(name: string, number: number): unknown {
  if (name === 'extend') return Array.from({ length: number % 3 }, (_, at) => `${number}.${at}`);
  return name === 'mergeDict' ? { [`k${number % 7}`]: number } : number;
}

function sorted(marks: ReadonlySet<Mark>): Mark[] {
  return [...marks].toSorted((a, b) => a.place - b.place);
}

function pick(all: readonly Slow[], at: number): Slow {
  const found = all[at % all.length];
  if (found === undefined) throw new Error('there is always a first one');
  return found;
}

/** Makes versions as runs do, and beside each what it must hold. */
class World {
  readonly all: Slow[];
  private count = 0;
  private readonly reducer: Reducer;

  constructor(private readonly name: string) {
    const { reducer } = REDUCERS[name] ?? { reducer: reducerFor('append') };
    this.reducer = reducer;
    const version = EMPTY_VERSION.with(LIST, inputCell(FIRST[name] ?? ['first'], reducer));
    this.all = [{ version, contributions: new Set(), plain: undefined, place: 0 }];
  }

  write(old: Slow, far: number, channel: number): void {
    this.count += 1;
    // Places name their writers, so no two of them are the same.
    const place = (Math.floor(old.place / 10_000) + 1 + far) * 10_000 + this.count;
    const value = channel === LIST ? valueFor(this.name, this.count) : this.count;
    const reducer = channel === LIST ? this.reducer : undefined;
    const writer = { compiled: { index: this.count, place }, round: 0, visit: 1 };
    const cell = writeCell(old.version.get(channel), value, writer, { epoch: 0, recorded: true }, reducer);
    const plain = {
      number: this.count,
      overwrote: new Set(old.plain === undefined ? [] : [old.plain, ...old.plain.overwrote]),
    };
    this.all.push({
      version: old.version.with(channel, cell),
      contributions: channel === LIST ? new Set([...old.contributions, { place, value }]) : old.contributions,
      plain: channel === LIST ? old.plain : plain,
      place,
    });
  }

  merge(parts: readonly Slow[]): void {
    const merged = mergeVersions(
      parts.map(({ version }) => version),
      [this.reducer],
      new RunLabels(),
    );
    const writes = parts.flatMap(({ plain }) => plain ?? []);
    const last = writes.find((one) => writes.every((other) => other === one || one.overwrote.has(other)));
    expect(merged.conflict === undefined).toBe(writes.length === 0 || last !== undefined);
    if (merged.conflict !== undefined) return;
    this.all.push({
      version: merged.version,
      contributions: new Set(parts.flatMap(({ contributions }) => [...contributions])),
      plain: last,
      place: Math.max(...parts.map(({ place }) => place)),
    });
  }

  check(one: Slow): void {
    const cell = one.version.get(LIST) as Cell;
    expect(cellValue(cell, this.reducer)).toEqual(REDUCERS[this.name]?.slow(sorted(one.contributions)));
    expect(one.version.get(PLAIN)?.value).toBe(one.plain?.number);
  }

  /** The digest of the same contributions, written one after the other. */
  digestOf(one: Slow): string {
    const first = inputCell(FIRST[this.name] ?? ['first'], this.reducer);
    const row = sorted(one.contributions).reduce<Cell>(
      (cell, { value, place }) =>
        writeCell(
          cell,
          value,
          { compiled: { index: place, place }, round: 0, visit: 1 },
          { epoch: 0, recorded: true },
          this.reducer,
        ),
      first,
    );
    return cellDigest(row, this.reducer);
  }
}

function coversSlowly(one: Slow, other: Slow): boolean {
  const list = [...other.contributions].every((mark) => one.contributions.has(mark));
  const plain =
    other.plain === undefined ||
    other.plain === one.plain ||
    (one.plain !== undefined && one.plain.overwrote.has(other.plain));
  return list && plain;
}

describe('S3: versions that share what they hold', () => {
  test.each(Object.keys(REDUCERS))(
    '[XF3] with %s are what sets of contributions and writes say, however they were forked, merged and read',
    (name) => {
      fc.assert(
        fc.property(fc.array(action, { minLength: 5, maxLength: 60 }), (actions) => {
          const world = new World(name);
          for (const one of actions) {
            if (one.do === 'write') world.write(pick(world.all, one.on), one.far, one.channel);
            else if (one.do === 'merge') world.merge(one.of.map((at) => pick(world.all, at)));
            else world.check(pick(world.all, one.on));
          }
          for (const one of world.all) world.check(one);
          const some = world.all.filter((_, at) => at % 5 === 0);
          for (const one of some) {
            expect(cellDigest(one.version.get(LIST) as Cell, REDUCERS[name]?.reducer)).toBe(world.digestOf(one));
            for (const other of world.all) expect(covers(one.version, other.version)).toBe(coversSlowly(one, other));
          }
        }),
        { numRuns: cases(200), seed: seedOf(10) },
      );
    },
  );

  test('[XF2] lists that were read stay as they were, whoever appends to them next', () => {
    const reducer = reducerFor('append');
    const first = reducer.fold(reducer.open(['a']), 'b');
    const before = reducer.read(first);
    const one = reducer.fold(first, 'c');
    const other = reducer.fold(first, 'd');
    expect([reducer.read(one), reducer.read(other), before]).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'd'],
      ['a', 'b'],
    ]);
    expect(reducer.read(first)).toEqual(['a', 'b']);
    expect(Object.isFrozen(before) && Object.isFrozen(reducer.read(one))).toBe(true);
  });
});
