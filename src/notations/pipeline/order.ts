import { around, givenBy } from './blocks.js';
import type { Block, Output, Placed } from './blocks.js';
import type { Flow } from './flow.js';
import type { Plan } from '../../plan/plan.js';
import type { Findings } from '../../text/findings.js';
import type { CallDef } from '../step-keys.js';
import type { InputDef } from '../inputs-key.js';
import type { AgentDef, StepDef } from './definition.js';

/** The flow of each block. */
export type Flows = (block: Block) => Flow;

/**
 * Whether a step can have run before another one starts: on a path from the one to the other, or in an earlier round of a loop around both.
 */
export function canPrecede(earlier: Placed, reader: Placed, flows: Flows): boolean {
  let [left, right] = inOneBlock(earlier, reader);
  while (left !== undefined && right !== undefined) {
    if (flows(left.block).precedes(left.at, right.at)) return true;
    // What the steps of a map leave is not seen outside, and so not in a later round either.
    if (left.block.kind === 'map') return false;
    const { holder } = left.block;
    left = holder;
    right = holder;
  }
  return false;
}

/**
 * Whether a step that is declared before another one need not have run when that does: it stands in a branch, or a jump passes it by. What only an
 * earlier round of a loop can have given is not meant: in the first round it is always missing.
 */
export function canBeMissing(earlier: Placed, reader: Placed, flows: Flows): boolean {
  const [left, right] = inOneBlock(earlier, reader);
  if (left === undefined || right === undefined || left.at >= right.at) return false;
  if (right.step.type === 'sequence' && right.step.isLast) return true;
  for (const here of around(earlier)) {
    if (here === left) break;
    if (!flows(here.block).hasRun(here.at, 'end')) return true;
  }
  return !flows(left.block).hasRun(left.at, right.at);
}

/** The steps of the innermost common block in which, or as which, two steps stand. */
function inOneBlock(one: Placed, other: Placed): [Placed | undefined, Placed | undefined] {
  const holders = new Map([...around(other)].map((each) => [each.block, each]));
  for (const left of around(one)) {
    const right = holders.get(left.block);
    if (right !== undefined) return [left, right];
  }
  return [undefined, undefined];
}

/** What can never run was reported; that nothing runs before it is no other fault. */
function isReached(placed: Placed, flows: Flows): boolean {
  return [...around(placed)].every(({ block, at }) => flows(block).reached.has(at));
}

/** The fault of a reference to a step that can't have run before its reader. */
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

/** The outputs from outside that a block gets, in declared order: of all steps that can have run before its holder, and of the round before. */
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

/** What is wrong with a reference. */
export interface Fault {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly severity?: 'warning';
}

/** What references are resolved in. */
export interface Names {
  readonly top: Block;
  readonly flows: Flows;
  readonly agents: ReadonlyMap<string, AgentDef>;
  readonly inputs: ReadonlyMap<string, InputDef>;
  /** Those that something needs. */
  readonly usedInputs: Set<string>;
  readonly calls: ReadonlyMap<CallDef, Plan>;
  readonly findings: Findings;
  readonly marks: Marks;
}

/** What is only built where somebody reads it. */
export interface Marks {
  /** Steps of which somebody reads how they ended. */
  readonly told: Set<StepDef>;
  /** Maps of which somebody reads the index or the name of an item. */
  readonly counted: Set<StepDef>;
}
