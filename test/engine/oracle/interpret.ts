import fc from 'fast-check';
import type { Bindings, Plan } from '../../../src/plan/plan.js';
import { Instance } from './instance.js';
import { World, type Ending, type OracleResult } from './world.js';

/** Plans that take more are not looked at: what a step costs here grows with those before it. */
const MOST_STEPS = 400;

/** What a run starts from. */
export interface OracleOptions {
  readonly inputs?: Record<string, unknown>;
  /** Which of the running leaf steps (their paths, in order of start) ends next. Default: the first. */
  readonly pick?: (paths: readonly string[]) => number;
}

/**
 * The reference interpreter: rules E1 to E10 and S1 to S4 as a discrete simulation. A leaf step's body is a
 * synchronous function; the step stays *running* until `pick` chooses it. Nothing here is fast.
 */
export function interpret(plan: Plan, bindings: Bindings, options: OracleOptions = {}): OracleResult {
  const world = new World(bindings, (...parts) => new Instance(...parts));
  const endings: Ending[] = [];
  const inputs: Record<string, unknown> = {};
  for (const input of plan.inputs) {
    const given = options.inputs?.[input.name];
    const value = given === undefined ? input.default : given;
    if (value !== undefined) inputs[input.channel] = value;
  }
  const top = world.open(plan, { inputs, path: '', prefix: '', degrade: () => undefined }, (end) => endings.push(end));
  top.begin();
  const pick = options.pick ?? (() => 0);
  while (endings.length === 0 || world.apart > 0) {
    const chosen = world.running[pick(world.running.map((step) => step.path))];
    if (chosen === undefined) throw new Error('the oracle is stuck: nothing runs and the run has not ended');
    fc.pre(world.steps.length <= MOST_STEPS);
    world.stop(chosen);
    chosen.deliver();
  }
  const ending = endings[0];
  if (ending === undefined) throw new Error('the run has no ending');
  const failed = ending.ok === true ? undefined : ending.failure;
  return {
    outcome: failed !== undefined ? 'failed' : world.census.degraded > 0 ? 'degraded' : 'succeeded',
    state: ending.ok === false ? {} : (ending.value as Record<string, unknown>),
    ...(failed === undefined ? {} : { failure: failed }),
    census: world.census,
    steps: world.steps,
    starts: world.starts,
    releases: world.releases,
    instants: world.instants,
    ended: world.ended,
  };
}
