import { SkeinError } from '../../../base/errors.js';
import { canonicalHash } from '../../../base/hash.js';
import { isPlainObject, present } from '../../../base/json.js';
import type { Json } from '../../../base/json.js';
import { schemaFindings } from '../../../lang/schema-check.js';
import { valueText } from '../../../lang/value-text.js';
import type { AgentSpec } from '../../../plan/agent-spec.js';
import { definePlan } from '../../../plan/builder.js';
import type { Definition, NodeInput, StateOf, TaskStep } from '../../../plan/builder-input.js';
import type { Composition, CompositionStep } from '../pack.js';
import { holds } from './predicates.js';
import { INPUT, filledIn } from './references.js';
import type { Scope } from './references.js';
import { branchesTo, flattened, orderOf, waitsOf } from './step-order.js';
import type { FlatStep } from './step-order.js';

/** What a composition takes from around it. */
export interface CompositionParts {
  /** The agent of a prompt whose variables stand in a channel, with those tools of the prompt that `only` names. */
  agent(prompt: string, variables: string, only: readonly string[]): Omit<AgentSpec, 'name'>;
  /** What carries a tool out. */
  call(tool: string, input: Json, step: TaskStep): unknown;
  /** Whether a call of the tool changes something, so that its place in the order counts. */
  hasEffect(tool: string): boolean;
  /** The JSON Schema that a path names. */
  schema(path: string): Json;
}

/** Channels of a composition's plan, beside its input: variables of prompts, its output; of a step, its output, its input, its variables. */
export const VARIABLES = 'variables';
export const OUTPUT = 'output';
const outputOf = (id: string): string => `steps.${id}`;
const inputOf = (id: string): string => `inputs.${id}`;
const variablesOf = (id: string): string => `variables.${id}`;

/**
 * A composition as a plan (statements 44 to 46, A11): steps wait for what they name, and run at the same time otherwise; those with effects keep their order.
 * Its inputs are `input` and, with the values of the pack's variables, `variables`; its output is `output`.
 */
export function compositionPlan(name: string, composition: Composition, parts: CompositionParts): Definition {
  const builder = new CompositionBuilder(composition, parts);
  return definePlan({
    name,
    ...present({ description: composition.description }),
    inputs: [INPUT, { name: VARIABLES, default: {} }],
    nodes: builder.nodes(),
    edges: builder.edges(),
    output: [OUTPUT],
  });
}

class CompositionBuilder {
  private readonly flat: readonly FlatStep[];
  private readonly last = `${OUTPUT}.whole`;

  constructor(
    private readonly composition: Composition,
    private readonly parts: CompositionParts,
  ) {
    this.flat = flattened(composition.steps);
  }

  nodes(): readonly NodeInput<StateOf>[] {
    return [...this.flat.flatMap((one) => this.nodesOf(one)), this.whole()];
  }

  edges(): readonly (readonly string[])[] {
    const waits = waitsOf(this.composition.steps);
    const effects = orderOf(waits).filter((id) => this.changes(id));
    const inOrder = effects.slice(1).map((id, at) => [effects[at] ?? id, this.firstOf(id)]);
    const explicit = this.flat.flatMap(({ step: { id } }) =>
      [...(waits.get(id) ?? [])].map((before) => [before, this.firstOf(id)]),
    );
    const agents = this.flat.filter(({ step }) => isAgent(step)).map(({ step: { id } }) => [inputOf(id), id]);
    const known = new Set(explicit.map(([from, to]) => `${from} ${to}`));
    return [
      ...explicit,
      ...inOrder.filter(([from, to]) => !known.has(`${from} ${to}`)),
      ...agents,
      ...this.flat.map(({ step: { id } }) => [id, this.last]),
    ];
  }

  private changes(id: string): boolean {
    const step = this.flat.find((one) => one.step.id === id)?.step;
    const tools = step?.tool === undefined ? (step?.tools ?? []) : [step.tool];
    return tools.some((tool) => this.parts.hasEffect(tool));
  }

  /** The node that waits for what a step waits for. */
  private firstOf(id: string): string {
    const isPrepared = this.flat.some(({ step }) => step.id === id && isAgent(step));
    return isPrepared ? inputOf(id) : id;
  }

  private nodesOf(one: FlatStep): readonly NodeInput<StateOf>[] {
    const { step, parallel } = one;
    const when = this.condition(one);
    const around = { join: 'settled' as const, ...(when === undefined ? {} : { when }) };
    const failing = parallel === undefined ? {} : { onError: 'continue' as const };
    const { id, description } = step;
    // The functions of all steps look the same: what they do is in the step.
    const code = { ...present({ label: description }), version: canonicalHash(step) };
    if (step.kind === 'branch')
      return [{ id, ...around, ...code, output: outputOf(id), run: (state) => chosen(step, scopeOf(state)) }];
    if (step.kind === 'parallel')
      return [
        { id, ...around, ...code, output: outputOf(id), run: (state, { arrivals }) => reduced(step, state, arrivals) },
      ];
    const retry = retryOf(step);
    if (step.kind === 'tool') {
      const { tool = '', args = {} } = step;
      const run = (state: StateOf, task: TaskStep): unknown =>
        this.parts.call(tool, filledIn(args, scopeOf(state)), task);
      const result = async (state: StateOf, task: TaskStep): Promise<unknown> => (await run(state, task)) ?? null;
      return [{ id, ...around, ...failing, ...retry, ...code, output: outputOf(id), run: result }];
    }
    const prepare = (state: StateOf): Record<string, Json> => prepared(step, state);
    return [
      {
        id: inputOf(id),
        ...around,
        ...failing,
        writes: [inputOf(id), variablesOf(id)],
        version: canonicalHash(step),
        run: prepare,
      },
      {
        id,
        kind: 'agent',
        ...failing,
        ...retry,
        ...present({ label: description }),
        output: outputOf(id),
        ...this.agentOf(step),
      },
    ];
  }

  private agentOf(step: CompositionStep): {
    readonly agent: Omit<AgentSpec, 'name'>;
    readonly prompt: [{ channel: string }];
  } {
    const { id, prompt_task = '', tools = [], output_schema, kind, termination } = step;
    const agent = this.parts.agent(prompt_task, variablesOf(id), kind === 'agent' ? tools : []);
    const output = output_schema === undefined ? undefined : { name: id, schema: this.parts.schema(output_schema) };
    const maxTurns = termination?.max_steps;
    return {
      agent: { ...agent, allowEmpty: true, ...present({ output, maxTurns }) },
      prompt: [{ channel: inputOf(id) }],
    };
  }

  /** Statement 46: a step is skipped when all that it depends on was, or when a branch goes another way; also when no branch that names it was taken up. */
  private condition({ step, parallel }: FlatStep): ((state: StateOf) => boolean) | undefined {
    const { steps } = this.composition;
    const rules = [step, ...(parallel === undefined ? [] : [parallel])].map(({ id, depends_on = [] }) => {
      const branches = branchesTo(id, steps);
      return (state: StateOf): boolean => {
        const has = (one: string): boolean => state[outputOf(one)] !== undefined;
        const open = branches.filter(has);
        const isChosen = branches.length === 0 || open.length > 0;
        return (
          isChosen &&
          open.every((one) => state[outputOf(one)] === id) &&
          (depends_on.length === 0 || depends_on.some(has))
        );
      };
    });
    const isFree = [step, parallel].every(
      (one) => one === undefined || ((one.depends_on ?? []).length === 0 && branchesTo(one.id, steps).length === 0),
    );
    return isFree ? undefined : (state) => rules.every((rule) => rule(state));
  }

  /** The output of the composition: that of `output`, or of the last step that gave one. */
  private whole(): NodeInput<StateOf> {
    const { output, output_schema, steps } = this.composition;
    const schema = output_schema === undefined ? undefined : this.parts.schema(output_schema);
    const giving = steps.filter(({ kind }) => kind !== 'branch').map(({ id }) => id);
    const run = (state: StateOf): unknown => {
      const id = output ?? giving.findLast((one) => state[outputOf(one)] !== undefined);
      const value = id === undefined ? undefined : state[outputOf(id)];
      if (value === undefined) {
        const what = output === undefined ? 'no step gave an output' : `the output step "${output}" was skipped`;
        throw new SkeinError('SKEIN_BAD_OUTPUT', what, { hint: 'name a step that always runs as output' });
      }
      const findings = schema === undefined ? [] : schemaFindings(schema, value);
      if (findings.length === 0) return value;
      throw new SkeinError('SKEIN_OUTPUT_INVALID', `the output does not match its schema: ${findings.join('; ')}`);
    };
    return {
      id: this.last,
      join: 'settled',
      output: OUTPUT,
      version: canonicalHash([giving, output ?? '', schema ?? null]),
      run,
    };
  }
}

function isAgent({ kind }: CompositionStep): boolean {
  return kind === 'prompt' || kind === 'agent';
}

function scopeOf(state: StateOf): Scope {
  return (name) => {
    const output = state[outputOf(name)];
    if (output !== undefined) return { output };
    return name === INPUT ? state[INPUT] : undefined;
  };
}

/** What a prompt is asked, and the values of its variables: those of the pack, `input`, and the keys of an object. Without an input it is that of the composition. */
function prepared({ id, input }: CompositionStep, state: StateOf): Record<string, Json> {
  const value = filledIn(input ?? `\${${INPUT}}`, scopeOf(state));
  const keys = isPlainObject(value) ? value : {};
  // An object with a text alone is what a message becomes.
  const text = Object.keys(keys).length === 1 && typeof keys['text'] === 'string' ? keys['text'] : valueText(value);
  const variables = { ...(state[VARIABLES] as Record<string, Json>), ...keys, input: text };
  return { [inputOf(id)]: text, [variablesOf(id)]: variables };
}

/** The step that a branch leads to; null where it leads nowhere. */
function chosen({ predicate = {}, then: target, else: other }: CompositionStep, scope: Scope): string | null {
  return (holds(predicate, scope) ? target : other) ?? null;
}

/** Outputs of steps that ran at the same time, under the name of the result. All failures are told together. */
function reduced(step: CompositionStep, state: StateOf, arrivals: TaskStep['arrivals']): Json {
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

function retryOf({ modifiers }: CompositionStep): Pick<NodeInput<StateOf>, 'retry'> {
  const attempts = modifiers?.retry?.max_attempts ?? 1;
  return attempts > 1 ? { retry: { retries: attempts - 1, on: 'any' } } : {};
}
