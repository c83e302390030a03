import { PLAN_VALUES, WHOLE_STATE, type CallNode, type InputSpec, type SubPlan } from '../../../plan/plan.js';
import { inputValue } from '../../../plan/input-types.js';
import { SkeinError, toErrorData } from '../../../base/errors.js';
import type { Label } from '../../../guard/label.js';
import type { CompiledPlan } from '../../graph/compile.js';
import type { Again, ChannelWrite, FailedInside } from '../../ports/executor.js';
import type { ScopeEnd, ScopeHandle, ScopeOwner } from '../../services.js';
import type { Activity } from '../asking.js';
import type { Body, Step } from '../step.js';
import { inputCell } from '../../state/cell.js';
import { EMPTY_VERSION, type Version } from '../../state/version.js';

export const callBody: Body = { start: startCall, take: noTicket };

/** For bodies that follow no ticket of their own. */
export function noTicket(): void {}

function startCall(step: Step): void {
  const { node } = step.compiled;
  if (node.kind !== 'call') return;
  const sub = subPlan(step);
  openInside(step, sub, `${step.key}/`, inputsOf(step, node, sub), (scope, end) => {
    if (end.type === 'done') giveTo(step, node, scope);
    else endLike(step, prefixed(end, node), () => keptOf(step, node, scope));
  });
}

/** The values of a file may refer to something that does not exist. */
function giveTo(step: Step, node: CallNode, scope: ScopeHandle): void {
  try {
    if (node.plan.values !== undefined) scope.values();
  } catch (error) {
    step.fail(toErrorData(error));
    return;
  }
  succeedWith(step, node, scope, scope.around);
}

type Stopped = Exclude<ScopeEnd, { type: 'done' }>;

export function prefixed(end: Stopped, { errorPrefix: prefix }: SubPlan): Stopped {
  if (end.type === 'paused' || end.type === 'ended' || prefix === undefined) return end;
  return { ...end, error: { ...end.error, message: `${prefix}${end.error.message}` } };
}

export function subPlan(step: Step): CompiledPlan {
  const { sub } = step.compiled;
  if (sub === undefined) throw new TypeError(`'${step.compiled.id}' has no plan`);
  return sub;
}

export interface SubStart {
  readonly version: Version;
  /** Label of what decided that it starts, and which inputs it has. */
  readonly influence: number;
}

/** Starts a scope inside a step. The scope is stopped, and its steps are counted, with the step. */
export function openInside(
  step: Step,
  compiled: CompiledPlan,
  prefix: string,
  { version: inputs, influence }: SubStart,
  ended: (scope: ScopeHandle, end: ScopeEnd) => void,
): void {
  const inside = new Inside(step, ended);
  inside.scope = step.run.openScope({ compiled, prefix, parent: step.path, inputs, influence, owner: inside });
  step.hold(inside);
}

class Inside implements ScopeOwner, Activity {
  /** Undefined after it was closed: its steps are counted once. */
  scope: ScopeHandle | undefined = undefined;

  constructor(
    private readonly step: Step,
    private readonly ended: (scope: ScopeHandle, end: ScopeEnd) => void,
  ) {}

  stopClock(): () => void {
    return this.step.stopClock();
  }

  get correction(): string | undefined {
    return this.step.correction;
  }

  callsOnce(): void {
    this.step.callsOnce();
  }

  wrote(path: string): void {
    this.step.wrote(path);
  }

  influenced(label: number): void {
    this.step.influenced(label);
  }

  again(failed: FailedInside): Again | undefined {
    return this.step.again({ ...failed, judging: false });
  }

  scopeEnded(scope: ScopeHandle, end: ScopeEnd): void {
    this.close();
    this.step.release(this);
    this.ended(scope, end);
  }

  heard(): Label | undefined {
    return this.scope?.heard();
  }

  stop(): void {
    this.scope?.abort(this.step.owner.cutOff, this.decides);
    this.close();
  }

  /** Label of what cuts it off: the step's own and, if the surrounding plan has ended, that of what decided its end. */
  private get decides(): number {
    const { influence, owner, run } = this.step;
    return owner.cutOff === undefined ? influence : run.labels.join(influence, owner.control);
  }

  private close(): void {
    const { scope } = this;
    this.scope = undefined;
    if (scope !== undefined) this.step.adopt(scope.census, scope.reports);
  }
}

/** Ends a step like the scope inside it. `kept`: its remaining writes if the run has reached a bound. */
export function endLike(step: Step, end: Stopped, kept: () => readonly ChannelWrite[] = () => []): void {
  if (end.type === 'failed') step.fail(end.error);
  else if (end.type === 'ended') step.endPlan(end, { writes: kept() });
  else if (end.type === 'out_of_budget') step.runOut(end.error, end.how, end.how === 'waited' ? [] : kept());
  else step.pause({ text: '' }, 'a step inside of it waits for an answer');
}

/** The start of a sub-plan: its inputs, each with the label of its source. */
export function inputsOf(step: Step, node: Pick<SubPlan, 'inputs'>, sub: CompiledPlan): SubStart {
  const read = step.reader();
  const { labels } = step.run;
  let version = EMPTY_VERSION;
  let influence = step.control;
  const put = (channel: string, from: () => unknown): void => {
    const { value, label } = step.labelOf(from);
    const at = sub.channels.index.get(channel);
    if (at === undefined) {
      throw new SkeinError('SKEIN_INPUT', `the plan inside of '${step.compiled.id}' has no channel '${channel}'`);
    }
    if (value === undefined) influence = labels.join(influence, label);
    else version = version.with(at, inputCell(value, sub.channels.reducers[at], labels.join(influence, label)));
  };
  const { inputs } = node;
  for (const input of sub.plan.inputs) {
    if (inputs !== undefined && Object.hasOwn(inputs, input.channel)) continue;
    put(input.channel, () => typed(input, (inputs === undefined ? read(input.channel) : undefined) ?? input.default));
  }
  for (const [channel, source] of Object.entries(inputs ?? {})) {
    const input = sub.plan.inputs.find((one) => one.channel === channel);
    put(channel, () => typed(input, step.renderJson(source) ?? input?.default));
  }
  return { version, influence };
}

/** @throws SkeinError `SKEIN_INPUT` if the value does not match its input */
function typed(input: InputSpec | undefined, value: unknown): unknown {
  if (value === undefined || input === undefined) return value;
  const found = inputValue(input, value);
  if ('value' in found) return found.value;
  throw new SkeinError('SKEIN_INPUT', `the input '${input.name}' ${found.why}`, { hint: found.hint });
}

export type FinalState = Pick<ScopeHandle, 'read' | 'clears' | 'state' | 'values'>;

type Giving = Pick<SubPlan, 'inputs' | 'outputs'>;

/** Ends a step with the results of its sub-plan: its output, if the node has one, and the other outputs as further writes. */
export function succeedWith(step: Step, node: Giving, scope: FinalState, around?: readonly string[]): void {
  const writes = Object.entries(moreOf(step, node, scope)).map(([channel, value]) => ({ channel, value }));
  step.succeed(outputsOf(step, node, scope), around, writes.length === 0 ? undefined : writes);
}

/** The writes in addition to an output. */
function moreOf(step: Step, node: Giving, scope: FinalState): Record<string, unknown> {
  return step.compiled.node.output === undefined || node.outputs === undefined ? {} : updateOf(step, node, scope);
}

/** The result of a finished sub-plan in the surrounding plan. */
export function outputsOf(step: Step, node: Giving, scope: FinalState): unknown {
  const { output } = step.compiled.node;
  return output === undefined ? updateOf(step, node, scope) : taken(scope, node.outputs?.[output] ?? output);
}

/** The writes beside the output. */
function updateOf(step: Step, node: Giving, scope: FinalState): Record<string, unknown> {
  const { output, writes = [] } = step.compiled.node;
  const update: Record<string, unknown> = {};
  const pairs = node.outputs === undefined ? writes.map((name) => [name, name] as const) : Object.entries(node.outputs);
  for (const [outer, inner] of pairs) {
    if (outer === output) continue;
    const value = taken(scope, inner);
    if (value !== undefined || scope.clears(inner)) update[outer] = newTo(step, { node, outer, inner }, value);
  }
  return update;
}

/** What an unfinished sub-plan has written to the surrounding plan. */
export function keptOf(step: Step, node: Giving, scope: ScopeHandle): ChannelWrite[] {
  const { output } = step.compiled.node;
  // The values of a plan exist only at its end.
  const last: FinalState = {
    read: (channel) => scope.read(channel),
    clears: (channel) => scope.clears(channel),
    state: () => scope.state(),
    values: () => undefined,
  };
  const result = outputsOf(step, node, last);
  const values =
    output === undefined ? (result as Record<string, unknown>) : { [output]: result, ...moreOf(step, node, last) };
  return Object.entries(values).flatMap(([channel, value]) => (value === undefined ? [] : [{ channel, value }]));
}

/**
 * The update for a value that the sub-plan received and added to: only what it added, since the reducer around it, `extend` or `add`, has
 * the rest already. A number counts as added to if the sub-plan has the reducer `add` for it.
 */
function newTo(step: Step, pair: OutputPair, value: unknown): unknown {
  const { node, outer, inner } = pair;
  const by = reducerOf(step.owner, outer);
  if (by !== 'extend' && by !== 'add') return value;
  const source = node.inputs === undefined ? { channel: inner } : node.inputs[inner];
  if (source === undefined || !('channel' in source) || source.channel !== outer) return value;
  const before = step.reader()(outer);
  if (by === 'extend') return newEntries(before, value) ?? value;
  if (reducerOf(subPlan(step), inner) !== 'add') return value;
  if (typeof before === 'number' && typeof value === 'number') return value - before;
  return typeof before === 'string' && typeof value === 'string' ? value.slice(before.length) : value;
}

function reducerOf({ channels }: Pick<CompiledPlan, 'channels'>, name: string): string | undefined {
  return channels.reducers[channels.index.get(name) ?? -1]?.definition();
}

/** Undefined if the list does not begin with all entries of the one before. */
function newEntries(before: unknown, value: unknown): unknown {
  if (!Array.isArray(before) || !Array.isArray(value)) return undefined;
  return before.every((item, at) => value[at] === item) ? value.slice(before.length) : undefined;
}

/** A channel of the surrounding plan, and the sub-plan's channel that is written to it. */
interface OutputPair {
  readonly node: Pick<SubPlan, 'inputs'>;
  readonly outer: string;
  readonly inner: string;
}

/** A channel of the final state, the whole state, or the values of the plan. */
export function taken(scope: Pick<FinalState, 'read' | 'state' | 'values'>, name: string): unknown {
  if (name === PLAN_VALUES) return scope.values();
  return name === WHOLE_STATE ? scope.state() : scope.read(name);
}
