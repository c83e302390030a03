import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compile } from '../src/engine/graph/compile.js';
import type { CompiledPlan } from '../src/engine/graph/compile.js';
import { startRun } from '../src/engine/run.js';
import { hasErrors } from '../src/index.js';
import type { PlanNode } from '../src/plan/plan.js';
import { loadPipeline } from '../src/yaml.js';
import { measure, printTable } from './measure.js';

const CHAIN = 1_000;
const ROUNDS = 15;
/** A step that makes a value takes at most so many microseconds more than one that does nothing. */
const OVER_PASS = 3;
const STEPS = 500;
/** A file of steps of these kinds is validated in less than so many milliseconds. */
const VALIDATED = 100;

/** Nodes in a row behind one that makes the first value. */
function row(make: (id: string, before: string) => PlanNode): CompiledPlan {
  const first: PlanNode = { id: 'n0', kind: 'set', output: 'n0', values: { n: { value: 'high' } } };
  const nodes = [first, ...Array.from({ length: CHAIN }, (_, at) => make(`n${at + 1}`, `n${at}`))];
  const edges = nodes.slice(1).map((node, at) => ({ from: `n${at}`, to: node.id }));
  return compile({ format: 1, name: 'row', inputs: [], channels: [], nodes, edges, routes: [] }, {});
}

/** Each has a value of the one before, which keeps its type. */
const sets = (): CompiledPlan =>
  row((id, before) => ({ id, kind: 'set', output: id, values: { n: { channel: before, path: ['n'] } } }));

async function finish(plan: CompiledPlan): Promise<Readonly<Record<string, unknown>>> {
  const { state, outcome } = await startRun(plan).result;
  if (outcome !== 'succeeded') throw new Error(`the run ${outcome}`);
  return state;
}

/** Five kinds in turn: an agent, a set step that reads it, a command, cases, and a condition that ends the run. */
function mixedFile(): string {
  const steps = Array.from({ length: STEPS / 5 }, (_, at) => {
    const made = `$steps.v${at}.output`;
    return [
      `  - { id: a${at}, type: agent, name: w, prompt: Go on., schema: { n: integer, list: [string] } }`,
      `  - { id: v${at}, type: set, values: { twice: "{{= $steps.a${at}.output.n * 2 }}", words: "{{= $steps.a${at}.output.list.join(', ') }}" } }`,
      `  - { id: r${at}, run: [echo, "{{ ${made}.twice }}"] }`,
      `  - { id: c${at}, type: condition, cases: [{ when: '{{ ${made}.twice == 2 }}', steps: [{ type: set, id: x${at}, values: { y: "{{ ${made}.words }}" } }] }] }`,
      `  - { id: e${at}, type: condition, condition: '{{ ${made}.twice > 9 }}', true: [{ type: end, status: succeeded, reason: "{{ ${made}.words }}" }] }`,
    ].join('\n');
  });
  return `agents:\n  w: { instruction: You write. }\nworkflow:\n${steps.join('\n')}\n`;
}

async function validated(file: string): Promise<void> {
  const { problems } = await loadPipeline(file, { cwd: '/' });
  if (hasErrors(problems)) throw new Error(JSON.stringify(problems.slice(0, 3)));
}

/** Steps that make values, and files of the kinds of steps that need no model. Gives the goals that were missed. */
export async function benchSets(): Promise<readonly string[]> {
  const set = sets();
  const pass = row((id) => ({ id, kind: 'pass' }));
  if (JSON.stringify((await finish(set))[`n${CHAIN}`]) !== '{"n":"high"}') throw new Error('a wrong value');
  const times = await measure(
    { name: 'set', units: CHAIN, candidates: { set: () => finish(set), pass: () => finish(pass) } },
    ROUNDS,
  );
  const [one = Number.NaN, none = Number.NaN] = ['set', 'pass'].map(
    (name) => ((times[name] ?? Number.NaN) * 1_000) / CHAIN,
  );
  const folder = mkdtempSync(join(tmpdir(), 'skein-bench-'));
  const file = join(folder, 'mixed.yaml');
  writeFileSync(file, mixedFile());
  const loads = await measure(
    { name: 'validate', units: 1, candidates: { skein: () => validated(file) } },
    ROUNDS,
  ).finally(() => rmSync(folder, { recursive: true }));
  const load = loads['skein'] ?? Number.NaN;
  printTable(
    'Steps that need no model',
    ['', 'figure', 'goal'],
    [
      ['a pass step, in us', none.toFixed(2), ''],
      ['a set step, in us', one.toFixed(2), `<= ${OVER_PASS} more`],
      [`a file of ${STEPS} steps of set, run, cases and end is validated, in ms`, load.toFixed(1), `< ${VALIDATED}`],
    ],
  );
  return [
    ...(one - none <= OVER_PASS ? [] : [`a set step takes ${(one - none).toFixed(2)} us more than a pass`]),
    ...(load < VALIDATED ? [] : [`a file of ${STEPS} steps without a model is validated in ${load.toFixed(1)} ms`]),
  ];
}
