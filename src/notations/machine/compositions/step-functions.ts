import { SkeinError } from '../../../base/errors.js';
import { isPlainObject, type Json } from '../../../base/json.js';
import { schemaFindings } from '../../../lang/schema-check.js';
import type { Template } from '../../../lang/values.js';
import { valueText } from '../../../lang/value-text.js';
import type { AgentSpec, ModelChanges } from '../../../plan/agent-spec.js';
import type { StateOf, TaskStep } from '../../../plan/builder-input.js';
import type { Composition, CompositionStep } from '../pack.js';
import { holds } from './predicates.js';
import { INPUT, filledIn, type Scope } from './references.js';
import { branchesTo, flattened, type FlatStep } from './step-order.js';

/** Channels of a composition's plan other than its input: its output; for a step, its output, its input, the variables of its prompt. */
export const OUTPUT = 'output';
const VARIABLES = 'variables';
export const outputOf = (id: string): string => `steps.${id}`;
export const inputOf = (id: string): string => `inputs.${id}`;
export const variablesOf = (id: string): string => `variables.${id}`;

/** The channels of the surrounding machine that prompts show, with their values if there is no machine. */
export const AROUND = { [VARIABLES]: {}, artifacts: {}, workflow_context: '' };

export function withVariables(spec: AgentSpec, channel: string): AgentSpec {
  const own = (template: Template): Template =>
    template.map((piece) =>
      typeof piece === 'object' && 'channel' in piece && piece.channel === VARIABLES ? { ...piece, channel } : piece,
    );
  const { instructions, forModels = {} } = spec;
  const changes = Object.entries(forModels).map(([model, one]): [string, ModelChanges] => [
    model,
    one.instructions === undefined ? one : { ...one, instructions: own(one.instructions) },
  ]);
  const forEach = changes.length === 0 ? {} : { forModels: Object.fromEntries(changes) };
  return { ...spec, instructions: own(instructions), ...forEach };
}

export function scopeOf(state: StateOf): Scope {
  return (name) => {
    const output = state[outputOf(name)];
    if (output !== undefined) return { output };
    const input = state[INPUT];
    if (name !== INPUT) return undefined;
    // A message is an input that only has a text.
    return typeof input === 'string' ? { text: input } : input;
  };
}

/** @throws SkeinError `SKEIN_INPUT` for an input that does not match its schema */
export function checkInput(schema: Json, state: StateOf): object {
  const findings = schemaFindings(schema, scopeOf(state)(INPUT));
  if (findings.length === 0) return {};
  throw new SkeinError('SKEIN_INPUT', `the input does not match its schema: ${findings.join('; ')}`);
}

/** Returns the prompt's input, by default the composition's, and its variables: of the pack, `input`, and the keys of an object. */
export function prepared({ id, input }: CompositionStep, state: StateOf): Record<string, Json> {
  const value = filledIn(input ?? `\${${INPUT}}`, scopeOf(state));
  const keys = isPlainObject(value) ? value : {};
  // An object that only has a text is a converted message.
  const text = Object.keys(keys).length === 1 && typeof keys['text'] === 'string' ? keys['text'] : valueText(value);
  const variables = { ...(state[VARIABLES] as Record<string, Json>), ...keys, input: text };
  return { [inputOf(id)]: text, [variablesOf(id)]: variables };
}

/** Returns the step that a branch chooses. Null if it chooses none. */
export function chosen({ predicate = {}, then: target, else: other }: CompositionStep, scope: Scope): string | null {
  return (holds(predicate, scope) ? target : other) ?? null;
}

/** Combines the outputs of parallel steps under the name of the result. All failures are reported together. */
export function reduced(step: CompositionStep, state: StateOf, arrivals: TaskStep['arrivals']): Json {
  const failed = arrivals.filter(({ kind, error }) => kind === 'failed' && error !== undefined);
  if (failed.length > 0) {
    const all = failed.map(({ from, error }) => `${from}: ${error?.message ?? ''}`).join('; ');
    throw new SkeinError('SKEIN_STEP_FAILED', all, { details: { steps: failed.map(({ from }) => from) } });
  }
  const { branches = [], reduce: { strategy, into } = { strategy: 'barrier', into: step.id } } = step;
  const outputs = branches.map(({ id }): [string, Json] => [id, (state[outputOf(id)] ?? null) as Json]);
  const values = outputs.map(([, value]) => value);
  const merged = { append: values, replace: values.at(-1) ?? null, barrier: Object.fromEntries(outputs) };
  return { [into]: strategy === 'append' || strategy === 'replace' ? merged[strategy] : merged.barrier };
}

/**
 * Returns the output of a composition: that of `output`, or of the last step that has one.
 *
 * @throws SkeinError `SKEIN_BAD_OUTPUT` if there is none, `SKEIN_OUTPUT_INVALID` if it does not match its schema
 */
export function wholeOutput({ output, steps }: Composition, schema: Json | undefined, state: StateOf): unknown {
  const giving = steps.filter(({ kind }) => kind !== 'branch').map(({ id }) => id);
  const id = output ?? giving.findLast((one) => state[outputOf(one)] !== undefined);
  const value = id === undefined ? undefined : state[outputOf(id)];
  if (value === undefined) {
    const what = output === undefined ? 'no step gave an output' : `the output step "${output}" was skipped`;
    throw new SkeinError('SKEIN_BAD_OUTPUT', what, { hint: 'name a step that always runs as output' });
  }
  const findings = schema === undefined ? [] : schemaFindings(schema, value);
  if (findings.length === 0) return value;
  throw new SkeinError('SKEIN_OUTPUT_INVALID', `the output does not match its schema: ${findings.join('; ')}`);
}

type Condition = (state: StateOf) => boolean;

/**
 * Returns the condition under which a step runs, of those that its definition leaves open: statement 46 skips a step if all it depends on were
 * skipped, if a branch chose another target, or if no branch naming it ran. Undefined if it always runs. What a condition reads
 * influences the step, so it reads nothing that can't decide.
 */
export function conditionOf({ step, parallel }: FlatStep, steps: readonly CompositionStep[]): Condition | undefined {
  const rules = [step, ...(parallel === undefined ? [] : [parallel])].flatMap((one) => rulesOf(one, steps));
  return rules.length === 0 ? undefined : (state) => rules.every((rule) => rule(state));
}

function rulesOf({ id, depends_on = [] }: CompositionStep, steps: readonly CompositionStep[]): readonly Condition[] {
  const branches = branchesTo(id, steps);
  const isChosen: Condition = (state) => {
    const open = branches.filter((one) => hasRun(one, state));
    return open.length > 0 && open.every((one) => state[outputOf(one)] === id);
  };
  const hasAny: Condition = (state) => depends_on.some((one) => hasRun(one, state));
  const waitsForMissing = depends_on.length > 0 && depends_on.every((one) => mayBeMissing(one, steps));
  return [...(branches.length === 0 ? [] : [isChosen]), ...(waitsForMissing ? [hasAny] : [])];
}

function hasRun(id: string, state: StateOf): boolean {
  return state[outputOf(id)] !== undefined;
}

/** Whether a run can come past a step without an output of it: it was skipped, or failed inside a parallel step. */
function mayBeMissing(id: string, steps: readonly CompositionStep[]): boolean {
  const found = flattened(steps).find(({ step }) => step.id === id);
  if (found === undefined || found.parallel !== undefined || branchesTo(id, steps).length > 0) return true;
  const { depends_on = [] } = found.step;
  return depends_on.length > 0 && depends_on.every((one) => mayBeMissing(one, steps));
}
