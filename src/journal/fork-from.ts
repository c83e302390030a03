import {
  formatAddress,
  nodePathOf,
  parseAddress,
  pathOf,
  segmentsOf,
  stepOf,
  type Address,
  type Place,
} from '../base/address.js';
import { SkeinError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import { affected } from '../plan/downstream.js';
import { nodeFinder, nodesOf } from '../plan/nodes.js';
import type { Plan, PlanNode } from '../plan/plan.js';
import { forgetting } from './forgotten.js';
import type { RunHistory } from './history.js';

export interface ForkWish {
  /** A step that runs again, with everything that depends on it. */
  readonly from?: string | undefined;
  /** Steps that run again whatever is recorded, with everything inside them. */
  readonly forget?: readonly string[] | undefined;
}

/**
 * Returns what a fork forgets of its parents, as entries for {@link forgetting}. For a step in a loop, what ran before it is kept: of the
 * steps downstream, only what was recorded after it is forgotten.
 *
 * @throws SkeinError `SKEIN_USAGE` for an address of no step in the workflow, or in the recorded run; `option` is the name of the option
 * that holds the address
 */
export function forgottenBy(
  plan: Plan,
  parents: readonly RunHistory[],
  { from, forget = [] }: ForkWish,
  option = 'fork.from',
): readonly string[] {
  if (from === undefined && forget.length === 0) return [];
  const record = new Recorded(plan, parents);
  const entries = new Set<string>();
  for (const text of forget) entries.add(record.entryOf(text));
  if (from !== undefined) for (const entry of record.entriesFrom(from, option)) entries.add(entry);
  return [...entries];
}

export interface ForkStart {
  readonly forget: readonly string[];
  /** Paths of ids only, of the steps whose recorded results are forgotten: the named step, then those behind it in plan order. */
  readonly steps: readonly string[];
  /** The item of a map in which the fork starts: its other items stay. Absent: the named step is in no item, or in one of a round. */
  readonly item?: string;
}

/**
 * Returns what a fork from a step of a run does again.
 *
 * @throws SkeinError `SKEIN_USAGE` for an address of no step; `option` is the name of the option that holds the address
 */
export function forkStart(parents: readonly RunHistory[], plan: Plan, wish: ForkWish, option = 'fork.from'): ForkStart {
  const forget = forgottenBy(plan, parents, wish, option);
  if (forget.length === 0) return { forget, steps: [] };
  const isForgotten = forgetting(forget);
  const nodes = new Set<string>();
  for (const { entries } of parents) {
    for (const key of entries.keys()) {
      const step = stepOf(key);
      if (!isForgotten(step)) continue;
      const ids = nodePathOf(step).split('/');
      for (let count = 1; count <= ids.length; count += 1) nodes.add(ids.slice(0, count).join('/'));
    }
  }
  if (wish.from === undefined) return { forget, steps: [...nodes] };
  const named = nodePathOf(wish.from);
  const item = wish.from.slice(0, wish.from.lastIndexOf(']') + 1);
  // Of a loop, the rounds after the named one run again too.
  const isAlone = item !== '' && !/[#~]/.test(item.replaceAll(/\[[^\]]*\]/g, ''));
  return {
    ...(isAlone ? { item } : {}),
    forget,
    steps: [named, ...affected(plan, { steps: [named] })].filter((path) => nodes.has(path)),
  };
}

interface Wanted extends Place {
  readonly node: PlanNode;
  /** True for a loop or a map without a given round or item. */
  readonly all: boolean;
  /** True for all items in all visits. */
  readonly any: boolean;
}

interface Outcome {
  readonly text: readonly string[];
  readonly places: readonly Place[];
  readonly order: number;
}

/** The steps of recorded runs, matched with a plan. */
class Recorded {
  private readonly nodeAt: (path: string) => PlanNode | undefined;
  private readonly outcomes: readonly Outcome[];

  constructor(
    private readonly plan: Plan,
    parents: readonly RunHistory[],
  ) {
    this.nodeAt = nodeFinder(plan);
    this.outcomes = firstOf(outcomesOf(parents, this.isLoop));
  }

  private readonly isLoop = (ids: string): boolean => this.nodeAt(ids)?.kind === 'loop';

  /** The entry for a step and everything inside it. */
  entryOf(text: string): string {
    if (text.endsWith('+')) return text;
    const wanted = this.read(text, 'fork.forget');
    const around = wanted.slice(0, -1);
    const isExact = around.every(({ node, all }) => node.kind === 'call' || !all);
    if (isExact) return pathOf(text);
    const last = wanted.at(-1);
    return [...around.map(({ id }) => `${id}+`), rangeText(last, last?.visit ?? 1)].join('/');
  }

  /** The entries for a step and everything that depends on it. */
  entriesFrom(text: string, option: string): readonly string[] {
    const wanted = this.read(text, option);
    const entries: string[] = [];
    let plan: Plan | undefined = this.plan;
    const scope: string[] = [];
    wanted.forEach((place, at) => {
      if (plan === undefined) return;
      const isOpen = wanted.slice(0, at).some(({ any }) => any);
      const inScope = scope.map((outer) => `${outer}/`).join('');
      const segment = this.segmentOf(wanted, at);
      entries.push(...ownEntries(place, at === wanted.length - 1, segment).map((entry) => inScope + entry));
      const cut = isOpen ? -Infinity : this.endOf(wanted, at);
      const before = this.visitsUpTo(wanted, at, cut);
      const nodes = new Map(plan.nodes.map((node) => [node.id, node]));
      for (const id of affected(plan, { steps: [place.id] })) {
        const range = rangeText({ id, node: nodes.get(id) }, (before.get(id) ?? 0) + 1);
        if (id !== place.id) entries.push(inScope + range);
      }
      scope.push(segment);
      plan = 'plan' in place.node ? place.node.plan : undefined;
    });
    return entries;
  }

  /** @throws SkeinError `SKEIN_USAGE` */
  private read(text: string, option: string): readonly Wanted[] {
    const address = parseAddress(text, this.isLoop);
    const ids = nodePathOf(address === undefined ? text : formatAddress(address));
    if (address === undefined || address.effect !== undefined || this.nodeAt(ids) === undefined) {
      throw this.unknown(text, option, 'the workflow has no step', [...nodePathsOf(this.plan)]);
    }
    const wanted = this.wantedOf(address);
    const isNamed = address.places.some(
      ({ visit, round, item }) => visit > 1 || round !== undefined || item !== undefined,
    );
    if (isNamed && !this.outcomes.some((outcome) => fits(outcome, wanted, wanted.length))) {
      const known = this.outcomes.filter(({ text: path }) => nodePathOf(path.join('/')) === ids);
      throw this.unknown(text, option, 'the run has no step', [
        ...new Set(known.map(({ text: path }) => path.join('/'))),
      ]);
    }
    return wanted;
  }

  private wantedOf({ places }: Address): readonly Wanted[] {
    return places.map((place, at) => {
      const node = this.nodeAt(
        places
          .slice(0, at + 1)
          .map(({ id }) => id)
          .join('/'),
      );
      if (node === undefined) throw new TypeError(`no node for ${place.id}`);
      const isLast = at === places.length - 1;
      const all = !isLast && place.item === undefined && place.round === undefined;
      const first = all && node.kind === 'loop' ? { round: 1 } : {};
      const wanted: Wanted = { ...place, ...first, attempt: 1, node, all, any: all && node.kind === 'map' };
      // People call a round `loop#3`.
      const asRound: Wanted = { ...wanted, visit: 1, round: place.visit };
      const isRound = isLast && node.kind === 'loop' && place.visit > 1 && place.round === undefined;
      return isRound && this.outcomes.some(({ places: of }) => of[at]?.id === place.id && of[at].round === place.visit)
        ? asRound
        : wanted;
    });
  }

  /** The end of the execution that the place at `at` belongs to: nothing depends on the execution before. */
  private endOf(wanted: readonly Wanted[], at: number): number {
    let end = -Infinity;
    for (const outcome of this.outcomes)
      if (outcome.order > end && isExecution(outcome, wanted, at)) end = outcome.order;
    return end === -Infinity ? Infinity : end;
  }

  /** The last recorded visits, up to `cut`, of the nodes beside the place at `at`. */
  private visitsUpTo(wanted: readonly Wanted[], at: number, cut: number): ReadonlyMap<string, number> {
    const last = new Map<string, number>();
    for (const outcome of this.outcomes) {
      const place = outcome.places[at];
      if (place === undefined || outcome.order > cut || !fits(outcome, wanted, at)) continue;
      last.set(place.id, Math.max(last.get(place.id) ?? 0, place.visit));
    }
    return last;
  }

  /** A place as written in the record. */
  private segmentOf(wanted: readonly Wanted[], at: number): string {
    const place = wanted[at];
    if (place === undefined || place.any) return `${place?.id ?? ''}+`;
    const found = this.outcomes.find((outcome) => outcome.text.length > at + 1 && fits(outcome, wanted, at + 1));
    return found?.text[at] ?? formatAddress({ places: [place] });
  }

  private unknown(text: string, option: string, what: string, known: readonly string[]): SkeinError {
    const listed = known.length === 0 ? 'nothing of it is recorded' : `its steps: ${known.slice(0, 20).join(', ')}`;
    const hint = didYouMean(text, known.slice(0, 1_000)) ?? listed;
    return new SkeinError('SKEIN_USAGE', `${option}: ${what} ${JSON.stringify(text)}`, { hint });
  }
}

/** What is forgotten of the place's own node: everything from the named place on, or after the place that contains it. */
function ownEntries(place: Wanted, isLast: boolean, text: string): readonly string[] {
  const { id, visit, round, item, node, any } = place;
  if (any) return [];
  if (node.kind === 'loop') {
    const from = isLast ? (round ?? 0) : (round ?? 0) + 1;
    return [`${id}#${visit}#${from}+`];
  }
  if (!isLast) return [`${id}#${visit + 1}+`];
  if (item === undefined) return [`${id}#${visit}+`];
  return [text, `${id}#${visit + 1}+`];
}

function rangeText(
  of: { readonly id: string; readonly node: PlanNode | undefined } | undefined,
  visit: number,
): string {
  return of?.node?.kind === 'loop' ? `${of.id}#${visit}#0+` : `${of?.id ?? ''}#${visit}+`;
}

/** Whether an outcome lies inside the first `count` places. */
function fits({ places }: Outcome, wanted: readonly Wanted[], count: number): boolean {
  for (let at = 0; at < count; at += 1) {
    const [is, should] = [places[at], wanted[at]];
    if (is === undefined || should === undefined || is.id !== should.id) return false;
    if (should.any) continue;
    if (is.visit !== should.visit) return false;
    if (should.round !== undefined && is.round !== should.round) return false;
    if (should.item !== undefined && is.item !== should.item) return false;
  }
  return true;
}

/** Whether an outcome belongs to the same execution of the node, in any round or item. */
function isExecution(outcome: Outcome, wanted: readonly Wanted[], at: number): boolean {
  const place = outcome.places[at];
  return fits(outcome, wanted, at) && place?.id === wanted[at]?.id && place?.visit === wanted[at]?.visit;
}

/**
 * Returns the first outcome of each step. What ran before what is told by the first time: a step that ran again later, in a fork or after
 * an edit, does not come after those that did not.
 */
function firstOf(outcomes: Iterable<Outcome>): readonly Outcome[] {
  const first = new Map<string, Outcome>();
  for (const outcome of outcomes) {
    const path = outcome.text.join('/');
    const other = first.get(path);
    if (other === undefined || outcome.order < other.order) first.set(path, outcome);
  }
  return [...first.values()];
}

/** In order of delivery: records of the parents' parents come first. */
function* outcomesOf(parents: readonly RunHistory[], isLoop: (ids: string) => boolean): Generator<Outcome> {
  let before = 0;
  for (const { entries, skips } of parents) {
    for (const list of entries.values()) before += list.length;
    for (const [key, list] of entries) {
      const step = stepIn(stepOf(key), isLoop);
      if (step === undefined) continue;
      for (const { record, order } of list) if (record.cleanup !== true) yield { ...step, order: order - before };
    }
    for (const { path, order } of skips) {
      const step = stepIn(path, isLoop);
      if (step !== undefined) yield { ...step, order: order - before };
    }
  }
}

function stepIn(step: string, isLoop: (ids: string) => boolean): Omit<Outcome, 'order'> | undefined {
  const path = pathOf(step);
  const places = parseAddress(path, isLoop)?.places;
  return places === undefined ? undefined : { text: segmentsOf(path), places };
}

function* nodePathsOf(plan: Plan): Generator<string> {
  // Nobody names nodes that only choose a route.
  for (const { node, path } of nodesOf(plan)) if (node.kind !== 'pass') yield path;
}
