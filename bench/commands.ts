import { spawn } from 'node:child_process';
import { cpus } from 'node:os';
import { definePlan, run } from '../src/index.js';
import type { Definition } from '../src/plan/builder-input.js';
import { measure, printTable } from './measure.js';

/** A step that runs a command takes at most so many times as long as the start of the same program by Node. */
const GOAL = 1.5;
/** Commands that run one after the other. */
const CHAIN = 20;
const ROUNDS = 11;
/** Commands that run at the same time, and the part of all processors that they keep busy at least. */
const MANY = 200;
const BUSY = 0.9;

/** Some 20 milliseconds of a processor. */
const WORK = 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done';

function commands(count: number, argv: readonly string[], isChain: boolean): Definition {
  const ids = Array.from({ length: count }, (_, at) => `c${at}`);
  return definePlan({
    name: 'commands',
    nodes: ids.map((id) => ({ id, kind: 'task', output: id, tool: { name: 'shell', input: { value: { argv } } } })),
    edges: isChain ? ids.slice(1).map((id, at) => [ids[at] ?? '', id]) : [],
  });
}

async function ran(definition: Definition): Promise<void> {
  const { outcome, error } = await run(definition, { models: { env: process.env, noProbe: true } }).result;
  if (outcome !== 'succeeded') throw new Error(error?.message);
}

/** What Node takes for the same: the program with both outputs, until it has ended and they are closed. */
function spawned(program: string, ...args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.resume();
    child.stderr.resume();
    child.once('error', reject);
    child.once('close', () => resolve());
  });
}

/** The part of all processors that was busy while something was done. */
async function busyDuring(job: () => Promise<void>): Promise<number> {
  const before = ticks();
  await job();
  const after = ticks();
  return 1 - (after.idle - before.idle) / (after.all - before.all);
}

function ticks(): { readonly idle: number; readonly all: number } {
  const times = cpus().map((cpu) => cpu.times);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return { idle: sum(times.map(({ idle }) => idle)), all: sum(times.flatMap((time) => Object.values(time))) };
}

/** Steps that run commands. Gives the goals that were missed. */
export async function benchCommands(): Promise<readonly string[]> {
  const chain = commands(CHAIN, ['true'], true);
  const figures = await measure(
    {
      name: 'a step that runs true',
      units: CHAIN,
      candidates: {
        step: () => ran(chain),
        spawn: async () => {
          for (let at = 0; at < CHAIN; at += 1) await spawned('true');
        },
      },
    },
    ROUNDS,
  );
  const [step = Number.NaN, plain = Number.NaN] = [figures['step'], figures['spawn']].map(
    (ms) => (ms ?? Number.NaN) / CHAIN,
  );
  const ratio = step / plain;
  const busy = await busyDuring(() => ran(commands(MANY, ['sh', '-c', WORK], false)));
  printTable(
    'Steps that run a command',
    ['', 'figure', 'goal'],
    [
      ['true as a step, in ms', step.toFixed(2), ''],
      ['true by spawn, in ms', plain.toFixed(2), ''],
      ['step / spawn', ratio.toFixed(2), `<= ${GOAL}`],
      [`processors busy with ${MANY} commands`, busy.toFixed(2), `>= ${BUSY}`],
    ],
  );
  return [
    ...(ratio <= GOAL
      ? []
      : [`a step that runs a command takes ${ratio.toFixed(2)} times as long as spawn, not ${GOAL}`]),
    ...(busy >= BUSY ? [] : [`${MANY} commands keep ${busy.toFixed(2)} of the processors busy, not ${BUSY}`]),
  ];
}
