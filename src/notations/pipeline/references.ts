import type { Position } from '../../base/problem.js';
import { suggest } from '../../base/suggest.js';
import { quoteShort } from '../../lang/value-text.js';
import type { ValueRef } from '../../lang/values.js';
import type { Findings } from '../../text/findings.js';
import { addressesIn, around, endingChannel, findMap, itemsOf, pathOf, resultOf } from './blocks.js';
import type { Block, Output, Placed } from './blocks.js';
import { calledResult } from '../results.js';
import { readEnding } from '../step-ending.js';
import type { CallStep, StepDef } from './definition.js';
import type { Dotted, Segment } from './expressions.js';
import type { Fault, Names } from './order.js';
import { listed } from './flow.js';
import { checkPath } from './output-paths.js';
import { isAtEnd } from './last-steps.js';
import { RUN_ERROR, RUN_OUTCOME } from '../../plan/endings.js';
import { canBeMissing, canPrecede, checkOrder } from './order.js';
import { isComposite } from '../../plan/input-types.js';
import { inputChannel } from '../inputs-key.js';

/** What a reference stands for: a value of the state, or a text that is known now. */
export interface Target {
  readonly ref?: ValueRef;
  readonly text?: string;
  /** Names under which an expression finds it: `steps`, `par`, `outputs`, `gen_1`, `output`. */
  readonly names: readonly string[];
  /** How many segments the names took; the rest is the path. */
  readonly used: number;
  /** Set where the last name is only the beginning of its segment, as in `$steps.a.output-1`. */
  readonly endsAt?: number;
  /** How a step ended: the reference is whole, path and all. */
  readonly ending?: true;
  readonly warning?: Fault;
  /** The input that it is. */
  readonly input?: string;
  /** The step stands in a branch, and need not have run. */
  readonly canBeMissing?: boolean;
}

/** Channel of the workflow's prompt. */
export const PROMPT = 'prompt';

/**
 * Resolves `$prompt`, `$inputs.NAME`, `$item` and `$steps.ID.output`, as one step sees them.
 *
 * Codes of faults: `unknown-variable`, `unknown-input`, `unknown-step`, `out-of-range`, `missing-output`, `bad-reference`, `not-upstream`,
 * `no-structured-output` (a warning), `no-such-path`.
 */
export function resolve(dotted: Dotted, reader: Placed, names: Names): Target | Fault {
  const { root, segments } = dotted;
  if (root === 'steps') return resolveStep(segments, reader, names);
  if (root === PROMPT) return variable(PROMPT, PROMPT, segments);
  if (root === 'inputs') return resolveInput(segments, reader, names);
  const [inner] = itemsOf(reader);
  if (inner !== undefined && (root === 'index' || root === 'key')) {
    names.marks.counted.add(inner.map);
    return variable(root, root === 'index' ? inner.index : inner.key, []);
  }
  const map = findMap(root, reader);
  if (map !== undefined) return variable(root, map.channel, segments);
  if (root === 'run' && isAtEnd(reader)) return ofRun(segments, reader);
  const hint =
    root === 'item' || root === 'index' || root === 'key'
      ? `only the steps of a map have an ${root === 'item' ? 'item' : 'index and a key'}`
      : (names.findings.near(root, ['steps', 'inputs', PROMPT, 'item']) ??
        'known are $steps, $prompt, $inputs, and $item in a map');
  return { code: 'unknown-variable', message: `${reader.step.label} refers to $${root}, which does not exist`, hint };
}

function resolveInput([first, ...path]: readonly Segment[], reader: Placed, names: Names): Target | Fault {
  const { inputs } = names;
  if (first === undefined) {
    const hint = 'write $inputs.NAME';
    return { code: 'bad-reference', message: `${reader.step.label} refers to $inputs without naming an input`, hint };
  }
  const name = first.text;
  const input = inputs.get(name);
  if (input === undefined) {
    const hint = names.findings.near(name, inputs.keys()) ?? `declare it under inputs: ${name}: {}`;
    const message = `${reader.step.label} refers to the input ${quoteShort(name)}, which is not declared`;
    return { code: 'unknown-input', message, hint };
  }
  if (path.length > 0 && !isComposite(input.type)) {
    const message = `${reader.step.label} looks into the input ${quoteShort(name)}, which is a ${input.type ?? 'text'}`;
    return { code: 'no-such-path', message, hint: 'declare it with "type: object" or "type: list"' };
  }
  return { ref: refOf(inputChannel(name), path), input: name, names: ['inputs', name], used: 1 };
}

/** How the run ended, as the steps under `finally` see it. */
function ofRun(segments: readonly Segment[], reader: Placed): Target | Fault {
  const [first, ...path] = segments;
  const channel = first?.text === 'outcome' ? RUN_OUTCOME : first?.text === 'error' ? RUN_ERROR : undefined;
  if (first === undefined || channel === undefined || (channel === RUN_OUTCOME && path.length > 0)) {
    const name = segments.map(segmentText).join('');
    const hint = 'write $run.outcome, $run.error.message or $run.error.code';
    return {
      code: 'unknown-member',
      message: `${reader.step.label} refers to $run${name}, which does not exist`,
      hint,
    };
  }
  return { ref: refOf(channel, path), names: ['run', first.text], used: 1, canBeMissing: channel === RUN_ERROR };
}

/** Whether a reference could be resolved. */
export function isFault(found: Target | Fault): found is Fault {
  return 'code' in found;
}

/** Reports what is wrong with a reference; false when it can't be used. */
export function reportFault(found: Target | Fault, at: Position, findings: Findings): found is Target {
  const fault = isFault(found) ? found : found.warning;
  if (fault !== undefined) findings[fault.severity ?? 'error'](fault.code, fault.message, at, fault.hint);
  return !isFault(found);
}

/** Notes that something needs an input. */
export function noteUse({ input }: Target, { usedInputs }: Names, optional = false): void {
  if (input !== undefined && !optional) usedInputs.add(input);
}

function variable(name: string, channel: string, segments: readonly Segment[]): Target {
  const ref = refOf(channel, segments);
  // The channel of an item is called after its map.
  const written = name === channel ? ref : { ...ref, written: `$${name}${segments.map(segmentText).join('')}` };
  return { ref: written, names: [name], used: 0 };
}

function refOf(channel: string, path: readonly Segment[]): ValueRef {
  return path.length === 0 ? { channel } : { channel, path: path.map((segment) => segment.text) };
}

/** A step on the way of a reference, and what is left of it. */
interface Walk {
  readonly placed: Placed;
  readonly segments: readonly Segment[];
  readonly used: number;
  readonly names: readonly string[];
}

interface Leaf extends Omit<Walk, 'segments'> {
  readonly output?: Output;
  readonly channel?: string;
  readonly text?: string;
  readonly endsAt?: number | undefined;
  /** How the step ended. */
  readonly ending?: ValueRef;
}

function resolveStep(segments: readonly Segment[], reader: Placed, names: Names): Target | Fault {
  const [first] = segments;
  if (first === undefined) {
    const hint = 'write $steps.ID.output';
    return { code: 'bad-reference', message: `${reader.step.label} refers to $steps without naming a step`, hint };
  }
  const placed = findStep(first.text, reader);
  if (placed === undefined) return unknownStep(first.text, reader, names);
  const leaf = walkIn({ placed, segments, used: 1, names: ['steps', first.text] }, false, names);
  if (isWrong(leaf)) return { ...leaf, message: `${reader.step.label} refers to ${leaf.message}` };
  const fault = checkOrder(leaf.placed, reader, names.flows);
  if (fault !== undefined) return fault;
  const { used, names: found, endsAt } = leaf;
  const common = { names: found, used, ...(endsAt === undefined ? {} : { endsAt }) };
  if (leaf.text !== undefined) return { text: leaf.text, ...common };
  if (leaf.ending !== undefined) {
    names.marks.told.add(leaf.placed.step);
    return { ref: leaf.ending, ending: true, ...common };
  }
  const path = endsAt === undefined ? segments.slice(used) : [];
  const wrong = checkPath(leaf.placed, path, reader, names);
  if (wrong !== undefined && wrong.severity === undefined) return wrong;
  const ref = refOf(leaf.channel ?? leaf.output?.channel ?? '', path);
  const missing = canBeMissing(leaf.placed, reader, names.flows);
  return { ref, ...common, canBeMissing: missing, ...(wrong === undefined ? {} : { warning: wrong }) };
}

function isWrong(leaf: Leaf | Fault): leaf is Fault {
  return 'code' in leaf;
}

/** In the block of the reader, or else in those around it. */
function findStep(id: string, reader: Placed): Placed | undefined {
  return [...around(reader)].map(({ block }) => block.byId.get(id)).find((found) => found !== undefined);
}

function unknownStep(id: string, reader: Placed, names: Names): Fault {
  const ids = [...around(reader)].flatMap((here) => [...here.block.byId.keys()]);
  const inside = names.top.byId.has(id) ? undefined : findInside(id, reader, names);
  const hint =
    inside === undefined
      ? (names.findings.near(id, ids) ?? `steps are: ${listed(ids)}`)
      : `write $steps.${inside.join('.')}.output`;
  const message = `${reader.step.label} refers to the step ${quoteShort(id)}, which does not exist`;
  return { code: 'unknown-step', message: inside === undefined ? message : `${message} in this place`, hint };
}

/** How the reader reaches a step in some block, if that can have run before. */
function findInside(id: string, reader: Placed, names: Names): readonly string[] | undefined {
  for (const here of around(reader)) {
    for (const { placed, names: path } of addressesIn(here.block)) {
      if (placed.step.id === id && canPrecede(placed, reader, names.flows)) return path.slice(1);
    }
  }
  return undefined;
}

/** Follows the names of a reference from a step on; `flat`: the word `outputs` may be left out. */
function walkIn(walk: Walk, flat: boolean, names: Names): Leaf | Fault {
  const { placed, segments, used } = walk;
  const { step } = placed;
  const ending = endingOf(walk, flat);
  if (ending !== undefined) return ending;
  if (givesNothing(step)) return noOutput(step);
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

function orderOf({ placed, used, names }: Walk, steps: readonly StepDef[]): Leaf {
  return { text: JSON.stringify(steps.map(({ id }) => id)), placed, used: used + 1, names: [...names, 'order'] };
}

function noOutput({ label }: StepDef): Fault {
  return missingOutput(`${label}, which has no output`, 'refer to a step with an output');
}

/** Steps that only say how it goes on. */
const ENDLESS: ReadonlySet<StepDef['type']> = new Set(['condition', 'goto', 'end']);

/** How a step ended: `status`, `error`, and of a map `errors`. Problem code: `unknown-member`. */
function endingOf({ placed, segments, used, names }: Walk, flat: boolean): Leaf | Fault | undefined {
  const { step, inner } = placed;
  const word = segments[used];
  if (word?.kind !== 'name' || ENDLESS.has(step.type) || (flat && inner?.byId.has(word.text) === true))
    return undefined;
  const words = segments.slice(used).map(({ text }) => text);
  const found = readEnding(words, { channel: endingChannel(pathOf(placed)), isMap: step.type === 'map' });
  if (found === undefined) return undefined;
  if ('ref' in found) return { ending: found.ref, placed, used: used + found.used, names: [...names, word.text] };
  const message = `${found.unknown} of ${step.label}, which does not have it`;
  return { code: 'unknown-member', message, hint: `write one of: ${found.known.join(', ')}` };
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
  // A word that was meant to be `output` is not part of the path.
  const isMeant = word?.kind === 'name' && suggest(word.text, ['output', 'outputs']) !== undefined;
  const rest = segments
    .slice(isMeant ? used + 1 : used)
    .map(segmentText)
    .join('');
  return missingOutput(`${step.label} without ".output"`, `write $steps${name}.output${rest}`);
}

function missingOutput(message: string, hint: string): Fault {
  return { code: 'missing-output', message, hint };
}

function segmentText(segment: Segment): string {
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
    const message = `index ${child.text} of ${step.label}, which has ${inner.roots.length} steps`;
    return { code: 'out-of-range', message, hint: `indexes are 0 to ${inner.roots.length - 1}` };
  }
  const id = child.kind === 'index' ? (inner.roots[Number(child.text)]?.id ?? '') : child.text;
  const found = inner.byId.get(id);
  if (found === undefined) {
    const hint = names.findings.near(id, inner.byId.keys()) ?? `its steps are: ${listed(inner.byId.keys())}`;
    return { code: 'unknown-step', message: `the step ${quoteShort(id)} of ${step.label}, which does not exist`, hint };
  }
  return walkIn({ placed: found, segments, used: next, names: [...walk.names, 'outputs', id] }, true, names);
}

/** Its output is that of its last step; those of all its steps are reached as in other blocks. */
function walkLoop(walk: Walk, names: Names): Leaf | Fault {
  const { placed, segments, used } = walk;
  if (segments[used]?.text === 'outputs') return walkBlock(walk, false, names);
  const found = leafOf(walk, resultOf(placed));
  if (isWrong(found) || found.output !== undefined) return found;
  const [first] = placed.inner === undefined ? [] : addressesIn(placed.inner);
  const hint = `name one of its steps: $steps.${placed.step.id}.${(first?.names ?? []).join('.')}.output`;
  return missingOutput(`the output of ${placed.step.label}, whose last step does not have exactly one`, hint);
}

/** A block has no `output` of its own, whatever is left out. */
function isChild(word: Segment | undefined, inner: Block): boolean {
  return word?.text !== 'output' || inner.byId.has('output');
}

function walkCall(walk: Walk, step: CallStep, names: Names): Leaf | Fault {
  const { placed, segments, used } = walk;
  const plan = names.calls.get(step.call);
  // The file could not be loaded, which was reported.
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
