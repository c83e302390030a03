import type { Model } from '../src/agent/model.js';
import { definePlan, runOrThrow } from '../src/index.js';
import { agent, goal, sequence, workflow } from '../src/tree.js';
import type { Step, TreeRunOptions, Workflow } from '../src/tree.js';
import { printTable } from './measure.js';

const GOALS = 20;
/** Runs that are measured together. */
const RUNS = 25;
const ROUNDS = 31;
/** Microseconds of processor time of a goal, over the scripted calls of its agents. */
const GOAL = 30;

const model: Model = {
  id: 'own/m',
  async *stream() {
    yield await Promise.resolve({ type: 'text', text: 'A line of text.' } as const);
    yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
  },
};
const options: TreeRunOptions = { models: { env: {}, noProbe: true, providers: { own: () => model } } };

/** The same calls, each a node with a prompt of its own. */
function callsOf(perGoal: number): () => Promise<unknown> {
  const ids = Array.from({ length: GOALS * perGoal }, (_, at) => `a${at}`);
  const chain = definePlan({
    name: 'calls',
    nodes: ids.map((id) => ({ id, kind: 'agent', prompt: 'Do.', output: id, agent: { models: ['own/m'], tools: [] } })),
    edges: [ids],
  });
  return () => runOrThrow(chain, options);
}

function flowOf(step: (at: number) => Step): Workflow {
  return workflow('flow').add(sequence('main').steps(...Array.from({ length: GOALS }, (_, at) => step(at))));
}

const team = [agent('one', 'You.'), agent('two', 'You.')];

const CASES: readonly (readonly [string, number, Workflow])[] = [
  ['a goal', 1, flowOf((at) => goal(`g${at}`, 'Do.'))],
  ['a goal of two agents', 3, flowOf((at) => goal(`g${at}`, 'Do.').using(...team))],
];

/** Microseconds of processor time for a goal. */
async function goalTime(job: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  for (let count = 0; count < RUNS; count++) await job();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (GOALS * RUNS);
}

/** What a goal costs, over the scripted calls of its agents. Gives the goals that were missed. */
export async function benchTrees(): Promise<string[]> {
  const missed: string[] = [];
  const rows: string[][] = [];
  for (const [name, perGoal, flow] of CASES) {
    const bare = callsOf(perGoal);
    const whole = (): Promise<unknown> => flow.executeOrThrow({ model: 'own/m' }, {}, options);
    const [calls, goals]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      calls.push(await goalTime(bare));
      goals.push(await goalTime(whole));
    }
    const [least, most] = [Math.min(...calls), Math.min(...goals)];
    const over = most - least;
    rows.push([name, least.toFixed(1), most.toFixed(1), over.toFixed(1), `<= ${GOAL}`]);
    if (over > GOAL) missed.push(`${name}: ${over.toFixed(1)} µs over its calls, goal ${GOAL}`);
  }
  printTable(
    `Trees (best of ${ROUNDS}, µs of processor time a goal; ${GOALS} goals after one another)`,
    ['', 'its calls', 'in a tree', 'over', 'goal'],
    rows,
  );
  return missed;
}
