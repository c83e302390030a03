import { quoteShort } from '../../lang/value-text.js';
import { countText } from '../../base/text.js';
import type { ValueRef } from '../../lang/values.js';
import { calledResult } from '../results.js';
import { readEnding } from '../step-ending.js';
import { addressesIn, endingChannel, pathOf, resultOf, type Block, type Output, type Placed } from './blocks.js';
import type { CallStep, StepDef } from './definition.js';
import type { Segment } from './expressions.js';
import { listed } from './flow.js';
import type { Fault, Names } from './order.js';

/** A step reached by a reference, and the rest of the reference. */
interface Walk {
  readonly placed: Placed;
  readonly segments: readonly Segment[];
  readonly used: number;
  readonly names: readonly string[];
}

/** The target of a reference's names. */
export interface Leaf extends Omit<Walk, 'segments'> {
  readonly output?: Output;
  readonly channel?: string;
  readonly text?: string;
  readonly endsAt?: number | undefined;
  readonly ending?: ValueRef;
}

export function isWrong(leaf: Leaf | Fault): leaf is Fault {
  return 'code' in leaf;
}

/** Follows the names of a reference from a step. `flat`: the word `outputs` may be left out. */
export function walkIn(walk: Walk, flat: boolean, names: Names): Leaf | Fault {
  const { placed, segments, used } = walk;
  const { step } = placed;
  const ending = endingOf(walk, flat);
  if (ending !== undefined) return ending;
  if (givesNothing(step)) return missingOutput(`${step.label}, which has no output`, 'refer to a step with an output');
  if (step.type === 'loop') return walkLoop(walk, names);
  if (step.type === 'call') return walkCall(walk, step, names);
  if (step.type !== 'parallel' && step.type !== 'sequence') return leafOf(walk, placed.outputs[0]);
  const word = segments[used];
  const isOrder = word?.text === 'order' && word.kind === 'name';
  return isOrder ? orderOf(walk, step.steps) : walkBlock(walk, flat, names);
}

function givesNothing(step: StepDef): boolean {
  return ENDLESS.has(step.type) || (step.type === 'wait' && step.wait.event === undefined);
}

function isBlock({ type }: StepDef): boolean {
  return type === 'parallel' || type === 'sequence';
}

function orderOf({ placed, used, names }: Walk, steps: readonly StepDef[]): Leaf {
  return { text: JSON.stringify(steps.map(({ id }) => id)), placed, used: used + 1, names: [...names, 'order'] };
}

/** Types of steps that only direct the flow. */
const ENDLESS: ReadonlySet<StepDef['type']> = new Set(['condition', 'goto', 'end']);

/** Resolves a step's ending: `status`, `error`, and for a map `errors`. Problem code: `unknown-member`. */
function endingOf({ placed, segments, used, names }: Walk, flat: boolean): Leaf | Fault | undefined {
  const { step, inner } = placed;
  const word = segments[used];
  if (word?.kind !== 'name' || ENDLESS.has(step.type) || (flat && inner?.byId.has(word.text) === true))
    return undefined;
  const words = segments.slice(used).map(({ text }) => text);
  const gives = givesNothing(step) ? [] : ([isBlock(step) ? 'outputs' : 'output'] as const);
  const found = readEnding(words, { channel: endingChannel(pathOf(placed)), isMap: step.type === 'map', gives });
  if (found === undefined) return undefined;
  if ('ref' in found) return { ending: found.ref, placed, used: used + found.used, names: [...names, word.text] };
  const message = `${found.unknown} of ${step.label}, which does not have it`;
  return { code: 'unknown-member', message, hint: found.hint };
}

function leafOf(walk: Walk, output: Output | undefined): Leaf | Fault {
  const { placed, segments, used } = walk;
  const { step } = placed;
  const word = segments[used];
  const name = segments.slice(0, used).map(segmentText).join('');
  if (word?.kind === 'name' && (word.text === 'output' || word.text.startsWith('output-'))) {
    const endsAt = word.text === 'output' ? undefined : word.end - word.text.length + 'output'.length;
    const common = { placed, used: used + 1, names: [...walk.names, 'output'], endsAt };
    return output === undefined ? common : { ...common, output };
  }
  if (step.type === 'map' && word?.text === 'outputs') {
    const hint = `it has one for each item: write $steps${name}.output[0], or $steps${name}.output for all`;
    return missingOutput(`a step of ${step.label}`, hint);
  }
  // `outputs` belongs to blocks, and is not part of the path.
  const rest = segments
    .slice(word?.kind === 'name' && word.text === 'outputs' ? used + 1 : used)
    .map(segmentText)
    .join('');
  return missingOutput(`${step.label} without ".output"`, `write $steps${name}.output${rest}`);
}

function missingOutput(message: string, hint: string): Fault {
  return { code: 'missing-output', message, hint };
}

export function segmentText(segment: Segment): string {
  if (segment.kind === 'name') return `.${segment.text}`;
  return segment.kind === 'index' ? `[${segment.text}]` : `["${segment.text}"]`;
}

function walkBlock(walk: Walk, flat: boolean, names: Names): Leaf | Fault {
  const { placed, segments, used } = walk;
  const { inner, step } = placed;
  if (inner === undefined) return missingOutput(step.label, '');
  const word = segments[used];
  const base = `$steps${segments.slice(0, used).map(segmentText).join('')}`;
  const isOutputs = word?.kind === 'name' && word.text === 'outputs';
  const child = isOutputs ? segments[used + 1] : flat && isChild(word, inner) ? word : undefined;
  if (child === undefined) {
    const [first] = addressesIn(inner);
    const hint =
      first === undefined ? 'none of its steps has an output' : `write ${base}.${first.names.join('.')}.output`;
    const what = isOutputs ? 'all outputs' : 'an output';
    return missingOutput(`${what} of ${step.label}, which has one for each of its steps`, hint);
  }
  const next = isOutputs ? used + 2 : used + 1;
  if (child.kind === 'index' && inner.roots[Number(child.text)] === undefined) {
    const message = `index ${child.text} of ${step.label}, which has ${countText(inner.roots.length, 'step')}`;
    return {
      code: 'out-of-range',
      message,
      hint: `indexes are 0 to ${inner.roots.length - 1}`,
    };
  }
  const id = child.kind === 'index' ? (inner.roots[Number(child.text)]?.id ?? '') : child.text;
  const found = inner.byId.get(id);
  if (found === undefined) {
    const hint = names.findings.near(id, inner.byId.keys()) ?? `its steps are: ${listed(inner.byId.keys())}`;
    return { code: 'unknown-step', message: `the step ${quoteShort(id)} of ${step.label}, which does not exist`, hint };
  }
  return walkIn({ placed: found, segments, used: next, names: [...walk.names, 'outputs', id] }, true, names);
}

/** Follows a reference into a loop. The loop's output is that of its last step; its other steps are reached as in other blocks. */
function walkLoop(walk: Walk, names: Names): Leaf | Fault {
  const { placed, segments, used } = walk;
  if (segments[used]?.text === 'outputs') return walkBlock(walk, false, names);
  const found = leafOf(walk, resultOf(placed));
  if (isWrong(found) || found.output !== undefined) return found;
  const [first] = placed.inner === undefined ? [] : addressesIn(placed.inner);
  const hint = `name one of its steps: $steps.${placed.step.id}.${(first?.names ?? []).join('.')}.output`;
  return missingOutput(`the output of ${placed.step.label}, whose last step does not have exactly one`, hint);
}

/** Whether a word may name a step of a block. A block has no `output` of its own. */
function isChild(word: Segment | undefined, inner: Block): boolean {
  return word?.text !== 'output' || inner.byId.has('output');
}

function walkCall(walk: Walk, step: CallStep, names: Names): Leaf | Fault {
  const { placed, segments, used } = walk;
  const plan = names.calls.get(step.call);
  // The unloadable file was reported before.
  if (plan === undefined) return { channel: '', placed, used: segments.length, names: walk.names };
  if (segments[used]?.text !== 'outputs') {
    const result = calledResult(plan);
    const output = placed.outputs.find((each) => each.inner === result);
    const found = leafOf(walk, output);
    if (isWrong(found) || output !== undefined) return found;
    const hint = `name one of its steps: $steps.${step.id}.outputs.ID.output`;
    return missingOutput(`the output of ${step.label}, whose file does not have exactly one result`, hint);
  }
  if (plan.values !== undefined) {
    const hint = `write $steps.${step.id}.output.NAME; it gives: ${listed(Object.keys(plan.values))}`;
    return missingOutput(`a step of ${step.label}, whose file says what it gives`, hint);
  }
  const prefix = `steps.${placed.block.path === '' ? '' : `${placed.block.path}/`}${step.id}`;
  let path = '';
  for (let at = used + 1; at < segments.length; at += 1) {
    const segment = segments[at];
    if (segment === undefined || (segment.text === 'outputs' && path !== '')) continue;
    const output = placed.outputs.find((each) => each.channel === `${prefix}${path}/${segment.text}.output`);
    path += `/${segment.text}`;
    if (output === undefined) continue;
    const ids = path
      .slice(1)
      .split('/')
      .flatMap((id) => ['outputs', id]);
    return leafOf({ ...walk, used: at + 1, names: [...walk.names, ...ids] }, output);
  }
  const ids = placed.outputs.map((each) => each.channel.slice(prefix.length + 1, -'.output'.length));
  const wanted = path.slice(1);
  const message = `the step ${quoteShort(wanted)} of ${step.label}, which does not exist`;
  return { code: 'unknown-step', message, hint: names.findings.near(wanted, ids) ?? `its steps are: ${listed(ids)}` };
}
