import { SkeinError } from '../base/errors.js';
import { refuseUnknown } from '../base/suggest.js';
import { refusal } from '../base/problem.js';
import { readSupervise } from '../notations/graph/supervising.js';
import type { GraphSettings } from './options.js';

const NAMES = [
  'name',
  'description',
  'state',
  'inputs',
  'reducers',
  'invariants',
  'policy',
  'maxSteps',
  'concurrency',
  'answerKey',
  'taskParam',
  'supervise',
  'budget',
  'security',
  'hosts',
  'commands',
  'sends',
  'firstExitWins',
  'finally',
  'output',
] as const satisfies readonly (keyof GraphSettings<never> | 'state' | 'reducers')[];

const POLICIES: readonly unknown[] = ['ignore', 'observe', 'enforce', 'quickEnforce', undefined];

/**
 * Checks what types can't check in untyped code: unknown options, a state that is not schemas by key, invariants that watch over nothing.
 *
 * @throws SkeinError `SKEIN_USAGE`, `SKEIN_DEFINITION`
 */
export function checkSettings(settings: object & Pick<GraphSettings<never>, 'supervise'>): void {
  if (isSchema(settings)) {
    throw usage('a graph takes options, not a schema', 'for a schema of zod: graph({ state: schema.shape })');
  }
  refuseUnknown('a graph', settings, NAMES);
  const { state, output, invariants = [], policy, finally: last } = settings as Record<string, unknown>;
  if (last !== undefined && typeof last !== 'string')
    throw usage('the option "finally" is the name of a node', "finally: 'cleanup', and .node('cleanup', ...)");
  if (state !== undefined) checkState(state);
  if (output !== undefined) checkOutput(output);
  readSupervise('the graph', settings.supervise);
  if (!Array.isArray(invariants)) throw usage('the option "invariants" is a list', INVARIANT);
  checkPolicy(policy);
  for (const invariant of invariants as unknown[]) {
    const { predicate, policy: own } = (invariant ?? {}) as Record<string, unknown>;
    if (typeof predicate !== 'function') throw usage('an invariant needs a predicate', INVARIANT);
    checkPolicy(own);
  }
}

const INVARIANT =
  "invariants: [{ predicate: ({ state }) => state.balance >= 0, message: 'the balance stays positive' }]";

function checkPolicy(policy: unknown): void {
  if (POLICIES.includes(policy)) return;
  throw usage(`there is no policy ${quoted(policy)}`, 'policies are: ignore, observe, enforce, quickEnforce');
}

function checkState(state: unknown): void {
  if (isSchema(state)) {
    const hint = 'for a schema of zod: state: schema.shape';
    throw refusal('bad-schema', 'the state is given as one schema, and needs one for each of its keys', hint);
  }
  if (typeof state !== 'object' || state === null) throw refusal('bad-schema', 'the state is schemas by key', HINT);
  for (const [key, schema] of Object.entries(state)) {
    if (!isSchema(schema))
      throw refusal('bad-schema', `the value for the key ${quoted(key)} is not a valid schema`, HINT);
  }
}

function checkOutput(output: unknown): void {
  const hint = "name its keys, { output: ['answer'] }, or give a schema for each, { output: { answer: z.string() } }";
  if (Array.isArray(output) ? output.every((key) => typeof key === 'string') : isSchemas(output)) return;
  throw refusal('bad-schema', 'the output is neither keys of the state nor schemas by key', hint);
}

function isSchemas(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !isSchema(value) && Object.values(value).every(isSchema);
}

const HINT = 'a schema is a Standard Schema, as zod, Valibot and ArkType make them';

function isSchema(value: unknown): boolean {
  return (typeof value === 'object' || typeof value === 'function') && value !== null && '~standard' in value;
}

function quoted(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

function usage(message: string, hint: string): SkeinError {
  return new SkeinError('SKEIN_USAGE', message, { hint });
}
