import { around, givenBy, type Block, type Output, type Placed } from './blocks.js';
import type { Flow } from './flow.js';
import type { Plan } from '../../plan/plan.js';
import type { Findings } from '../../text/findings.js';
import type { CallDef } from '../step-keys.js';
import type { InputDef } from '../inputs-key.js';
import type { AgentDef, StepDef } from './definition.js';

export type Flows = (block: Block) => Flow;

/** Whether a step can have run before another one starts: on a path between them, or in an earlier round of a loop around both. */
export function canPrecede(earlier: Placed, reader: Placed, flows: Flows): boolean {
  let [left, right] = inOneBlock(earlier, reader);
  while (left !== undefined && right !== undefined) {
    if (flows(left.block).precedes(left.at, right.at)) return true;
    // Outputs of steps in a map are not visible outside, so not in a later round either.
    if (left.block.kind === 'map') return false;
    const { holder } = left.block;
    left = holder;
    right = holder;
  }
  return false;
}

/**
 * Whether a step declared before another one may not have run when that starts: it is in a branch, a `when` skips it, or a jump bypasses it.
 * Outputs that only an earlier round of a loop can provide do not count: in the first round they are always missing.
 */
export function canBeMissing(earlier: Placed, reader: Placed, flows: Flows): boolean {
  const [left, right] = inOneBlock(earlier, reader);
  if (left === undefined || right === undefined || left.at >= right.at) return false;
  if (right.step.type === 'sequence' && right.step.isLast) return true;
  for (const here of around(earlier)) {
    if ('when' in here.step && here.step.when !== undefined) return true;
    if (here === left) break;
    if (!flows(here.block).hasRun(here.at, 'end')) return true;
  }
  return !flows(left.block).hasRun(left.at, right.at);
}

/** Returns the steps of the innermost common block that are, or contain, two steps. */
function inOneBlock(one: Placed, other: Placed): [Placed | undefined, Placed | undefined] {
  const holders = new Map([...around(other)].map((each) => [each.block, each]));
  for (const left of around(one)) {
    const right = holders.get(left.block);
    if (right !== undefined) return [left, right];
  }
  return [undefined, undefined];
}

/** Whether a step can run. An unreachable step was reported, so references in it are not. */
function isReached(placed: Placed, flows: Flows): boolean {
  return [...around(placed)].every(({ block, at }) => flows(block).reached.has(at));
}

/** Returns the fault of a reference to a step that can't have run before its reader. */
export function checkOrder(earlier: Placed, reader: Placed, flows: Flows): Fault | undefined {
  if (canPrecede(earlier, reader, flows) || !isReached(reader, flows)) return undefined;
  const { label } = reader.step;
  const code = 'not-upstream';
  if (earlier === reader)
    return { code, message: `${label} refers to its own output`, hint: 'a step sees what ran before it' };
  const [left, right] = inOneBlock(earlier, reader);
  const what = `${label} refers to ${earlier.step.label}`;
  if (left !== undefined && left === right) {
    return { code, message: `${what}, which is a part of it`, hint: 'a step sees what ran before it' };
  }
  if (left !== undefined && right !== undefined && left.chain !== right.chain) {
    return { code, message: `${what}, which runs at the same time`, hint: 'read it after the parallel block' };
  }
  if (left !== undefined && right !== undefined && left.at < right.at) {
    return {
      code,
      message: `${what}, which has not run when it does: their branches exclude each other`,
      hint: 'read it in its own branch',
    };
  }
  const hint = `put ${reader.step.label} after it`;
  return { code, message: `${what}, which can't have run before it`, hint };
}

/** Returns a block's outer outputs in declared order: of steps that can run before its holder, and of the previous round. */
export function outputsBefore(block: Block, flows: Flows): readonly Output[] {
  const { holder } = block;
  if (holder === undefined) return [];
  const found = new Set(outputsBefore(holder.block, flows));
  if (block.kind === 'loop') for (const output of holder.outputs) found.add(output);
  const flow = flows(holder.block);
  for (const placed of holder.block.steps) {
    const given = givenBy(placed);
    if (given.length === 0 || !flow.precedes(placed.at, holder.at)) continue;
    for (const output of given) found.add(output);
  }
  return [...found].toSorted((a, b) => a.order - b.order);
}

export interface Fault {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly severity?: 'warning';
}

export interface Names {
  readonly top: Block;
  readonly flows: Flows;
  readonly agents: ReadonlyMap<string, AgentDef>;
  readonly inputs: ReadonlyMap<string, InputDef>;
  readonly usedInputs: Set<string>;
  readonly calls: ReadonlyMap<CallDef, Plan>;
  readonly findings: Findings;
  readonly marks: Marks;
}

/** Steps with parts that are built only if they are read. */
export interface Marks {
  /** Steps whose ending is read. */
  readonly told: Set<StepDef>;
  /** Maps whose item index or item key is read. */
  readonly counted: Set<StepDef>;
}
