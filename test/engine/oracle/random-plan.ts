import fc from 'fast-check';
import type { Join, OnError, Require } from '../../../src/plan/plan.js';

/** A node before names are given: small numbers and words, so that a failing case shrinks well. */
export interface RawNode {
  /** Which earlier nodes it comes after: bit k is node k. */
  readonly after: number;
  readonly kind: 'task' | 'pass' | 'call' | 'map' | 'loop' | 'end';
  readonly join: Join;
  /** `codedNamed`: no targets are declared, but its source names them. */
  readonly route: 'none' | 'cases' | 'coded' | 'codedAny' | 'codedNamed';
  /** Which of its out-edges are route targets: bit k is the k-th out-edge. */
  readonly viaRoute: number;
  /** How many nodes a cycle goes back, 0 for none; needs a route. */
  readonly back: number;
  /** How often it goes back. */
  readonly backTimes: number;
  readonly maxVisits: 'none' | 'skip' | 'fail' | 'to';
  readonly failsOneIn: number;
  readonly onError: Exclude<OnError, object> | 'handler';
  readonly when: 'none' | 'code' | 'contains' | 'never';
  /** Which shared channels it writes: bits. */
  readonly shares: number;
  /** Writes the plain channel that several nodes may write. */
  readonly writesPlain: boolean;
  readonly exit: boolean;
  /** How it ended is a value. */
  readonly tells: boolean;
  /** Of an end: how, and how many plans around it end with it. */
  readonly endsAs: 'succeeded' | 'failed';
  readonly out: number;
  /** Of a group: how much of it must succeed. */
  readonly require: Require | 'none';
  readonly sub: readonly RawNode[];
  /** What runs at the end of `sub`. */
  readonly last: RawLast;
}

/** What runs at the end of a plan: nothing, or a step that may fail. */
export type RawLast = 'none' | 'runs' | 'fails' | 'failsAllowed';

/** A whole plan before names are given. */
export interface RawPlan {
  readonly nodes: readonly RawNode[];
  readonly seed: number;
  readonly items: number;
  readonly firstExitWins: boolean;
  readonly last: RawLast;
}

/** Which features random plans may have. */
export interface RawOptions {
  /** `any` and `quorum` joins: what is seen depends on the order of completion. */
  readonly racing: boolean;
  /** Failures that end the run. */
  readonly failing: boolean;
  readonly cycles: boolean;
  /** Several writers of one plain channel, so that some plans conflict; `top`: not in sub-plans. */
  readonly conflicts: 'nowhere' | 'top' | 'everywhere';
  readonly subPlans: boolean;
  /** How nodes ended, as values. The reference interpreter knows none. */
  readonly endings?: boolean;
  /** Ends on purpose, groups of which not all must succeed, steps at the end of a plan. */
  readonly ends?: boolean;
}

const rare = <T>(usual: T, others: readonly T[], weight: number): fc.Arbitrary<T> =>
  fc.oneof(
    { weight: weight * 2, arbitrary: fc.constant(usual) },
    ...others.map((one) => ({ weight: 2, arbitrary: fc.constant(one) })),
  );

function rawNode(options: RawOptions, depth: number): fc.Arbitrary<RawNode> {
  const joins: Join[] = ['settled', ...(options.racing ? (['any', 'each', { quorum: 2 }] as const) : [])];
  const kinds = options.subPlans && depth < 2 ? (['pass', 'call', 'map', 'loop'] as const) : (['pass'] as const);
  const endKinds = options.ends === true ? (['end'] as const) : [];
  const mayConflict = options.conflicts === 'everywhere' || (options.conflicts === 'top' && depth === 0);
  return fc.record({
    after: fc.nat(255),
    kind: rare<RawNode['kind']>('task', [...kinds, ...endKinds], 6),
    join: rare<Join>('all', joins, 2),
    route: rare<RawNode['route']>(
      'none',
      ['cases', 'coded', 'codedNamed', ...(options.racing ? (['codedAny'] as const) : [])],
      4,
    ),
    viaRoute: fc.nat(255),
    back: options.cycles ? rare(0, [1, 2, 3], 4) : fc.constant(0),
    backTimes: fc.integer({ min: 1, max: 3 }),
    maxVisits: rare<RawNode['maxVisits']>(
      'none',
      options.cycles ? ['skip', ...(options.failing ? (['fail', 'to'] as const) : [])] : [],
      6,
    ),
    failsOneIn: rare(0, [1, 2, 3], 6),
    onError: fc.constantFrom<RawNode['onError']>(
      'continue',
      'skipDependents',
      'ignore',
      'handler',
      ...(options.failing ? (['fail'] as const) : []),
    ),
    // Whether a condition is asked before writers are found to conflict is left open.
    when: mayConflict ? fc.constant('none') : rare<RawNode['when']>('none', ['code', 'contains', 'never'], 10),
    shares: fc.nat(31),
    writesPlain: mayConflict ? fc.boolean() : fc.constant(false),
    exit: rare<boolean>(false, [true], 12),
    tells: options.endings === true ? fc.boolean() : fc.constant(false),
    ...rawEnds(options),
    sub:
      depth < 2 && options.subPlans
        ? fc.array(rawNode(options, depth + 1), { minLength: 1, maxLength: 3 })
        : fc.constant([]),
  });
}

function rawEnds(options: RawOptions): RecordOf<Pick<RawNode, 'endsAs' | 'out' | 'require' | 'last'>> {
  const last = rawLast(options);
  if (options.ends !== true)
    return { endsAs: fc.constant('succeeded'), out: fc.constant(0), require: fc.constant('none'), last };
  return {
    endsAs: options.failing ? fc.constantFrom('succeeded', 'failed') : fc.constant('succeeded'),
    out: fc.nat(2),
    require: rare<RawNode['require']>('none', ['all', 1, 2], 2),
    last,
  };
}

type RecordOf<T> = { readonly [K in keyof T]: fc.Arbitrary<T[K]> };

function rawLast({ ends }: RawOptions): fc.Arbitrary<RawLast> {
  return ends === true ? rare<RawLast>('none', ['runs', 'fails', 'failsAllowed'], 6) : fc.constant('none');
}

/** Which of two ends that take no time comes first is no rule: of a plan with several the first one stays. */
function withOneEnd(nodes: readonly RawNode[], seen = { end: false }): readonly RawNode[] {
  return nodes.map((node) => {
    const kind = node.kind === 'end' && seen.end ? 'pass' : node.kind;
    if (kind === 'end') seen.end = true;
    // What stands inside of a node that is no group is not made.
    return { ...node, kind, sub: GROUPS.has(kind) ? withOneEnd(node.sub, seen) : node.sub };
  });
}

const GROUPS: ReadonlySet<RawNode['kind']> = new Set(['call', 'map', 'loop']);

/** Random plans, not yet with names. Give them to `scenarioOf`. */
export function rawPlan(options: RawOptions): fc.Arbitrary<RawPlan> {
  const made = fc.record({
    nodes: fc.array(rawNode(options, 0), { minLength: 1, maxLength: 8 }),
    seed: fc.nat(1000),
    items: fc.nat(3),
    last: rawLast(options),
    firstExitWins: options.racing ? rare<boolean>(false, [true], 5) : fc.constant(false),
  });
  return options.ends === true ? made.map((raw) => ({ ...raw, nodes: withOneEnd(raw.nodes) })) : made;
}
