import { emptyCensus, type OpenCensus } from '../../../src/events/census.js';
import type { RunOutcome, StepOutcome } from '../../../src/events/census.js';
import type { Bindings, Plan, PlanNode, Require } from '../../../src/plan/plan.js';

/** A failure: a stable code and a message that names what a test may want to see. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

/** How one step ended. */
export interface OracleStep {
  readonly path: string;
  readonly node: string;
  readonly outcome: StepOutcome;
  readonly failure?: Failure;
}

/** What a whole run came to. */
export interface OracleResult {
  readonly outcome: RunOutcome;
  readonly state: Record<string, unknown>;
  readonly failure?: Failure;
  readonly census: OpenCensus;
  readonly steps: readonly OracleStep[];
  /** Paths of leaf steps, in the order in which they started. */
  readonly starts: readonly string[];
  /** How often a join was released (E4). */
  readonly releases: number;
  /** An end on purpose was reached. */
  readonly ended: boolean;
  /** How many steps ended while they started, as nothing inside of them had to be waited for. */
  readonly instants: number;
}

/** A leaf step whose body has been called and whose completion has not been delivered yet. */
export interface Running {
  readonly path: string;
  readonly deliver: () => void;
}

/** How a body, or a sub-plan in its place, ended. */
export type Ending =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly failure: Failure } | PlanEnd;

/** An end on purpose (E7). */
export interface PlanEnd {
  readonly ok: 'ended';
  /** Absent: it ends well. */
  readonly failure: Failure | undefined;
  /** How many plans around the one that is told end with it. */
  readonly out: number;
  /** What is written of the plan that ended, in the plan around it. */
  readonly value: unknown;
}

/** Where an instance of a plan sits in the run. */
export interface Place {
  readonly inputs: Record<string, unknown>;
  /** Prefix of step paths, `review/loop#3/`. */
  readonly path: string;
  /** Prefix of binding keys, `review/loop/`. */
  readonly prefix: string;
  /** How much of its branches must succeed. */
  readonly require?: Require | undefined;
  /** Something in it failed that was allowed to. */
  readonly degrade: () => void;
}

/** One execution of a plan, as the step that holds it sees it. */
export interface SubRun {
  begin(): void;
  /** Ends everything that runs; tells nobody. */
  cancel(): void;
}

/** Makes an instance of a plan. */
export type Open = (world: World, plan: Plan, place: Place, onEnd: (ending: Ending) => void) => SubRun;

/** Whether a step is this one, or inside of it. A round has its number before the slash, as the second visit of a call has. */
export function isPartOf(path: string, { kind }: PlanNode, step: string): boolean {
  if (path === step) return true;
  const rest = path.startsWith(step) ? path.slice(step.length) : '';
  return kind === 'loop' ? /^#\d+\//.test(rest) : rest.startsWith(kind === 'map' ? '[' : '/');
}

/** What all plan instances of a run share. */
export class World {
  readonly census = emptyCensus();
  readonly steps: OracleStep[] = [];
  readonly starts: string[] = [];
  readonly running: Running[] = [];
  readonly bindings: Bindings;
  readonly #open: Open;
  /** Failed steps whose failure nothing has allowed so far. */
  readonly #failed = new Set<OracleStep>();
  releases = 0;
  instants = 0;
  ended = false;
  /** Plans that were cut off and are being closed: the run waits for them. */
  apart = 0;

  constructor(bindings: Bindings, open: Open) {
    this.bindings = bindings;
    this.#open = open;
  }

  open(plan: Plan, place: Place, onEnd: (ending: Ending) => void): SubRun {
    return this.#open(this, plan, place, onEnd);
  }

  count(node: PlanNode, path: string, outcome: StepOutcome, failure?: Failure): void {
    if (node.kind !== 'pass' || (outcome !== 'succeeded' && outcome !== 'skipped')) this.census[outcome] += 1;
    const step = { path, node: node.id, outcome, ...(failure === undefined ? {} : { failure }) };
    this.steps.push(step);
    if (outcome === 'failed') this.#failed.add(step);
  }

  /**
   * The failures of these steps, in this place, are allowed. One that is not of a step, such as a conflict at the end of an item, was not
   * counted.
   */
  allow(place: Place, isOne: (path: string) => boolean): void {
    place.degrade();
    const allowed = [...this.#failed].filter(({ path }) => isOne(path));
    for (const step of allowed) this.#failed.delete(step);
    this.census.failed -= allowed.length;
    this.census.degraded += Math.max(1, allowed.length);
  }

  start(running: Running): void {
    this.running.push(running);
    this.starts.push(running.path);
  }

  stop(running: Running): void {
    const index = this.running.indexOf(running);
    if (index >= 0) this.running.splice(index, 1);
  }
}

/** A thrown thing as a failure. */
export function failureOf(error: unknown): Failure {
  const code = (error as { code?: unknown }).code;
  return {
    code: typeof code === 'string' ? code : 'SKEIN_STEP_FAILED',
    message: error instanceof Error ? error.message : String(error),
  };
}
