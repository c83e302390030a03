import { quoteShort } from '../../lang/value-text.js';
import type { Findings } from '../../text/findings.js';
import { dominatorsFrom, type Dominators } from '../../plan/dominance.js';
import { walkBack } from '../../plan/reach.js';
import { allSteps, type Block, type Placed } from './blocks.js';
import { branchesOf, endsFile, type GotoStep, type StepDef } from './definition.js';

/** The successor if nothing is left to do in a block. */
export const NOWHERE = -1;

/**
 * The successors of a step, as indexes into the steps of its block. A condition has one for each case, and a last one for when none holds.
 * An agent that chooses has one for no answer, then one for each answer. A jump back that continues at its limit has its target, then its
 * continuation. A step that ends the file has none.
 */
export type Ways = readonly number[];

export interface Flow {
  /** The first steps: one, or in a parallel block each of its steps. */
  readonly starts: readonly number[];
  readonly ways: readonly Ways[];
  /** Jumps to a step declared before them. */
  readonly back: ReadonlySet<number>;
  /** Steps that can run. Unreachable steps are reported. */
  readonly reached: ReadonlySet<number>;
  /** Steps that can run more than once. */
  readonly looped: ReadonlySet<number>;
  /** True if a step can have run before another one; for a step and itself, if it is in a loop. */
  precedes(earlier: number, later: number): boolean;
  /** True if a step has always run before another one, or by the end of its block (for a parallel block, of its part). */
  hasRun(earlier: number, later: number | 'end'): boolean;
}

/**
 * Connects the steps of a block: each leads to the next, the last of a branch to what follows its condition, a jump to its target. Problem
 * codes: `unknown-step`, `out-of-range` and `bad-jump` for targets, `no-effect`, `unreachable-step`, `endless-loop`.
 */
export function connectBlock(block: Block, findings: Findings): Flow {
  const ways: Ways[] = block.steps.map(() => [NOWHERE]);
  const starts: number[] = [];
  const back = new Set<number>();
  const jump = (placed: Placed, step: GotoStep, following: number): void => {
    const target = findTarget(placed, step, findings);
    const isBack = target !== NOWHERE && target <= placed.at;
    ways[placed.at] = isBack && step.limits.onLimit === 'continue' ? [target, following] : [target];
    if (isBack) back.add(placed.at);
    else if (target !== NOWHERE) warnOfLimits(step, findings);
  };
  let at = 0;
  /** Connects a list, and returns its first step. */
  const connect = (steps: readonly StepDef[], next: number): number => {
    const first = steps.length === 0 ? next : at;
    steps.forEach((step, index) => {
      const here = at++;
      const placed = block.steps[here];
      const size = sizeOf(step);
      const following = index + 1 < steps.length ? here + size : next;
      if (placed === undefined) return;
      if (step.type === 'condition') {
        ways[here] = branchesOf(step).map((branch) => connect(branch, following));
      } else if (step.type === 'goto') jump(placed, step, following);
      else if (endsFile(step)) ways[here] = [];
      else ways[here] = [following, ...branchesOf(step).map((branch) => connect(branch, following))];
    });
    return first;
  };
  const last = block.roots.findIndex((step) => step.type === 'sequence' && step.isLast);
  const roots = last < 0 ? block.roots : block.roots.slice(0, last);
  if (block.kind === 'parallel') for (const root of block.roots) starts.push(connect([root], NOWHERE));
  else if (roots.length > 0) starts.push(connect(roots, NOWHERE));
  const reached = reachedFrom(starts, ways);
  // No step leads there: it runs after all others.
  if (last >= 0) reached.add(at);
  if (last >= 0) ways[at] = [];
  const isBefore = predecessors(ways);
  const end = last < 0 ? NOWHERE : at;
  checkReached(block, { ways, back, reached }, findings);
  // The end condition of a loop is read after its steps.
  if (block.kind === 'loop') reached.add(ways.length);
  return {
    starts,
    ways,
    back,
    reached,
    looped: stepsInLoops(ways, back),
    // Any step can have run in the previous round.
    precedes: block.kind === 'loop' ? () => true : (earlier, later) => later === end || isBefore(earlier, later),
    hasRun: dominance(block, starts, ways),
  };
}

/** Returns the number of steps in the block that a step accounts for, including its branches. */
function sizeOf(step: StepDef): number {
  return branchesOf(step)
    .flat()
    .reduce((sum, each) => sum + sizeOf(each), 1);
}

/** Warns about limits of a jump forward, which are never reached. */
function warnOfLimits({ limits: { max, onLimit }, label, at }: GotoStep, findings: Findings): void {
  const key = max === undefined ? (onLimit === 'continue' ? 'on_limit' : undefined) : 'max';
  if (key === undefined) return;
  const message = `${key} of ${label} has no effect: it jumps forward`;
  findings.warning('no-effect', message, at, 'remove the key: only jumps back are counted');
}

function findTarget(placed: Placed, step: GotoStep, findings: Findings): number {
  const { target } = step;
  const { block } = placed;
  if (target === undefined) return NOWHERE;
  const fail = (code: string, message: string, hint: string): number => {
    findings.error(code, `${step.label} jumps to ${quoteShort(target.text)}, ${message}`, target.at, hint);
    return NOWHERE;
  };
  const named = typeof target.value === 'number' ? undefined : block.byId.get(target.text);
  const isIndex = named === undefined && /^-?\d+$/.test(target.text);
  const root = isIndex ? block.roots[Number(target.text)] : undefined;
  const found = named ?? (root === undefined ? undefined : block.byId.get(root.id));
  if (found === undefined) {
    if (isIndex) {
      const hint = `the steps of this list are 0 to ${block.roots.length - 1}`;
      return fail('out-of-range', 'and there is no step with this index', hint);
    }
    const other = findElsewhere(block, target.text);
    if (other !== undefined) {
      const name = other.block.holder === undefined ? 'the list around its block' : other.block.holder.step.label;
      return fail(
        'bad-jump',
        `which belongs to ${name}`,
        'a jump stays within its own parallel, sequence, loop or map block',
      );
    }
    const hint = findings.near(target.text, block.byId.keys()) ?? `steps are: ${listed(block.byId.keys())}`;
    return fail('unknown-step', 'which does not exist', hint);
  }
  if (found.chain !== placed.chain) {
    return fail(
      'bad-jump',
      'which runs at the same time',
      'steps of a parallel block start together: put both into one step of it, with type: sequence',
    );
  }
  return found.at;
}

function findElsewhere(block: Block, id: string): Placed | undefined {
  let top = block;
  while (top.holder !== undefined) top = top.holder.block;
  for (const placed of allSteps(top)) if (placed.step.id === id && placed.block !== block) return placed;
  return undefined;
}

export function listed(ids: Iterable<string>): string {
  const all = [...ids];
  return `${all.slice(0, 8).join(', ')}${all.length > 8 ? ', ...' : ''}`;
}

function reachedFrom(starts: readonly number[], ways: readonly Ways[]): Set<number> {
  const reached = new Set(starts);
  for (const at of reached) for (const to of ways[at] ?? []) if (to !== NOWHERE) reached.add(to);
  return reached;
}

function checkReached(block: Block, flow: Pick<Flow, 'ways' | 'back' | 'reached'>, findings: Findings): void {
  const { reached } = flow;
  const leaving = leadingOut(flow.ways);
  const report = (steps: readonly StepDef[]): void => {
    let wasReached = true;
    for (const step of steps) {
      const placed = block.byId.get(step.id);
      if (placed?.step !== step) continue;
      const isReached = reached.has(placed.at);
      if (!isReached && wasReached) {
        const hint = 'a jump or an end comes before it: remove the step, or jump to it';
        findings.error('unreachable-step', `${step.label} can never run: no path leads to it`, step.at, hint);
      }
      wasReached = isReached;
      if (isReached) branchesOf(step).forEach(report);
    }
  };
  report(block.roots);
  for (const at of flow.back) {
    const step = block.steps[at]?.step;
    if (step === undefined || !reached.has(at) || leaving.has(at)) continue;
    const hint =
      'put the jump into a branch of a condition, so that the loop can end, or add max and on_limit: continue';
    findings.error('endless-loop', `${step.label} jumps back, and nothing leaves the loop`, step.at, hint);
  }
}

/**
 * Returns the steps of all cycles. Every cycle contains a jump back and ends with one. So for each jump, last first, the cycle is what its
 * target leads to and what leads to the jump, ignoring steps after the jump.
 */
function stepsInLoops(ways: readonly Ways[], back: ReadonlySet<number>): ReadonlySet<number> {
  const looped = new Set<number>();
  const before = back.size === 0 ? [] : reversed(ways);
  for (const jump of [...back].toSorted((a, b) => b - a)) {
    const [target = NOWHERE] = ways[jump] ?? [];
    // A cycle inside one already found adds no steps.
    if (looped.has(jump) && looped.has(target)) continue;
    const after = new Set([target]);
    for (const at of after) for (const to of ways[at] ?? []) if (to !== NOWHERE && to <= jump) after.add(to);
    const leading = new Set(after.has(jump) ? [jump] : []);
    for (const at of leading) for (const from of before[at] ?? []) if (after.has(from)) leading.add(from);
    for (const at of leading) looped.add(at);
  }
  return looped;
}

/** Returns the steps from which the end of the block is reachable. */
function leadingOut(ways: readonly Ways[]): ReadonlySet<number> {
  const before = reversed(ways);
  const leading = new Set<number>();
  ways.forEach((targets, at) => {
    if (targets.length === 0 || targets.includes(NOWHERE)) leading.add(at);
  });
  for (const at of leading) for (const from of before[at] ?? []) leading.add(from);
  return leading;
}

function reversed(ways: readonly Ways[]): readonly (readonly number[])[] {
  const before: number[][] = ways.map(() => []);
  ways.forEach((targets, at) => {
    for (const to of targets) before[to]?.push(at);
  });
  return before;
}

/** Returns the function `hasRun`. Dominators are computed on first use: most references are to steps that always run. */
function dominance(block: Block, starts: readonly number[], ways: readonly Ways[]): Flow['hasRun'] {
  let known: Dominators | undefined;
  const branches = block.steps.some(({ step }) => step.type === 'goto' || branchesOf(step).length > 0);
  // Steps that start together have separate ends, so they share nothing.
  const endOf = (at: number): number => ways.length + (block.steps[at]?.chain ?? 0);
  const root = ways.length + starts.length;
  const targets = (at: number): readonly number[] =>
    at === root ? starts : (ways[at] ?? []).map((to) => (to < 0 ? endOf(at) : to));
  return (earlier, later) => {
    if (!branches) return true;
    known ??= dominatorsFrom(root, targets);
    const to = later === 'end' ? endOf(earlier) : later;
    return !known.reaches(earlier) || !known.reaches(to) || known.shared(earlier, to) === earlier;
  };
}

function predecessors(ways: readonly Ways[]): Flow['precedes'] {
  const before = reversed(ways);
  const walk = walkBack(before);
  return (earlier, later) => {
    const directly = before[later] ?? [];
    // Most references are to the step directly before.
    return directly.includes(earlier) || walk(later, directly)(earlier);
  };
}
