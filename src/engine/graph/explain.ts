import { isFinal, type ErrorData } from '../../base/errors.js';
import { countText } from '../../base/text.js';
import type { EventBody } from '../../events/event.js';
import { endingOf, type Census, type StepOutcome } from '../../events/census.js';
import { meantOrKnown } from '../../base/suggest.js';
import type { CompiledNode, CompiledPlan } from './compile.js';
import type { OnError } from '../../plan/plan.js';
import type { Arrivals, Choice, TokenKind } from './token.js';

/** Why a node was skipped, in words. */
export function skipReason(compiled: CompiledPlan, node: CompiledNode, arrivals: Arrivals, poison: boolean): string {
  const from = (kind: TokenKind): string[] =>
    node.sources.filter((_, slot) => arrivals[slot]?.kind === kind).map((at) => `'${compiled.nodes[at]?.id ?? ''}'`);
  if (poison) return `depends on ${from('poison').join(', ')}, which failed or was skipped because of a failure`;
  const failed = from('failed');
  if (failed.length > 0) return `${failed.join(', ')} failed`;
  if (node.join === 'quorum') return `fewer than ${node.need} of its ${node.slots} paths were taken`;
  const dead = from('dead');
  if (dead.length > 4) return `none of its ${dead.length} paths was taken`;
  return dead.length === 0 ? 'its path was not taken' : `no path from ${dead.join(', ')} was taken`;
}

/** The warning for a released join (E4). */
export function releaseBody(node: CompiledNode, missing: number): EventBody {
  const tokens = missing === 1 ? 'one of its in-edges' : `${missing} of its in-edges`;
  const message = `'${node.id}' continued with what it had: nothing else could run, and ${tokens} had no token`;
  return { type: 'run.warning', code: 'join-released', message };
}

/** The warning for a node that reached its cap while the run continues. */
export function limitBody({ id }: CompiledNode, cap: number): EventBody {
  const message = `limit reached: '${id}' ran ${cap} times, its limit, and the run continues without it`;
  return { type: 'run.warning', code: 'max-visits', message };
}

/** The error for more nodes one after another than the plan allows. */
export function tooDeep(maxSteps: number): ErrorData {
  return {
    code: 'SKEIN_MAX_STEPS',
    message: `more than ${countText(maxSteps, 'node')} ran one after another, which is all that maxSteps allows`,
    hint: 'end the cycle, or continue with a higher bound: the option maxSteps of a run or resume, --max-steps N on the command line',
  };
}

/**
 * The error for a node that ran as often as all nodes of its plan could, one after another: paths that run side by side multiply, as each of
 * them begins the cycle anew. Depth alone would allow a number of steps that is exponential in it.
 */
export function tooOften({ id }: CompiledNode, runs: number): ErrorData {
  return {
    code: 'SKEIN_MAX_STEPS',
    message: `'${id}' ran ${runs} times, the most that maxSteps allows: the number of parallel paths that lead to it keeps growing`,
    hint: 'let these paths meet before they lead back: one choice, in a node that waits for all of them; or continue with a higher maxSteps',
  };
}

export function failureOf(error: ErrorData): 'failed' | 'timed_out' {
  return error.code === 'SKEIN_TIMEOUT' ? 'timed_out' : 'failed';
}

/** Whether the plan goes on after a failure of the node, and does not fail for it later: what came of the failure stays. */
export function isAllowed(onError: OnError | undefined): boolean {
  return onError !== undefined && onError !== 'fail' && onError !== 'settle';
}

/** Whether the run continues after a failure; `ignore` is handled before. Only a handler continues after a verdict. */
export function goesOnPast(onError: OnError | undefined, error: ErrorData): boolean {
  if (typeof onError === 'object') return true;
  return (onError === 'continue' || onError === 'skipDependents' || onError === 'settle') && !isFinal(error);
}

/** A node that failed while others ran to their end. */
export interface SettledFailure {
  readonly node: CompiledNode;
  readonly path: string;
  readonly error: ErrorData;
  readonly inside: Census | undefined;
}

/** Sorts failures by plan order, so that what they say does not depend on timing. */
export function inPlanOrder(failures: readonly SettledFailure[]): readonly SettledFailure[] {
  return failures.toSorted((one, other) => one.node.index - other.node.index);
}

/** Combines the failures of nodes with `onError: settle` into the one that ends their plan, in plan order; undefined for none. */
export function settledError(all: readonly SettledFailure[]): ErrorData | undefined {
  const [first] = all;
  if (first === undefined) return undefined;
  const texts = all.map(({ node: { node, id }, error }) => `${node.kind} ${node.label ?? id}: ${error.message}`);
  const details = { failures: all.map(({ path, error: { code, message } }) => ({ path, code, message })) };
  return { ...first.error, message: texts.join('; '), details };
}

export function pastMaxVisits(node: CompiledNode, cap: number): ErrorData {
  const { onMaxVisits } = node.node;
  if (typeof onMaxVisits === 'object' && 'fail' in onMaxVisits) {
    const { fail, hint } = onMaxVisits;
    return { code: 'SKEIN_MAX_VISITS', message: fail, ...(hint === undefined ? {} : { hint }) };
  }
  return {
    code: 'SKEIN_MAX_VISITS',
    message: `'${node.id}' ran ${cap} times, its maxVisits, and was chosen once more`,
    hint: 'raise maxVisits, or say with onMaxVisits what happens then',
  };
}

export interface Ending {
  readonly reason?: string | undefined;
  readonly error?: ErrorData | undefined;
}

/** The end of a step without a result, after which the run continues as with an empty result. */
export interface PassedOver extends Ending {
  readonly outcome: 'skipped' | 'failed' | 'timed_out';
}

/** The end event of a step that did not succeed. */
export function endingBody(node: CompiledNode, outcome: StepOutcome, attempts: number, ending: Ending): EventBody {
  return { type: 'step.ended', node: node.id, kind: node.node.kind, ...endingOf({ ...ending, outcome }), attempts };
}

/** Details of a step's success in addition to its output; undefined if there are none. */
export interface Success {
  readonly attempt: number;
  /** The choice of its routes. */
  readonly choice: Choice | undefined;
  /** The state after it, if listeners receive it. */
  readonly state: Readonly<Record<string, unknown>> | undefined;
}

/** The end event of a step that succeeded. */
export function successBody(node: CompiledNode, output: unknown, more: Success | undefined): EventBody {
  const { id, node: data } = node;
  const attempts = more?.attempt ?? 1;
  const update = updateOf(node, output);
  const body: EventBody = { type: 'step.ended', node: id, kind: data.kind, outcome: 'succeeded', attempts, update };
  if (more === undefined) return body;
  const { choice, state } = more;
  return {
    ...body,
    ...(choice === undefined ? {} : { to: namesIn(choice) }),
    ...(state === undefined ? {} : { state }),
  };
}

/** Names of nodes of the surrounding plan begin with dots, as in a path. */
function namesIn({ hops, others, around = [] }: Choice): readonly string[] {
  return [...hops.map((hop) => hop.name), ...others, ...around.map((name) => `../${name}`)];
}

/** The writes of a step, for observers. */
function updateOf(node: CompiledNode, output: unknown): Record<string, unknown> {
  if (output === undefined) return {};
  const channel = node.node.output;
  return channel === undefined ? { ...(output as Record<string, unknown> | null) } : { [channel]: output };
}

/** The error for two unordered writes (S3). They are of one node if several ways lead to it at the same time. */
export function conflictError(channel: string, writers: readonly [string, string]): ErrorData {
  const [one, other] = writers;
  const [message, hint] =
    one === other
      ? [
          `'${one}' ran twice at the same time, and both times wrote '${channel}'`,
          `let it wait for all ways that lead to it (join), let one way lead to it, or give '${channel}' a reducer`,
        ]
      : [
          `'${one}' and '${other}' both wrote '${channel}', and neither ran before the other`,
          `give '${channel}' a reducer, let them write different channels, or put an edge between them`,
        ];
  return {
    code: 'SKEIN_WRITE_CONFLICT',
    message,
    hint,
    details: { channel, writers: [one, other] },
  };
}

/** The error for a route without declared targets that chose an unknown name. */
export function noSuchNode(from: CompiledNode, name: string, nodes: readonly CompiledNode[]): ErrorData {
  const ids = nodes.map(({ id }) => id);
  return {
    code: 'SKEIN_BAD_ROUTE',
    message: `the route after '${from.id}' chose '${name.slice(0, 80)}', which is not a node`,
    hint: meantOrKnown(name, ids, 'nodes'),
  };
}
