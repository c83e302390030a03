import { checkOptions } from '../../base/options.js';
import { ownValue } from '../../base/json.js';
import { refusal } from '../../base/problem.js';
import { withoutAtEnd } from '../../base/text.js';
import { parseJsonText } from '../../lang/json-path.js';
import { valueText } from '../../lang/value-text.js';
import { agentNode } from '../../notations/graph/nodes/agent-node.js';
import type { AnyAgent } from '../../notations/graph/nodes/call-agent.js';
import { innerBindings } from '../../notations/graph/nodes/planned.js';
import type { StateOf } from '../../plan/builder-input.js';
import { madeOf } from '../../plan/made-of.js';
import type { LoopNode } from '../../plan/plan.js';
import { agentOf, chainOf, inputSpec, taskNode, tellingMore, type Agent, type AgentOutcome } from './planned-agent.js';

/** Options of {@link reflectionLoop}. */
export interface ReflectionOptions {
  readonly worker: AnyAgent;
  readonly critic: AnyAgent;
  /** Maximum number of drafts. Default 3. */
  readonly maxAttempts?: number;
  /** The line by which the critic accepts a draft. Default `ACCEPT`. A yes-or-no field of an object counts too. */
  readonly marker?: string;
  /** Returns the critic's prompt. By default it asks for the marker, or for what is wrong. */
  readonly ask?: (draft: string, task: string) => string;
  /** Returns the worker's prompt after a rejected draft. */
  readonly revise?: (task: string, draft: string, critique: string) => string;
  readonly name?: string;
}

/** How a reflection loop ended. */
export interface ReflectionOutcome extends AgentOutcome<string> {
  /** Whether the critic accepted the draft that became the answer. */
  readonly accepted: boolean;
  readonly attempts: number;
}

export interface ReflectionLoop extends Agent {
  run(...call: Parameters<Agent['run']>): Promise<ReflectionOutcome>;
}

/**
 * Lets a worker draft until a critic accepts. The last draft is the answer even if it was not accepted; check `accepted`.
 *
 * @throws SkeinError `SKEIN_DEFINITION` for a `maxAttempts` below 1, `SKEIN_USAGE` for options that do not exist
 * @example
 * const loop = reflectionLoop({ worker: writer, critic: editor, maxAttempts: 2 });
 * const { answer, accepted, attempts } = await loop.run('A line about rain.');
 */
export function reflectionLoop(options: ReflectionOptions): ReflectionLoop {
  checkOptions<ReflectionOptions>('reflectionLoop', options, {
    worker: 'an object',
    critic: 'an object',
    maxAttempts: 'a number',
    marker: 'text',
    ask: 'a function',
    revise: 'a function',
    name: 'text',
  });
  const { name = 'reflection', maxAttempts = 3 } = options;
  if (!Number.isSafeInteger(maxAttempts) || maxAttempts < 1)
    throw refusal('bad-attempts', 'maxAttempts must be a whole number from 1', 'maxAttempts: 3');
  const round = roundOf(options);
  const loop: LoopNode = {
    id: 'draft',
    kind: 'loop',
    plan: round.plan,
    inputs: { task: { channel: 'task' } },
    outputs: { draft: 'draft', accepted: 'accepted', attempts: 'attempts' },
    until: [{ op: 'cel', expression: 'accepted', vars: { accepted: { channel: 'accepted' } } }],
    carry: ['draft', 'critique', 'attempts'],
    maxRounds: maxAttempts,
    onMaxRounds: 'continue',
  };
  const { plan, bindings } = chainOf({
    name,
    inputs: [inputSpec('task', true)],
    nodes: [{ node: loop, bindings: innerBindings(loop.id, round.bindings) }],
  });
  const made = agentOf<string>({ kind: 'workflow', plan, bindings, taskParam: 'task', answerKey: 'draft' }, name);
  return tellingMore(made, ({ accepted, attempts }) => ({
    accepted: accepted === true,
    attempts: typeof attempts === 'number' ? attempts : 0,
  }));
}

function roundOf({ worker, critic, marker = 'ACCEPT', ask = asking(marker), revise = revising }: ReflectionOptions) {
  const assignment = (state: StateOf): string => {
    const { task, draft, critique } = state;
    return draft === undefined ? String(task) : revise(String(task), valueText(draft), valueText(critique));
  };
  const question = ({ draft, task }: StateOf): string => ask(valueText(draft), String(task));
  const verdict = ({ review, attempts }: StateOf): object => ({
    ...readVerdict(review, marker),
    attempts: (typeof attempts === 'number' ? attempts : 0) + 1,
  });
  return chainOf({
    name: 'round',
    inputs: [inputSpec('task', true), inputSpec('draft'), inputSpec('critique'), inputSpec('attempts')],
    nodes: [
      taskNode('assignment', madeOf(assignment, [revise])),
      agentNode(worker, { name: 'worker', taskParam: 'assignment' }).build('worker', 'draft'),
      taskNode('question', madeOf(question, [ask])),
      agentNode(critic, { name: 'critic', taskParam: 'question' }).build('critic', 'review'),
      taskNode('verdict', madeOf(verdict, [readVerdict, marker]), { writes: ['accepted', 'critique', 'attempts'] }),
    ],
  });
}

function asking(marker: string): (draft: string, task: string) => string {
  return madeOf(
    (draft: string, task: string) =>
      `Task:\n${task}\n\nDraft:\n${draft}\n\nIf the draft is good, answer with ${marker} on a line of its own. Otherwise say what is wrong with it.`,
    [marker],
  );
}

function revising(task: string, draft: string, critique: string): string {
  return `${task}\n\nYour draft was:\n${draft}\n\nIt was not accepted:\n${critique}\n\nWrite it again, better.`;
}

interface Verdict {
  readonly accepted: boolean;
  /** What to improve, as text. */
  readonly critique: string;
}

/** Keys of a structured verdict that hold yes or no. */
const YES_OR_NO = ['accepted', 'accept', 'approved', 'verdict', 'decision'] as const;
const WHY = ['critique', 'feedback', 'reason', 'comments'] as const;
const YES = new Set(['accept', 'accepted', 'approve', 'approved', 'yes', 'true']);

/**
 * Reads a critic's answer: an object (or JSON text) with a yes-or-no field, or a text with the marker on a line of its own. A marker within
 * a sentence, as in "DO NOT ACCEPT", does not accept.
 */
export function readVerdict(answer: unknown, marker: string): Verdict {
  const value = typeof answer === 'string' ? parseJsonText(answer) : answer;
  for (const key of YES_OR_NO) {
    const said = ownValue(value, key);
    if (typeof said !== 'boolean' && typeof said !== 'string') continue;
    const accepted = typeof said === 'boolean' ? said : YES.has(plain(said)) || plain(said) === plain(marker);
    return { accepted, critique: critiqueIn(value) ?? valueText(answer) };
  }
  const text = valueText(answer);
  return { accepted: text.split('\n').some((line) => plain(line) === plain(marker)), critique: text };
}

function critiqueIn(value: unknown): string | undefined {
  for (const key of WHY) {
    const said = ownValue(value, key);
    if (typeof said === 'string' && said !== '') return said;
  }
  return undefined;
}

/** Normalises a line: no case, no emphasis, no punctuation at its end. */
function plain(line: string): string {
  return withoutAtEnd(line.trim().replace(/^[*_`#>\s]+/, ''), '*_`.! \t\r\u00A0').toLowerCase();
}
