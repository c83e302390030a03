import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { startRun } from '../src/engine/run.js';
import { MemoryDurable } from '../src/engine/durable/memory-durable.js';
import { analyzeShape } from '../src/plan/graph-shape.js';
import type { Plan } from '../src/plan/plan.js';
import { FakeClock } from '../src/testing/index.js';
import { printTable } from './measure.js';

const FOLDER = resolve('../shared/corpus/dags');
const WORKERS = [2, 8, 32];

interface TaskGraph {
  readonly plan: Plan;
  readonly costs: readonly number[];
}

/** Makespans of real task graphs on the fake clock, against a greedy list schedule and against Graham's bound. */
export async function benchScheduling(): Promise<string[]> {
  if (!existsSync(FOLDER)) {
    console.log(`\nScheduling: skipped, ${FOLDER} is not there`);
    return [];
  }
  const rows: string[][] = [];
  const ratios: number[] = [];
  const missed: string[] = [];
  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.json'))) {
    const graph = readGraph(resolve(FOLDER, file));
    for (const workers of WORKERS) {
      const ours = await makespan(graph, workers);
      const list = listSchedule(graph, workers);
      const bound = grahamBound(graph, workers);
      ratios.push(ours / list);
      if (ours > bound * (1 + 1e-9))
        missed.push(`${graph.plan.name} on ${workers}: ${ours.toFixed(1)} above the bound ${bound.toFixed(1)}`);
      rows.push([
        graph.plan.name,
        String(graph.costs.length),
        String(workers),
        ours.toFixed(1),
        list.toFixed(1),
        (ours / list).toFixed(3),
        bound.toFixed(1),
      ]);
    }
  }
  const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
  printTable(
    'Scheduling on the fake clock',
    ['graph', 'tasks', 'workers', 'makespan', 'list schedule', 'ratio', 'bound'],
    rows,
  );
  console.log(
    `Mean ratio ${mean.toFixed(3)} (goal <= 1.02); above work/W + (1 - 1/W) x critical path: ${missed.length}`,
  );
  return mean <= 1.02 ? missed : [...missed, `scheduling: mean ratio ${mean.toFixed(3)}, goal 1.02`];
}

function readGraph(path: string): TaskGraph {
  const { name, task_graph: graph } = JSON.parse(readFileSync(path, 'utf8')) as {
    name: string;
    task_graph: { tasks: { name: string; cost: number }[]; dependencies: { source: string; target: string }[] };
  };
  const nodes = graph.tasks.map((task) => ({ id: task.name, kind: 'task', writes: [] }) as const);
  const edges = graph.dependencies.map(({ source, target }) => ({ from: source, to: target }));
  const plan: Plan = { format: 1, name, inputs: [], channels: [], nodes, edges, routes: [] };
  return { plan, costs: graph.tasks.map((task) => task.cost) };
}

/** Costs are milliseconds of the fake clock, times 1000 so that nothing is rounded away. */
async function makespan({ plan, costs }: TaskGraph, workers: number): Promise<number> {
  const clock = new FakeClock();
  const start = clock.now();
  const bindings: Record<string, () => Promise<void>> = {};
  plan.nodes.forEach((node, at) => {
    bindings[node.id] = () =>
      new Promise((done) => {
        clock.setTimer((costs[at] ?? 0) * 1_000, done);
      });
  });
  const run = startRun(plan, { bindings, concurrency: workers, durable: new MemoryDurable('bench', { clock }) });
  const state = { ended: false };
  void run.result.then(() => {
    state.ended = true;
  });
  while (!state.ended) {
    await new Promise((rest) => setImmediate(rest));
    clock.advanceToNext();
  }
  return (clock.now() - start) / 1_000;
}

/** Whenever a worker is free it takes the first ready task of the list, which is the plan order. */
function listSchedule({ plan, costs }: TaskGraph, workers: number): number {
  const shape = analyzeShape(plan);
  const missing = shape.inEdges.map((edges) => edges.length);
  const ready = shape.starts.slice();
  const running: { task: number; end: number }[] = [];
  let now = 0;
  const finish = (task: number): void => {
    for (const edge of shape.outEdges[task] ?? []) {
      const to = shape.edges[edge]?.to ?? 0;
      missing[to] = (missing[to] ?? 0) - 1;
      if (missing[to] === 0) ready.push(to);
    }
  };
  while (ready.length > 0 || running.length > 0) {
    ready.sort((a, b) => a - b);
    for (const task of ready.splice(0, workers - running.length)) running.push({ task, end: now + (costs[task] ?? 0) });
    running.sort((a, b) => a.end - b.end);
    now = running[0]?.end ?? now;
    const done = running.filter(({ end }) => end <= now);
    running.splice(0, done.length);
    for (const { task } of done) finish(task);
  }
  return now;
}

/** Graham 1969: no greedy schedule is longer than work/W + (1 - 1/W) x critical path. */
function grahamBound({ plan, costs }: TaskGraph, workers: number): number {
  const shape = analyzeShape(plan);
  const path = costs.slice();
  for (const node of shape.order) {
    for (const edge of shape.outEdges[node] ?? []) {
      const to = shape.edges[edge]?.to ?? 0;
      path[to] = Math.max(path[to] ?? 0, (path[node] ?? 0) + (costs[to] ?? 0));
    }
  }
  const work = costs.reduce((sum, cost) => sum + cost, 0);
  return work / workers + (1 - 1 / workers) * Math.max(...path);
}
