import * as agents from 'skein/agent';
import * as graphs from 'skein/graph';
import * as library from 'skein';
import * as machines from 'skein/machine';
import * as sqlite from 'skein/sqlite';
import * as testing from 'skein/testing';
import * as trees from 'skein/tree';
import * as yaml from 'skein/yaml';

/** Calls a function of the library as untyped code does. */
type Loose = (...given: readonly unknown[]) => unknown;
const loose = (fn: unknown): Loose => fn as Loose;

const poet = graphs.agent({ name: 'poet', model: 'mock/echo', instructions: 'You write.' });
const flow = graphs.graph().node('task', () => 'x');
const add = graphs.tool({ name: 'add', inputSchema: { type: 'object' }, execute: () => 1 });
const spec = { version: 2, entry: 'a', states: { a: { prompt_task: 'a', terminal: true } } } as const;
const pack = {
  id: 'p',
  name: 'p',
  version: '1.0.0',
  template_engine: { version: 'v1', syntax: '{{variable}}' },
  prompts: { a: { id: 'a', name: 'a', version: '1.0.0', system_template: 'Hi.' } },
};
const store = library.memoryStore();
const cwd = process.cwd();

/** The functions of the library that take options: options without a mistake, and what is called with them. */
export const DOORS: Readonly<Record<string, readonly [object, (options: object) => unknown]>> = {
  run: [{}, (o) => library.run(library.definePlan({ name: 'p', nodes: [{ id: 'a', run: () => 1 }] }), o)],
  runWorkflow: [{}, async (o) => await library.runWorkflow(await yaml.loadWorkflowText('name: w', { cwd }), o)],
  supervisor: [{}, (o) => library.supervisor(o)],
  definePlan: [{ name: 'p', nodes: [] }, loose(library.definePlan)],
  'a node of definePlan': [{ id: 'a', run: () => 1 }, (o) => loose(library.definePlan)({ name: 'p', nodes: [o] })],
  'a route of definePlan': [{ from: 'a' }, (o) => loose(library.definePlan)({ name: 'p', nodes: [], routes: [o] })],
  readRun: [{}, (o) => library.readRun(store, 'r', o)],
  pruneRuns: [{ keep: 1 }, (o) => library.pruneRuns(store, o)],
  answerRun: [{ value: 1 }, (o) => loose(library.answerRun)(store, 'r', o)],
  changeBudget: [{ budget: '+1-calls' }, (o) => loose(library.changeBudget)(store, 'r', o)],
  forkThread: [{}, (o) => loose(library.forkThread)(store, 'a', 'b', o)],
  updateThread: [{ who: 'a', why: 'b' }, (o) => loose(library.updateThread)(store, 'a', {}, o)],
  graph: [{}, (o) => graphs.graph(o)],
  'an invariant': [{ predicate: () => true, message: 'm' }, (o) => loose(graphs.graph)({ invariants: [o] })],
  'the options of a node': [
    {},
    (o) =>
      graphs
        .graph()
        .node('a', () => 1, o)
        .compile(),
  ],
  'the options of a map': [
    { over: 'a' },
    (o) => {
      const own = graphs.graph();
      loose(own.map.bind(own))('m', o, () => 1);
      own.compile();
    },
  ],
  asAgent: [
    {},
    (o) =>
      graphs
        .graph()
        .node('a', () => 1)
        .asAgent(o),
  ],
  'the run of an agent': [{}, async (o) => await poet.run('x', o)],
  'the run of a graph': [{}, async (o) => await flow.run({}, o)],
  agent: [{ name: 'a' }, loose(graphs.agent)],
  tool: [add, loose(graphs.tool)],
  agentNode: [{}, (o) => graphs.agentNode(poet, o)],
  toolNode: [{}, (o) => graphs.toolNode(add, o)],
  eventNode: [{}, (o) => graphs.eventNode('e', o)],
  sleepNode: [{ ms: 1 }, loose(graphs.sleepNode)],
  endNode: [{}, (o) => graphs.endNode(o)],
  runNode: [{}, (o) => graphs.runNode(['true'], o)],
  loopNode: [{ until: { line: 'X' }, maxRounds: 2 }, (o) => loose(graphs.loopNode)(flow, o)],
  workflowNode: [{}, (o) => graphs.workflowNode(flow, 'w', o)],
  agentAsTool: [{ name: 'a', description: 'b' }, (o) => loose(graphs.agentAsTool)(poet, o)],
  agentTeam: [
    { supervisor: poet, workers: [{ name: 'a', description: 'b', agent: flow.asAgent() }] },
    loose(graphs.agentTeam),
  ],
  'a worker of a team': [
    { name: 'a', description: 'b', agent: flow.asAgent() },
    (o) => loose(graphs.agentTeam)({ supervisor: poet, workers: [o] }),
  ],
  planAndExecute: [{ planner: poet, executor: poet }, loose(graphs.planAndExecute)],
  reflectionLoop: [{ worker: poet, critic: poet }, loose(graphs.reflectionLoop)],
  openPack: [{}, (o) => machines.openPack(pack, o)],
  packWorkflow: [{}, (o) => machines.packWorkflow(pack, o)],
  validatePack: [{}, (o) => machines.validatePack(pack, o)],
  StateMachine: [{}, (o) => new machines.StateMachine(spec, o)],
  'the runtime of a tree': [{}, (o) => trees.workflow('w').execute(o)],
  'the options of a tree': [{}, (o) => trees.workflow('w').execute({}, {}, o)],
  customize: [{}, (o) => trees.goal('g', 'Do.').customize(o)],
  withOutputs: [{ strict: true }, (o) => trees.goal('g', 'Do.').withOutputs('a', o)],
  input: [{ name: 'a' }, (o) => loose(trees.workflow('w').input.bind(trees.workflow('w')))(o)],
  loadWorkflow: [{ cwd }, (o) => loose(yaml.loadWorkflow)('no.yaml', o)],
  loadDagText: [{ cwd, file: 'a.yaml' }, (o) => loose(yaml.loadDagText)('name: w', o)],
  loadPipelineText: [{ cwd }, (o) => loose(yaml.loadPipelineText)('agents: {}', o)],
  openPolicies: [{ cwd: '/nowhere' }, loose(yaml.openPolicies)],
  openSqliteStore: [{}, (o) => sqlite.openSqliteStore('/dev/null/x.db', o)],
  sqliteInUse: [{}, (o) => sqlite.sqliteInUse(o)],
  createModelRegistry: [{ env: {} }, loose(agents.createModelRegistry)],
  agentExecutor: [{ models: {}, tools: agents.noTools }, loose(agents.agentExecutor)],
  fromLanguageModel: [
    {},
    (o) => loose(agents.fromLanguageModel)({ specificationVersion: 'v3', provider: 'a', modelId: 'b' }, o),
  ],
  faultyStore: [{ failAt: 1 }, (o) => loose(testing.faultyStore)(store, o)],
  ManualDurable: [{}, (o) => new testing.ManualDurable(o)],
};

/** What a call gives or throws, as a value. */
export async function outcome(call: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    return error;
  }
}
