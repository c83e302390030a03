import { canonicalHash } from '../../base/hash.js';
import { within, type TreeAgent, type TreeStep, type TreeWorkflow } from './definition.js';

export interface NameOwner {
  readonly kind: 'parameter' | TreeStep['kind'];
  readonly name: string;
  /** The step itself, to recognize one that is used twice. Undefined for other names. */
  readonly step?: TreeStep;
}

/** An initial value of a step that runs on its own. */
export interface GivenValue {
  readonly name: string;
  /** True for a prior goal, false for one of its fields. */
  readonly isGoal: boolean;
}

/** A step of a sequence, in run order, and what it can refer to. */
export interface PlacedStep {
  readonly step: TreeStep;
  /** The place in the tree: `sequences[0].steps[1]`. */
  readonly path: string;
  readonly sequence: number;
  /** Channels by the names known before the step runs. The map grows with the walk. */
  readonly visible: ReadonlyMap<string, string>;
}

const INPUTS = 'inputs.';

export function inputChannel(name: string): string {
  return INPUTS + name;
}

export function isVisible(channel: string, visible: ReadonlyMap<string, string>): boolean {
  if (visible.get(channel) === channel) return true;
  return channel.startsWith(INPUTS) && visible.get(channel.slice(INPUTS.length)) === channel;
}

/** Yields the steps of all sequences, in order. Later steps see each one's outputs, and of its inner agents' fields those in `single`. */
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

/** Whether two steps are the same, wherever they are used. */
export function isSameStep(one: TreeStep, other: TreeStep): boolean {
  return one === other || stepDigest(one) === stepDigest(other);
}

function stepDigest(step: TreeStep): string {
  // Numbers that JSON lacks are reported elsewhere.
  return canonicalHash(JSON.parse(JSON.stringify(unplaced(step))));
}

function unplaced(step: TreeStep): object {
  const { at: _at, ...rest } = step;
  return 'using' in rest ? { ...rest, using: rest.using.map(unplaced) } : rest;
}

/** Returns the fields of steps inside a step, at any depth. A field declared twice appears twice. */
export function fieldsInside(step: TreeStep): readonly string[] {
  if (step.kind === 'agent') return [];
  return step.using.flatMap((child) => [...child.outputs, ...fieldsInside(child)]);
}

/** Returns the fields of agents in fan-outs that are values of their own: declared once, and not used as another name. */
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

/** Returns the texts of a step that may refer to names, with their names in messages, without those of inner steps. */
export function textsOf(step: TreeStep): readonly { readonly text: string; readonly owner: string }[] {
  if (step.kind !== 'agent') return [{ text: step.description, owner: `${step.kind} ${step.name}` }];
  return agentTexts(step);
}

function agentTexts({ name, prompt, task }: TreeAgent): ReturnType<typeof textsOf> {
  const asked = task === undefined ? [] : [{ text: task, owner: `agent ${name} task` }];
  return [{ text: prompt, owner: `agent ${name} prompt` }, ...asked];
}

/** Yields a step and those inside it, with their places. */
export function* stepsWithin(
  step: TreeStep,
  path: string,
): Generator<{ readonly step: TreeStep; readonly path: string }> {
  yield { step, path };
  if (step.kind === 'agent') return;
  for (const [at, child] of step.using.entries()) yield* stepsWithin(child, within(path, `using[${at}]`));
}

/** Names that can be an id unchanged. */
const PLAIN = /^[A-Za-z0-9_-]*$/;
/** One code unit that an id must not contain. */
const OTHER = /[^A-Za-z0-9_-]/g;
const LONGEST = 180;

export class NodeIds {
  private readonly taken = new Set<string>();

  /** Returns an unused id for a name. Other characters are replaced by their codes, and a repeated name gets a number. */
  next(name: string): string {
    const plain = PLAIN.test(name) ? name : name.replaceAll(OTHER, (one) => `_${one.charCodeAt(0).toString(16)}.`);
    const base = plain === 'END' ? 'END_' : plain.slice(0, LONGEST);
    let id = base;
    for (let count = 2; this.taken.has(id); count += 1) id = `${base}.${count}`;
    this.taken.add(id);
    return id;
  }
}
