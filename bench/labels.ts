import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startRun } from '../src/engine/run.js';
import type { CompiledPlan } from '../src/engine/graph/compile.js';
import type { Cell } from '../src/engine/state/cell.js';
import { inputCell } from '../src/engine/state/cell.js';
import { decide } from '../src/guard/decide.js';
import type { Label } from '../src/guard/label.js';
import { Lineage } from '../src/guard/lineage.js';
import { labelPlans, processorTimes } from './labels-job.js';
import { measure, median, printTable } from './measure.js';
import { chain, fanOut, routeLoop } from './plans.js';

/** A run whose values are all labelled takes at most so many times as long as one without labels. */
const GOAL = 1.15;
/** One in which nothing is labelled takes at most so many times as long as in an engine that knows no labels. */
const UNUSED_GOAL = 1.03;
/** Bytes that a cell has for its label. */
const CELL_GOAL = 8;
const CELLS = 200_000;
const ROUNDS = 21;
/** Processes of each of two engines that are compared. */
const PROCESSES = 40;
/** Microseconds of a decision, and milliseconds for a text of 64 kB. */
const DECISION = 50;
const INDEX = 1;

const JOB = join(import.meta.dirname, 'labels-job.js');

const PAGE: Label = { level: 'untrusted', isPrivate: false, sources: ['read@tool#1.1'] };

async function ran(plan: CompiledPlan, influence?: Label): Promise<void> {
  const result = await startRun(plan, { influence }).result;
  const isLabelled = Object.hasOwn(result, 'labels');
  if (result.outcome !== 'succeeded' || isLabelled !== (influence !== undefined)) throw new Error('wrong result');
}

/** How many times as long one job takes as another, in time of processors. */
async function ratio(job: () => Promise<void>, base: () => Promise<void>): Promise<number> {
  const [mine = Number.NaN, other = Number.NaN] = await processorTimes([job, base]);
  return mine / other;
}

/** By module of a copy of the engine: heads of methods, and what they give at once instead. */
type Changes = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** What notes, joins and carries labels does nothing here. */
const UNLABELLED: Changes = {
  'engine/state/run-labels.js': { 'get used()': 'false', 'of(label)': '0', 'join(a, b)': '0' },
  'engine/steps/attempts.js': { 'influenced(label)': '', 'decides(label)': '' },
  'engine/graph/flow.js': { 'decided(label)': '', 'counted(firing)': 'firing' },
  'engine/state/scope-state.js': { 'tellLabels(result)': '', 'labelOf(version)': '0' },
};

/** A copy of the engine with its plans, in a folder of its own. */
function copyOfEngine(name: string, changes: Changes): string {
  const folder = join(import.meta.dirname, '..', 'copies', name);
  for (const part of ['src', join('bench', 'plans.js')])
    cpSync(join(import.meta.dirname, '..', part), join(folder, part), { recursive: true });
  for (const [module, methods] of Object.entries(changes)) {
    const file = join(folder, 'src', module);
    let text = readFileSync(file, 'utf8');
    for (const [head, value] of Object.entries(methods)) {
      if (!text.includes(`    ${head} {\n`)) throw new Error(`there is no ${head} in ${module}`);
      text = text.replace(`    ${head} {\n`, `    ${head} {\n        return ${value};\n`);
    }
    writeFileSync(file, text);
  }
  return folder;
}

/** What plans take in a process that knows one copy alone, by name. */
function timesOf(copy: string): Readonly<Record<string, number>> {
  const { stdout, status, stderr } = spawnSync(process.execPath, [JOB, copy], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${JOB} failed:\n${stderr}`);
  return JSON.parse(stdout) as Readonly<Record<string, number>>;
}

/**
 * How many times as long plans take as in an engine without labels. Copies take turns, each in processes of its own, the first of a round being the second of
 * the next; of the ratios of the rounds the middle one counts, as memory is laid out otherwise in each process, which alone makes some hundredths.
 */
function ratiosToUnlabelled(): readonly (readonly [name: string, ratio: number])[] {
  const [same, changed] = [copyOfEngine('same', {}), copyOfEngine('unlabelled', UNLABELLED)];
  const rounds = Array.from({ length: PROCESSES }, (_, round) => {
    const first = round % 2 === 0 ? timesOf(same) : undefined;
    const without = timesOf(changed);
    return { labelled: first ?? timesOf(same), without };
  });
  const ratioIn = (name: string) =>
    rounds.map(({ labelled, without }) => (labelled[name] ?? Number.NaN) / (without[name] ?? Number.NaN));
  return Object.keys(rounds[0]?.without ?? {}).map((name) => [name, median(ratioIn(name))]);
}

/** Bytes of one of many objects of a kind. */
function bytesOf(make: (at: number) => object): number {
  const size = (): number => {
    globalThis.gc?.();
    return process.memoryUsage().heapUsed;
  };
  const sizes = Array.from({ length: 5 }, () => {
    const all: object[] = Array.from({ length: CELLS }, (_, at) => make(at));
    const held = size();
    for (let at = 0; at < CELLS; at++) all[at] = EMPTY;
    return (held - size()) / CELLS;
  });
  return median(sizes);
}

const EMPTY = {};

/** What a cell would be without its label. */
function unlabelled({ value, writer, epoch, rank, line, folded, digest }: Cell): object {
  return { value, writer, epoch, rank, line, folded, digest };
}

/** What labels cost: of the engine as a ratio in one process, of the guard as times. */
export async function benchLabels(): Promise<string[]> {
  const missed: string[] = [];
  const rows: string[][] = [];
  const row = (name: string, figure: string, goal: string, holds: boolean): void => {
    rows.push([name, figure, goal, holds ? 'yes' : 'NO']);
    if (!holds) missed.push(`labels, ${name}: ${figure} (goal: ${goal})`);
  };
  for (const [name, plan] of Object.entries(labelPlans({ chain, fanOut, routeLoop }))) {
    const labelled = await ratio(
      () => ran(plan, PAGE),
      () => ran(plan),
    );
    row(name, `${labelled.toFixed(2)} x`, `at most ${GOAL} x`, labelled <= GOAL);
  }
  for (const [name, unused] of ratiosToUnlabelled())
    row(`${name}, nothing untrusted`, `${unused.toFixed(3)} x`, `at most ${UNUSED_GOAL} x`, unused <= UNUSED_GOAL);
  const bytes = bytesOf((at) => inputCell(at, undefined)) - bytesOf((at) => unlabelled(inputCell(at, undefined)));
  row('a cell', `${bytes.toFixed(1)} bytes more`, `at most ${CELL_GOAL}`, Math.round(bytes) <= CELL_GOAL);
  const call = {
    seesPrivate: true,
    tool: 'github/create_comment',
    input: { repo: 'acme/web', body: 'x'.repeat(2_000) },
  };
  const times = 1_000;
  const text = 'Some text of a page with words and numbers, 1234567. '.repeat(1_250);
  const { decisions = 0, index = 0 } = await measure(
    {
      name: 'guard',
      units: 1,
      candidates: {
        decisions: () => {
          for (let at = 0; at < times; at++) decide({ ...call, effect: 'send' }, PAGE, {});
        },
        index: () => new Lineage([{ source: 'read@tool#1.1', steps: ['read'], text }]).size,
      },
    },
    ROUNDS,
  );
  const micros = (decisions / times) * 1_000;
  row('a decision', `${micros.toFixed(1)} us`, `under ${DECISION} us`, micros < DECISION);
  row('index of 64 kB', `${index.toFixed(2)} ms`, `under ${INDEX} ms`, index < INDEX);
  printTable('Labels', ['', 'figure', 'goal', 'held'], rows);
  return missed;
}
