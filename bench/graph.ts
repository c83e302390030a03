import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runInThisContext } from 'node:vm';
import { compile } from '../src/engine/graph/compile.js';
import type { CompiledPlan } from '../src/engine/graph/compile.js';
import { startRun } from '../src/engine/run.js';
import { graph } from '../src/graph.js';
import type { Graph } from '../src/graph.js';
import { definePlan } from '../src/plan/builder.js';
import type { Definition } from '../src/plan/builder-input.js';
import { measure, median, printTable } from './measure.js';

const NODES = 10_000;
const CHAIN = 1_000;
const TYPED = 200;
const ROUNDS = 5;

type Layer = 'named' | 'updates';
type State = Record<string, unknown>;
type Body = (state: State) => State;

interface Row {
  readonly name: string;
  readonly figure: string;
  readonly compared: string;
  readonly goal: string;
  readonly held: boolean;
}

/** Functions of a chain in which each node reads what the one before gave. No round has source texts of another one. */
function functionsOf(layer: Layer, count: number, round: number): readonly Body[] {
  const sources = Array.from({ length: count }, (_, at) => {
    const before = `n${at - 1}`;
    const value = at === 0 ? '1' : `${before} + 1`;
    const result = layer === 'named' ? value : `{ n${at}: ${value} }`;
    return `(${at === 0 ? '' : `{ ${before} }`}) => (${result}) /* ${round} */`;
  });
  return runInThisContext(`[${sources.join(',')}]`) as readonly Body[];
}

/** Names as they stand in a source text, where each is one string however often it is written. */
function namesOf(count: number): readonly string[] {
  return Object.keys(Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, at])));
}

function graphOf(layer: Layer, count: number, round: number): Graph<State> {
  const flow = graph<State>().setEntry('n0');
  const names = namesOf(count);
  functionsOf(layer, count, round).forEach((fn, at) => {
    const name = names[at] ?? '';
    if (layer === 'named') flow.node(name, fn);
    else flow.addNode(name, fn, { writes: [name] });
    if (layer === 'updates' && at > 0) flow.addEdge(names[at - 1] ?? '', name);
  });
  return flow;
}

/** The same chain, written as a plan. */
function planOf(layer: Layer, count: number, round: number): Definition {
  const names = namesOf(count);
  const nodes = functionsOf(layer, count, round).map((fn, at) => {
    const id = names[at] ?? '';
    return layer === 'named' ? { id, run: fn, output: id } : { id, run: fn, writes: [id] };
  });
  return definePlan<State>({ name: 'chain', nodes, edges: [nodes.map((node) => node.id)], entry: 'n0' });
}

/** Milliseconds that a graph takes to compile, when nothing of it was compiled before. */
function compileTime(layer: Layer): number {
  const times = Array.from({ length: ROUNDS }, (_, round) => {
    const flow = graphOf(layer, NODES, round);
    const start = performance.now();
    flow.compile();
    return performance.now() - start;
  });
  return median(times);
}

function compileRow(name: string, layer: Layer): Row {
  const figure = compileTime(layer);
  return { name, figure: `${figure.toFixed(0)} ms`, compared: '', goal: '< 300 ms', held: figure < 300 };
}

async function runOf(plan: CompiledPlan, channel: string): Promise<void> {
  const { state, outcome } = await startRun(plan).result;
  if (outcome !== 'succeeded' || state[channel] !== CHAIN) throw new Error(`wrong result: ${outcome}`);
}

function prepared({ plan, bindings }: Definition): CompiledPlan {
  return compile(plan, bindings);
}

function perNode(time: number): string {
  return `${((time * 1000) / CHAIN).toFixed(2)} µs`;
}

/** What users call keeps what was told of each step: beside the same plan by hand, with a listener that keeps as much. */
async function keepingRow(layer: Layer): Promise<Row> {
  const [plain, built] = [prepared(planOf(layer, CHAIN, 2)), graphOf(layer, CHAIN, 3).compile()];
  const listened = async (): Promise<void> => {
    const events: unknown[] = [];
    await startRun(plain, { listeners: [(event) => events.push(event)] }).result;
  };
  const run = async (): Promise<void> => {
    const { answer } = await built.run();
    if (layer === 'named' && answer !== String(CHAIN)) throw new Error(`wrong result: ${answer}`);
  };
  const { listened: theirs = Number.NaN, run: ours = Number.NaN } = await measure(
    { name: 'keeping', units: CHAIN, candidates: { listened, run } },
    51,
  );
  return {
    name: `chain of ${CHAIN}, ${layer}, run() with its events, a node`,
    figure: perNode(ours),
    compared: `plan by hand, events kept ${perNode(theirs)}`,
    goal: '<= 1.5 x',
    held: ours <= theirs * 1.5,
  };
}

/** What users call, beside the engine alone that runs the same plan for nobody. */
async function wholeRow(layer: Layer): Promise<Row> {
  const [plain, built] = [prepared(planOf(layer, CHAIN, 4)), graphOf(layer, CHAIN, 5).compile()];
  const last = `n${CHAIN - 1}`;
  const run = async (): Promise<void> => {
    const { state } = await built.run();
    if (state[last] !== CHAIN) throw new Error(`wrong result: ${String(state[last])}`);
  };
  const candidates = { engine: () => runOf(plain, last), run };
  const { engine = Number.NaN, run: ours = Number.NaN } = await measure(
    { name: 'whole', units: CHAIN, candidates },
    51,
  );
  return {
    name: `chain of ${CHAIN}, ${layer}, run(), a node`,
    figure: perNode(ours),
    compared: `engine ${perNode(engine)}`,
    goal: '<= 2 x',
    held: ours <= engine * 2,
  };
}

async function runRow(layer: Layer): Promise<Row> {
  const [plain, built] = [prepared(planOf(layer, CHAIN, 0)), prepared(graphOf(layer, CHAIN, 1).compile())];
  const last = `n${CHAIN - 1}`;
  const candidates = { plan: () => runOf(plain, last), graph: () => runOf(built, last) };
  const { plan = Number.NaN, graph: ours = Number.NaN } = await measure(
    { name: 'chain', units: CHAIN, candidates },
    51,
  );
  return {
    name: `chain of ${CHAIN}, ${layer}, a node`,
    figure: perNode(ours),
    compared: `plan by hand ${perNode(plan)}`,
    goal: '<= 1.1 x',
    held: ours <= plan * 1.1,
  };
}

/** 200 nodes in one expression, each of which reads two of those before it. */
function typedChain(): string {
  const lines = Array.from({ length: TYPED }, (_, at) => {
    if (at === 0) return "  .node('n0', ({ query }) => query.length)";
    const [before, half] = [`n${at - 1}`, `n${at >> 1}`];
    return before === half
      ? `  .node('n${at}', ({ ${before} }) => ${before} + 1)`
      : `  .node('n${at}', ({ ${before}, ${half} }) => ${before} + ${half})`;
  });
  return `import { graph } from 'skein/graph';\nexport const flow = graph<{ query: string }>()\n${lines.join('\n')};\n`;
}

/** Seconds that the compiler takes for the chain, as a user of the package calls it. */
function typeCheckTime(): number {
  const folder = mkdtempSync(join(tmpdir(), 'skein-bench-'));
  try {
    writeFileSync(join(folder, 'chain.ts'), typedChain());
    const compilerOptions = {
      noEmit: true,
      strict: true,
      skipLibCheck: true,
      target: 'es2023',
      module: 'nodenext',
      types: ['node'],
      typeRoots: [resolve('node_modules/@types')],
      paths: { 'skein/graph': [resolve('dist/graph.d.ts')] },
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['chain.ts'] }));
    const times = Array.from({ length: 3 }, () => {
      const start = performance.now();
      execFileSync(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', folder], { stdio: 'inherit' });
      return performance.now() - start;
    });
    return median(times) / 1000;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function typeCheckRow(): Row {
  const figure = typeCheckTime();
  const name = `tsc --noEmit, chain of ${TYPED} in one expression`;
  return { name, figure: `${figure.toFixed(2)} s`, compared: '', goal: '< 3 s', held: figure < 3 };
}

/** Graphs: how long they take to be checked and to be typed, and what the notation costs when they run. Gives the goals that were missed. */
export async function benchGraph(): Promise<readonly string[]> {
  const rows = [
    compileRow(`compile ${NODES} nodes, named`, 'named'),
    compileRow(`compile ${NODES} nodes, updates`, 'updates'),
    await runRow('named'),
    await runRow('updates'),
    await keepingRow('named'),
    await keepingRow('updates'),
    await wholeRow('named'),
    await wholeRow('updates'),
    typeCheckRow(),
  ];
  printTable(
    'Typed graphs',
    ['what', 'skein', 'compared with', 'goal', ''],
    rows.map(({ name, figure, compared, goal, held }) => [name, figure, compared, goal, held ? 'held' : 'MISSED']),
  );
  return rows.filter((row) => !row.held).map((row) => `${row.name}: ${row.figure}, goal ${row.goal}`);
}
