import { SkeinError } from '../src/base/errors.js';
import { schemaFindings } from '../src/lang/schema-check.js';
import { HOSTILE_INPUTS } from '../test/hostile/inputs.js';
import { HOSTILE_SCHEMAS } from '../test/hostile/schemas.js';
import { printTable } from './measure.js';

/** Milliseconds that one input may take. */
const GOAL = 1_000;

/** Texts from outside that are made to take for ever: the slowest first, each evaluated once and cold, as a run would. */
export function benchHostile(): string[] {
  const inputs = [
    ...HOSTILE_INPUTS.map(({ name, evaluate }) => ({ name, evaluate })),
    ...HOSTILE_SCHEMAS.map(({ name, schema, value }) => ({ name, evaluate: () => schemaFindings(schema, value) })),
  ];
  const times = inputs.map(({ name, evaluate }) => ({ name, ...timeOf(evaluate) })).toSorted((a, b) => b.ms - a.ms);
  const rows = times.map(({ name, ms, cpu }) => [name, `${ms.toFixed(0)} ms`, `${cpu.toFixed(0)} ms`, `${GOAL} ms`]);
  printTable(`${inputs.length} hostile inputs`, ['input', 'time', 'processor', 'goal'], rows);
  return times.filter(({ ms }) => ms > GOAL).map(({ name, ms }) => `hostile input: ${name} took ${ms.toFixed(0)} ms`);
}

function timeOf(evaluate: () => unknown): { readonly ms: number; readonly cpu: number } {
  const [start, before] = [performance.now(), process.cpuUsage()];
  try {
    evaluate();
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
  }
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  return { ms, cpu: (user + system) / 1_000 };
}
