import fc from 'fast-check';
import type { Join, OnError } from '../../../src/plan/plan.js';

/** A node before names are given: small numbers and words, so that a failing case shrinks well. */
export interface RawNode {
  /** Which earlier nodes it comes after: bit k is node k. */
  readonly after: number;
  readonly kind: 'task' | 'pass' | 'call' | 'map' | 'loop';
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
  readonly sub: readonly RawNode[];
}

/** A whole plan before names are given. */
export interface RawPlan {
  readonly nodes: readonly RawNode[];
  readonly seed: number;
  readonly items: number;
  readonly firstExitWins: boolean;
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
}

const rare = <T>(usual: T, others: readonly T[], weight: number): fc.Arbitrary<T> =>
  fc.oneof(
    { weight: weight * 2, arbitrary: fc.constant(usual) },
    ...others.map((one) => ({ weight: 2, arbitrary: fc.constant(one) })),
  );

function rawNode(options: RawOptions, depth: number): fc.Arbitrary<RawNode> {
  const joins: Join[] = ['settled', ...(options.racing ? (['any', 'each', { quorum: 2 }] as const) : [])];
  const kinds = options.subPlans && depth < 2 ? (['pass', 'call', 'map', 'loop'] as const) : (['pass'] as const);
  const mayConflict = options.conflicts === 'everywhere' || (options.conflicts === 'top' && depth === 0);
  return fc.record({
    after: fc.nat(255),
    kind: rare<RawNode['kind']>('task', kinds, 6),
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
    sub:
      depth < 2 && options.subPlans
        ? fc.array(rawNode(options, depth + 1), { minLength: 1, maxLength: 3 })
        : fc.constant([]),
  });
}

/** Random plans, not yet with names. Give them to `scenarioOf`. */
export function rawPlan(options: RawOptions): fc.Arbitrary<RawPlan> {
  return fc.record({
    nodes: fc.array(rawNode(options, 0), { minLength: 1, maxLength: 8 }),
    seed: fc.nat(1000),
    items: fc.nat(3),
    firstExitWins: options.racing ? rare<boolean>(false, [true], 5) : fc.constant(false),
  });
}
