import type { Executor } from '../src/engine/ports/executor.js';
import type { Phases } from '../src/engine/ports/supervision.js';
import { compile } from '../src/engine/graph/compile.js';
import type { CompiledPlan } from '../src/engine/graph/compile.js';
import { startRun } from '../src/engine/run.js';
import type { AgentNode, Plan } from '../src/plan/plan.js';
import { printTable } from './measure.js';

const STEPS = 500;
const ROUNDS = 41;
/** Microseconds of processor time of the policy for a supervised step, over its scripted calls. */
const GOAL = 40;

const COMMITMENT = {
  interpretation: 'as asked',
  scopeIn: [],
  scopeOut: [],
  approach: '',
  predictedOutput: '',
  confidence: 'high',
  assumptions: [],
} as const;

/** A scripted call answers after a turn of the promises, as one of a model does at the soonest. */
const answer =
  <T>(value: T) =>
  (): Promise<T> =>
    Promise.resolve(value);

const phases: Phases = {
  commit: (_task, context) => context.effect('commit', answer(COMMITMENT)),
  async judge(_attempt, context) {
    await context.effect('post', answer(''));
    return { type: 'accepted' };
  },
};

/** The same three calls, made by the body. */
const threeCalls: Executor = async (_node, step) => {
  await step.effect('commit', answer(COMMITMENT));
  const output = await step.effect('work', answer('done'));
  await step.effect('post', answer(''));
  return { type: 'done', output };
};

const oneCall: Executor = async (_node, step) => ({ type: 'done', output: await step.effect('work', answer('done')) });

function chainOf(more: Partial<AgentNode>): CompiledPlan {
  const ids = Array.from({ length: STEPS }, (_, at) => `s${at}`);
  const agent = { name: 's', instructions: [], models: [] };
  const nodes = ids.map((id): AgentNode => ({ id, kind: 'agent', agent, prompt: ['Go.'], output: 'last', ...more }));
  const edges = ids.slice(1).map((to, at) => ({ from: ids[at] ?? '', to }));
  const plan: Plan = { format: 1, name: 'chain', inputs: [], channels: [], nodes, edges, routes: [] };
  return compile(plan);
}

/** Microseconds of processor time for a step. */
async function stepTime(plan: CompiledPlan, agent: Executor): Promise<number> {
  const before = process.cpuUsage();
  const { outcome } = await startRun(plan, { executors: { agent }, phases }).result;
  const { user, system } = process.cpuUsage(before);
  if (outcome !== 'succeeded') throw new Error(`wrong result: ${outcome}`);
  return (user + system) / STEPS;
}

/** What the policy of supervised steps costs, over the calls that its phases make. Gives the goals that were missed. */
export async function benchSupervision(): Promise<string[]> {
  const [plain, supervised] = [chainOf({}), chainOf({ supervise: { by: 'model' } })];
  const [calls, policy]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    calls.push(await stepTime(plain, threeCalls));
    policy.push(await stepTime(supervised, oneCall));
  }
  const [bare, whole] = [Math.min(...calls), Math.min(...policy)];
  const over = whole - bare;
  printTable(
    `Supervised steps (best of ${ROUNDS}, µs of processor time a step)`,
    ['', 'three calls', 'supervised', 'policy', 'goal'],
    [['a step', bare.toFixed(1), whole.toFixed(1), over.toFixed(1), `<= ${GOAL}`]],
  );
  return over <= GOAL ? [] : [`a supervised step: ${over.toFixed(1)} µs over its calls, goal ${GOAL}`];
}
