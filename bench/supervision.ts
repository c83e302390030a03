import type { Model } from '../src/agent/model.js';
import type { Executor } from '../src/engine/ports/executor.js';
import type { Phases } from '../src/engine/ports/supervision.js';
import { compile } from '../src/engine/graph/compile.js';
import type { CompiledPlan } from '../src/engine/graph/compile.js';
import { startRun } from '../src/engine/run.js';
import { definePlan, run } from '../src/index.js';
import type { AgentInput, Definition } from '../src/plan/builder-input.js';
import type { AgentNode, Plan } from '../src/plan/plan.js';
import { printTable } from './measure.js';

const STEPS = 500;
const AGENTS = 100;
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

const MODEL: Model = {
  id: 'own/m',
  async *stream() {
    yield { type: 'text', text: '{"met_commitment":true,"confidence":"high"}' };
    yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
  },
};

/** A chain of agents with a model in memory, as users run it. */
function agentChain(steps: number, more: Partial<AgentInput<object>>): Definition {
  const ids = Array.from({ length: steps }, (_, at) => `s${at}`);
  const agent = { models: ['own/m'], tools: [], instructions: 'You write.' };
  const nodes = ids.map((id) => ({ id, kind: 'agent' as const, agent, prompt: 'Write.', output: 'last', ...more }));
  return definePlan({ name: 'chain', nodes, edges: [ids] });
}

/** Microseconds of processor time for a run. */
async function runTime(workflow: Definition): Promise<number> {
  const before = process.cpuUsage();
  const { outcome } = await run(workflow, { models: { env: {}, noProbe: true, providers: { own: () => MODEL } } })
    .result;
  const { user, system } = process.cpuUsage(before);
  if (outcome !== 'succeeded') throw new Error(`wrong result: ${outcome}`);
  return user + system;
}

/** What the policy of supervised steps costs, over the calls that its phases make. Gives the goals that were missed. */
export async function benchSupervision(): Promise<string[]> {
  const [plain, supervised] = [chainOf({}), chainOf({ supervise: { by: 'model' } })];
  const [calls, policy]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    calls.push(await stepTime(plain, threeCalls));
    policy.push(await stepTime(supervised, oneCall));
  }
  const [three, one] = [agentChain(3 * AGENTS, {}), agentChain(AGENTS, { supervise: { by: 'model' } })];
  const [agents, judged]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    agents.push((await runTime(three)) / AGENTS);
    judged.push((await runTime(one)) / AGENTS);
  }
  const rows = [
    { name: 'policy, scripted phases', bare: Math.min(...calls), whole: Math.min(...policy) },
    { name: 'an agent, against three steps of agents', bare: Math.min(...agents), whole: Math.min(...judged) },
  ];
  printTable(
    `Supervised steps (best of ${ROUNDS}, µs of processor time a step)`,
    ['', 'its three calls', 'supervised', 'over them', 'goal'],
    rows.map(({ name, bare, whole }) => [
      name,
      ...[bare, whole, whole - bare].map((time) => time.toFixed(1)),
      `<= ${GOAL}`,
    ]),
  );
  return rows.flatMap(({ name, bare, whole }) =>
    whole - bare <= GOAL ? [] : [`${name}: ${(whole - bare).toFixed(1)} µs over its calls, goal ${GOAL}`],
  );
}
