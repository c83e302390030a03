import { compileExpression } from '../../lang/expression.js';
import { unknownMember, WHOLE } from '../../lang/expression-shape.js';
import { quoteShort } from '../../lang/value-text.js';
import type { CelVar, Computed, Condition, ValueRef } from '../../lang/values.js';
import { RUN_ERROR, RUN_OUTCOME } from '../../plan/endings.js';
import { parseJson, type Json } from '../../base/json.js';
import type { Position } from '../../base/problem.js';
import type { Findings } from '../../text/findings.js';
import { toJson, type SourceNode, type SourceScalar } from '../../text/nodes.js';
import { inputChannel } from '../inputs-key.js';
import { withoutBraces } from '../named-values.js';
import { ENDING_WORDS, readEnding } from '../step-ending.js';
import {
  countChannel,
  endingChannel,
  itemChannel,
  stepChannel,
  type ConditionDef,
  type StepDef,
} from './definition.js';
import type { References } from './references.js';

/**
 * Builds the conditions of a step, all of which must hold. Expressions (`cel`) see `output`, the output of the condition's step, and
 * `steps.ID.output` and `inputs.NAME`.
 *
 * Problem codes: `condition-step`, `bad-json`, `bad-expression` and those of references.
 */
export function buildConditions(step: StepDef, references: References, findings: Findings): readonly Condition[] {
  const def = step.condition;
  if (def === undefined) return [];
  const value = conditionValue(def, step, references, findings);
  const conditions: Condition[] = [];
  if (value !== undefined) {
    for (const { op, operand } of def.texts)
      conditions.push({ op, value, operand: references.template(operand, step) });
    const operand = def.matchesJson === undefined ? undefined : jsonOperand(def.matchesJson, findings);
    if (operand !== undefined) conditions.push({ op: 'matches_json', value, operand });
  }
  if (def.cel !== undefined) {
    const cel = celCondition(def.cel, { step, value, references, owner: `the condition of ${step.label}` }, findings);
    if (cel !== undefined) conditions.push(cel);
  }
  return conditions;
}

/** Builds the end condition of a loop, in the scope after its steps. Problem codes: `bad-expression` and those of references. */
export function buildUntil(loop: StepDef, references: References, findings: Findings): readonly Condition[] {
  if (loop.loop === undefined) return [];
  const { until, line, steps } = loop.loop;
  const step = references.graph.endOf(loop);
  if (line !== undefined) {
    const last = steps.at(-1)?.id ?? '';
    references.canRead(last, step, loop.at, 'condition');
    return [{ op: 'line', value: { channel: stepChannel(last) }, line }];
  }
  if (until === undefined) return [];
  const value = REFERENCE.test(until.text.trim()) ? references.value(until, step) : undefined;
  if (value !== undefined) return [{ op: 'truthy', value, text: until.text }];
  const cel = celCondition(until, { step, value, references, owner: `until of ${loop.label}` }, findings);
  return cel === undefined ? [] : [cel];
}

const REFERENCE = /^[\w.-]+$/;

function conditionValue(
  def: ConditionDef,
  step: StepDef,
  references: References,
  findings: Findings,
): ValueRef | undefined {
  if (def.step === undefined) {
    const needed = def.texts.length > 0 || def.matchesJson !== undefined || def.cel === undefined;
    if (needed)
      findings.error('condition-step', `the condition of ${step.label} names no step`, def.at, 'add "step: ID"');
    return undefined;
  }
  references.canRead(def.step.text, step, def.step.at, 'condition');
  return { channel: stepChannel(def.step.text) };
}

function jsonOperand(node: SourceNode, findings: Findings): Json | undefined {
  if (node.kind !== 'scalar' || typeof node.value !== 'string' || !/^\s*[[{]/.test(node.text)) return toJson(node);
  try {
    return parseJson(node.text) as Json;
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it does not parse';
    findings.error('bad-json', `matches_json is not JSON: ${why}`, node.at, 'write it as YAML: {approved: true}');
    return undefined;
  }
}

interface Scope {
  readonly owner: string;
  readonly step: StepDef;
  readonly value: ValueRef | undefined;
  readonly references: References;
}

interface Reading extends Scope {
  readonly reads: readonly (readonly string[])[];
}

/** Compiles an expression in a text of a step. Problem codes: `bad-expression`, `unknown-member` and those of references. */
export function computedIn(
  text: string,
  { step, owner, at }: { readonly step: StepDef; readonly owner: string; readonly at: Position },
  references: References,
  findings: Findings,
): Computed | undefined {
  return celOf({ text, at }, { step, owner: `${owner}: ${quoteShort(text)}`, value: undefined, references }, findings);
}

function celCondition(node: SourceScalar, scope: Scope, findings: Findings): Condition | undefined {
  const computed = celOf(node, scope, findings);
  return computed && { op: 'cel', ...computed };
}

type Written = Pick<SourceScalar, 'text' | 'at'>;

function celOf(node: Written, scope: Scope, findings: Findings): Computed | undefined {
  const items = itemVars(scope);
  const run = runVars(scope);
  const more = [...Object.keys(items), ...Object.keys(run)];
  const names = ['steps', 'inputs', ...(scope.value === undefined ? [] : ['output']), ...more];
  const { problems, expression } = compileExpression(node.text, names);
  const bare = withoutBraces(node.text);
  const advice = bare && `an expression stands here without braces: ${bare}`;
  for (const { message, hint } of problems)
    findings.error('bad-expression', `${scope.owner}: ${message}`, node.at, advice ?? hint);
  if (expression === undefined) return undefined;
  const steps = new Map<string, CelVar>();
  const inputs = new Map<string, CelVar>();
  for (const [variable, name] of expression.reads) {
    if (variable === 'steps') addSteps(steps, name, node, { ...scope, reads: expression.reads });
    if (variable === 'inputs') addInputs(inputs, name, node, scope);
  }
  const vars: Record<string, CelVar> = {
    steps: { fields: Object.fromEntries(steps) },
    inputs: { fields: Object.fromEntries(inputs) },
    ...(scope.value === undefined ? {} : { output: scope.value }),
    ...run,
    ...Object.fromEntries(Object.entries(items).filter(([name]) => expression.reads.some(([read]) => read === name))),
  };
  const unknown = unknownMember(expression.reads, vars);
  if (unknown !== undefined) {
    const message = `${scope.owner} reads ${unknown.read}, which can't be there`;
    const { known } = unknown;
    const all = known.length === 0 ? 'leave it out: nothing of that kind exists' : `write one of: ${known.join(', ')}`;
    const hint = findings.near(unknown.name, known) ?? all;
    findings.error('unknown-member', message, node.at, hint);
  }
  for (const read of expression.reads) checkRead(read, scope, node);
  return { expression: node.text, vars };
}

/** Returns the run's ending as variables, for a step that runs after all others. */
function runVars({ references, step }: Scope): Readonly<Record<string, CelVar>> {
  if (!references.graph.isAtEnd(step)) return {};
  return { run: { fields: { outcome: { channel: RUN_OUTCOME }, error: { channel: RUN_ERROR } } } };
}

/** Checks what is read of an output: `steps.ID.output.PATH`, in loops `steps.LOOP.outputs.ID.output.PATH`, and `output.PATH`. */
function checkRead(read: readonly string[], { references, step, owner }: Scope, { at }: Written): void {
  const output = read.indexOf('output');
  const id = output === 0 ? step.condition?.step?.text : read[0] === 'steps' ? read[output - 1] : undefined;
  const path = read.slice(output + 1).filter((name) => name !== WHOLE);
  if (id !== undefined) references.canHave(id, path, owner, at);
}

/** Adds the steps an expression reads. Without a name (`size(steps)`, `steps[x]`), all upstream steps are added. */
function addSteps(steps: Map<string, CelVar>, name: string | undefined, node: Written, scope: Reading): void {
  const { references, step } = scope;
  const ids = isName(name) ? [name] : references.graph.upstreamOf(step);
  if (!references.spend(ids.length, node.at)) return;
  const read = scope.reads.flatMap(([, id, what = 'output']) => (id === name ? [what] : []));
  if (isName(name)) {
    if (read.some(isOutput)) references.canRead(name, step, node.at, 'condition');
    else if (read.includes('outputs')) references.canTell(name, step, node.at, 'condition');
  }
  for (const id of ids) steps.set(id, outputsOf([id], node, scope));
}

/** Whether a word after the name of a step reads its output. */
function isOutput(word: string): boolean {
  return word !== 'outputs' && !ENDING_WORDS.includes(word);
}

/** Returns what is readable of a step: its output, its ending, the steps of a loop, the top-level outputs of a called file. */
function outputsOf(ids: readonly string[], node: Written, scope: Reading): CelVar {
  const { references } = scope;
  const id = ids.at(-1) ?? '';
  const called = references.called.get(id);
  const isAlone = ids.length === 1 && references.graph.step(id)?.loop === undefined;
  // `canRead` has reported an output that a step named alone does not have.
  const isReported = isAlone && scope.reads.some(([, of, what = 'output']) => of === id && isOutput(what));
  const gives = called === undefined ? references.graph.hasOutput(id) || isReported : called.result !== undefined;
  const output = gives ? { output: { channel: stepChannel(...ids) } } : {};
  const steps = references.graph.stepsIn(id).map((inner) => [inner, outputsOf([...ids, inner], node, scope)] as const);
  const outputs = (called?.outputs ?? []).flatMap(({ names: [name, ...deeper] }) => {
    // A file that defines its result has no other outputs.
    if (name === undefined || deeper.length > 0) return [];
    const own: CelVar = { fields: { output: { channel: stepChannel(...ids, name) } } };
    return [[name, own] as const];
  });
  const inside: readonly (readonly [string, CelVar])[] = [...steps, ...outputs];
  return {
    fields: {
      ...output,
      ...endingsOf(ids, node, scope),
      ...(inside.length === 0 ? {} : { outputs: { fields: Object.fromEntries(inside) } }),
    },
  };
}

/** Returns what an expression reads of how a step ended. */
function endingsOf(
  ids: readonly string[],
  node: Written,
  { reads, references, step }: Reading,
): Record<string, CelVar> {
  const way = ['steps', ...ids.flatMap((id, at) => (at === 0 ? [id] : ['outputs', id]))];
  const id = ids.at(-1) ?? '';
  const isMap = references.graph.step(id)?.map !== undefined;
  const words = reads.flatMap((read) => (way.every((part, at) => part === read[at]) ? [read[way.length] ?? ''] : []));
  const found: Record<string, CelVar> = {};
  for (const word of new Set(words)) {
    const value = readEnding([word], { channel: endingChannel(...ids), isMap, gives: [] });
    if (value === undefined || 'unknown' in value) continue;
    references.canTell(ids[0] ?? '', step, node.at, 'condition');
    references.told.add(id);
    found[word] = value.ref;
  }
  return found;
}

/** Returns the items of the maps around a step, with the index and the key of the innermost one. */
function itemVars({ references, step }: Scope): Readonly<Record<string, CelVar>> {
  const maps = references.graph.mapsAround(step);
  const [inner] = maps;
  const counts =
    inner === undefined
      ? []
      : (['index', 'key'] as const).map((word) => [word, { channel: countChannel(inner.id, word) }] as const);
  const items = maps.toReversed().map(({ id, map }) => [map?.as ?? '', { channel: itemChannel(id) }] as const);
  return Object.fromEntries([...counts, ...items]);
}

function addInputs(inputs: Map<string, CelVar>, name: string | undefined, node: Written, scope: Scope): void {
  const { references, step } = scope;
  const names = isName(name) ? [name] : [...references.inputs];
  if (!references.spend(names.length, node.at)) return;
  for (const input of names) {
    references.canUseInput(input, step.label, node.at);
    inputs.set(input, { channel: inputChannel(input) });
  }
}

/** Whether this is a name. `*` means that the whole map is used. */
function isName(name: string | undefined): name is string {
  return name !== undefined && name !== '*';
}
