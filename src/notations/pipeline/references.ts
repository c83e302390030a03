import type { Position } from '../../base/problem.js';
import { quoteShort } from '../../lang/value-text.js';
import type { ValueRef } from '../../lang/values.js';
import type { Findings } from '../../text/findings.js';
import { addressesIn, around, findMap, itemsOf, type Placed } from './blocks.js';
import type { Dotted, Segment } from './expressions.js';
import { canBeMissing, canPrecede, checkOrder, type Fault, type Names } from './order.js';
import { listed } from './flow.js';
import { checkPath } from './output-paths.js';
import { isWrong, segmentText, walkIn } from './step-walk.js';
import { isAtEnd } from './last-steps.js';
import { RUN_ERROR, RUN_OUTCOME } from '../../plan/endings.js';
import { isComposite } from '../../plan/input-types.js';
import { inputChannel } from '../inputs-key.js';

/** What a reference refers to: a value of the state, or a constant text. */
export interface Target {
  readonly ref?: ValueRef;
  readonly text?: string;
  /** Names under which an expression finds the value: `steps`, `par`, `outputs`, `gen_1`, `output`. */
  readonly names: readonly string[];
  /** The number of segments that are names. The rest is the path. */
  readonly used: number;
  /** Set if the last name is only the beginning of its segment, as in `$steps.a.output-1`. */
  readonly endsAt?: number;
  /** True for a step's ending. The reference then includes its path. */
  readonly ending?: true;
  readonly warning?: Fault;
  /** The input, if it is one. */
  readonly input?: string;
  /** The step whose output it is. */
  readonly leaf?: Placed;
  /** True if the step is in a branch, so that it may not have run. */
  readonly canBeMissing?: boolean;
  /** True if it is empty without a value, as the error of a run that did not fail. */
  readonly mayBeEmpty?: true;
}

export const PROMPT = 'prompt';

/**
 * Resolves `$prompt`, `$inputs.NAME`, `$item` and `$steps.ID.output` in the scope of a step.
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
      : nearVariable(root, reader, names);
  return { code: 'unknown-variable', message: `${reader.step.label} refers to $${root}, which does not exist`, hint };
}

/** The hint for a variable that does not exist. A name alone may be that of a step or of an input. */
function nearVariable(root: string, reader: Placed, { inputs, findings }: Names): string {
  const variables = ['steps', 'inputs', PROMPT, 'item', ...itemsOf(reader).map(({ name }) => name)];
  const near = findings.near(root, variables);
  if (near !== undefined) return near;
  const ids = [...around(reader)].flatMap(({ block }) => [...block.byId.keys()]);
  const others = [...inputs.keys(), ...ids];
  const meant = others.includes(root) ? root : findings.nearest(root, others);
  if (meant === undefined) return 'known are $steps, $prompt, $inputs, and $item in a map';
  return `did you mean $${inputs.has(meant) ? `inputs.${meant}` : `steps.${meant}.output`}?`;
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

/** Keeps the written names of a reference into a block or a called file, whose channel has a name that no file holds. */
function asWritten(ref: ValueRef, names: readonly string[]): ValueRef {
  const { channel, path = [] } = ref;
  return channel === names.join('.') ? ref : { ...ref, written: [...names, ...path].join('.') };
}

/** Resolves a reference to the run's ending, which the steps under `finally` see. */
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
  return { ref: refOf(channel, path), names: ['run', first.text], used: 1, mayBeEmpty: true };
}

export function isFault(found: Target | Fault): found is Fault {
  return 'code' in found;
}

/** Reports a mistake in a reference. Returns false if the reference can't be used. */
export function reportFault(found: Target | Fault, at: Position, findings: Findings): found is Target {
  const fault = isFault(found) ? found : found.warning;
  if (fault !== undefined) findings[fault.severity ?? 'error'](fault.code, fault.message, at, fault.hint);
  return !isFault(found);
}

export function noteUse({ input }: Target, { usedInputs }: Names, optional = false): void {
  if (input !== undefined && !optional) usedInputs.add(input);
}

function variable(name: string, channel: string, segments: readonly Segment[]): Target {
  const ref = refOf(channel, segments);
  // The channel of an item is named after its map, so the reference keeps its written form.
  const written = name === channel ? ref : { ...ref, written: `$${name}${segments.map(segmentText).join('')}` };
  return { ref: written, names: [name], used: 0 };
}

function refOf(channel: string, path: readonly Segment[]): ValueRef {
  return path.length === 0 ? { channel } : { channel, path: path.map((segment) => segment.text) };
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
  const ref = asWritten(refOf(leaf.channel ?? leaf.output?.channel ?? '', path), found);
  const missing = canBeMissing(leaf.placed, reader, names.flows);
  const { placed: step } = leaf;
  return { ref, ...common, leaf: step, canBeMissing: missing, ...(wrong === undefined ? {} : { warning: wrong }) };
}

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

/** Returns how the reader can refer to a step in another block, if that step can have run before. */
function findInside(id: string, reader: Placed, names: Names): readonly string[] | undefined {
  for (const here of around(reader)) {
    for (const { placed, names: path } of addressesIn(here.block)) {
      if (placed.step.id === id && canPrecede(placed, reader, names.flows)) return path.slice(1);
    }
  }
  return undefined;
}
