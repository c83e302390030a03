import { checkOptions } from '../../../base/options.js';
import { refusal } from '../../../base/problem.js';
import { isPlainObject, present } from '../../../base/json.js';
import type { Condition } from '../../../lang/values.js';
import type { Bindings, LoopNode } from '../../../plan/plan.js';
import { innerBindings, type BuiltNode, type NodeSpec } from './planned.js';
import { answerOf, inputsOf, innerOf, type InnerWorkflow } from './workflow-node.js';

/** How a workflow is repeated. */
export interface LoopNodeOptions {
  /**
   * When the loop ends: if its answer has this line, ignoring surrounding spaces, or if a function returns true. The function gets the
   * final state of a round and its number, from 1.
   */
  readonly until: { readonly line: string } | ((state: Readonly<Record<string, unknown>>, round: number) => boolean);
  /** Maximum number of rounds. */
  readonly maxRounds: number;
  /** The key of the state that holds this run's maximum number of rounds: a whole number up to `maxRounds`, or its text. */
  readonly rounds?: string;
  /** If `until` held in no round: fail (default), or continue with the last round. */
  readonly onMaxRounds?: 'fail' | 'continue';
  /** `before`: the answer is that of the second-to-last round; if there is only one, its own without the line. */
  readonly keep?: 'before';
  /** `repeated`: a round that repeats the previous answer also ends the loop. */
  readonly stopWhen?: 'repeated';
  /** Inputs of the workflow that, from the second round on, get the previous round's value of the same name. */
  readonly carry?: readonly string[];
  /** Maps inputs of the workflow to keys: each input gets the list of the key's values in all rounds so far. */
  readonly collect?: Readonly<Record<string, string>>;
  /** The key or node of the workflow that holds its answer. Default: as the workflow declares, or that of its only exit. */
  readonly answerKey?: string;
}

/**
 * Repeats a workflow, as a node of another one. Its inputs get the values of the same names; its answer is the result of the node.
 *
 * @throws SkeinError `SKEIN_DEFINITION` for what is not a workflow, has problems, or has no answer
 * @example
 * const round = graph().node('text', ({ drafts = [] }: { drafts?: string[] }) => ['one', 'two', 'CONVERGED'][drafts.length]);
 * const until = { line: 'CONVERGED' };
 * const flow = graph().node('polish', loopNode(round, { until, keep: 'before', collect: { drafts: 'text' }, maxRounds: 5 }));
 * console.log((await flow.run({})).state.polish); // two
 */
export function loopNode<Result = unknown>(workflow: InnerWorkflow, options: LoopNodeOptions): NodeSpec<Result> {
  checkOptions<LoopNodeOptions>('loopNode', options, {
    until: 'an object, or a function',
    maxRounds: 'a number',
    rounds: 'text',
    onMaxRounds: 'text',
    keep: 'text',
    stopWhen: 'text',
    carry: 'a list of texts',
    collect: 'an object',
    answerKey: 'text',
  });
  const { until, rounds, carry = [], collect = {}, answerKey, ...rest } = options;
  const inner = innerOf(workflow, 'loopNode');
  const answer = answerOf(inner, answerKey, 'loopNode');
  const conditions = conditionsOf(until, answer);
  return {
    build(name, output = name): BuiltNode {
      const given = inputsOf(inner, null, 'loopNode');
      const own = new Set([...Object.keys(collect), ...(carry.includes(output) ? [output] : [])]);
      const isGiven = (channel: string): boolean => !own.has(channel);
      const node: LoopNode = {
        ...rest,
        id: name,
        kind: 'loop',
        plan: inner.plan,
        inputs: Object.fromEntries(Object.entries(given.inputs).filter(([channel]) => isGiven(channel))),
        outputs: { [output]: answer },
        output,
        until: conditions,
        ...present({
          carry: carry.length === 0 ? undefined : carry,
          collect: Object.keys(collect).length === 0 ? undefined : collect,
          rounds: rounds === undefined ? undefined : { channel: rounds },
        }),
      };
      const ends: Bindings = typeof until === 'function' ? { [`until:${name}`]: until } : {};
      return {
        node,
        bindings: { ...innerBindings(name, inner.bindings), ...ends },
        reads: [...given.reads.filter(isGiven), ...(rounds === undefined ? [] : [rounds])],
        mayRead: given.mayRead.filter(isGiven),
      };
    },
  };
}

function conditionsOf(until: unknown, answer: string): readonly Condition[] {
  if (typeof until === 'function') return [{ op: 'code' }];
  const line = isPlainObject(until) ? until['line'] : undefined;
  if (typeof line === 'string') return [{ op: 'line', value: { channel: answer }, line }];
  const hint = "write until: { line: 'DONE' }, or a function of the state of a round";
  throw refusal('bad-until', 'loopNode: until says neither a line nor a function', hint);
}
