import { canonicalHash } from '../../base/hash.js';
import type { TreeAgent, TreeStep, TreeWorkflow } from './definition.js';
import { within } from './definition.js';

/** Who has a name in the state of a tree. */
export interface NameOwner {
  readonly kind: 'parameter' | TreeStep['kind'];
  readonly name: string;
  /** The step itself, for one that stands twice; absent for other names. */
  readonly step?: TreeStep;
}

/** Values that a step finds when it is run by itself. */
export interface GivenValue {
  readonly name: string;
  /** A prior goal; else a field of one. */
  readonly isGoal: boolean;
}

/** A step of a sequence, in the order of the run, and what it can refer to. */
export interface PlacedStep {
  readonly step: TreeStep;
  /** Where it stands in the tree: `sequences[0].steps[1]`. */
  readonly path: string;
  readonly sequence: number;
  /** Channels by the names that are known before it runs. It grows with the walk. */
  readonly visible: ReadonlyMap<string, string>;
}

const INPUTS = 'inputs.';

/** The channel of a parameter. */
export function inputChannel(name: string): string {
  return INPUTS + name;
}

/** Whether a channel is among those that names stand for. */
export function isVisible(channel: string, visible: ReadonlyMap<string, string>): boolean {
  if (visible.get(channel) === channel) return true;
  return channel.startsWith(INPUTS) && visible.get(channel.slice(INPUTS.length)) === channel;
}

/** The steps of all sequences, in order. What each one leaves is visible to those behind it; of the fields of agents inside, those in `single`. */
export function* placedSteps(
  tree: TreeWorkflow,
  single: ReadonlySet<string>,
  given: readonly GivenValue[],
): Generator<PlacedStep> {
  const visible = new Map<string, string>(tree.inputs.map(({ name }) => [name, inputChannel(name)]));
  for (const { name } of given) visible.set(name, name);
  for (const [at, sequence] of tree.sequences.entries()) {
    for (const [place, step] of sequence.steps.entries()) {
      yield { step, path: `sequences[${at}].steps[${place}]`, sequence: at, visible };
      for (const field of step.outputs) visible.set(field, field);
      visible.set(step.name, step.name);
      for (const field of fieldsInside(step)) if (single.has(field)) visible.set(field, field);
    }
  }
}

/** Whether two steps are the same one, wherever they stand. */
export function isSameStep(one: TreeStep, other: TreeStep): boolean {
  return one === other || stepDigest(one) === stepDigest(other);
}

function stepDigest(step: TreeStep): string {
  // Numbers that JSON does not have are wrong, and told elsewhere.
  return canonicalHash(JSON.parse(JSON.stringify(unplaced(step))));
}

function unplaced(step: TreeStep): object {
  const { at: _at, ...rest } = step;
  return 'using' in rest ? { ...rest, using: rest.using.map(unplaced) } : rest;
}

/** Fields of those inside of a step, at any depth; a field that two declare stands there twice. */
export function fieldsInside(step: TreeStep): readonly string[] {
  if (step.kind === 'agent') return [];
  return step.using.flatMap((child) => [...child.outputs, ...fieldsInside(child)]);
}

/** Fields of agents in fan-outs that are values of their own: declared once, and nobody else's name. */
export function singleFields(tree: TreeWorkflow): ReadonlySet<string> {
  const others = new Set(tree.inputs.map(({ name }) => name));
  const counts = new Map<string, number>();
  const seen = new Set<string>();
  for (const step of tree.sequences.flatMap(({ steps }) => steps)) {
    others.add(step.name);
    for (const field of step.outputs) others.add(field);
    if (seen.has(step.name)) continue;
    seen.add(step.name);
    for (const field of fieldsInside(step)) counts.set(field, (counts.get(field) ?? 0) + 1);
  }
  return new Set([...counts].flatMap(([field, count]) => (count === 1 && !others.has(field) ? [field] : [])));
}

/** The texts of a step that may refer to names, with what messages call them. Those of the steps inside of it have their own. */
export function textsOf(step: TreeStep): readonly { readonly text: string; readonly owner: string }[] {
  if (step.kind !== 'agent') return [{ text: step.description, owner: `${step.kind} ${step.name}` }];
  return agentTexts(step);
}

function agentTexts({ name, prompt, task }: TreeAgent): ReturnType<typeof textsOf> {
  const asked = task === undefined ? [] : [{ text: task, owner: `agent ${name} task` }];
  return [{ text: prompt, owner: `agent ${name} prompt` }, ...asked];
}

/** A step and those inside of it, with their places. */
export function* stepsWithin(
  step: TreeStep,
  path: string,
): Generator<{ readonly step: TreeStep; readonly path: string }> {
  yield { step, path };
  if (step.kind === 'agent') return;
  for (const [at, child] of step.using.entries()) yield* stepsWithin(child, within(path, `using[${at}]`));
}

/** What an id may hold as it is. */
const PLAIN = /^[A-Za-z0-9_-]*$/;
/** One code unit that it may not hold. */
const OTHER = /[^A-Za-z0-9_-]/g;
const LONGEST = 180;

/** Ids of the nodes of a plan, made of names. */
export class NodeIds {
  private readonly taken = new Set<string>();

  /** The id for a name: other characters by their code, and a number where the name stands again. */
  next(name: string): string {
    const plain = PLAIN.test(name) ? name : name.replaceAll(OTHER, (one) => `_${one.charCodeAt(0).toString(16)}.`);
    const base = plain === 'END' ? 'END_' : plain.slice(0, LONGEST);
    let id = base;
    for (let count = 2; this.taken.has(id); count += 1) id = `${base}.${count}`;
    this.taken.add(id);
    return id;
  }
}
