import { isPlainObject, ownValue, present } from '../../base/json.js';
import { refusal, type Problem } from '../../base/problem.js';
import { didYouMean } from '../../base/suggest.js';
import { TextReader } from '../../plan/builder.js';
import type { TextInput } from '../../plan/builder-input.js';
import { isAgentNode } from '../../plan/nodes.js';
import type { NodeBase, PlanNode } from '../../plan/plan.js';
import { superviseInside, gateProblem, supervisedUnder, type Said } from '../../plan/inherited-supervision.js';
import {
  MOST_REORIENTS,
  isSupervisor,
  supervisorKey,
  type Supervision,
  type Supervisor,
} from '../../plan/supervision.js';
import type { BuiltNode } from './nodes/planned.js';

/** How a node's result is judged before anything sees it. Absent options default to those of the enclosing graph. */
export interface SuperviseOptions {
  /** Whether a person judges every result. Default: a model judges deviations from what was promised. */
  readonly human?: boolean;
  /** The model that judges, `provider/model`. Default: that of the agent, else that of the environment. */
  readonly model?: string;
  /** Maximum number of corrections before a person is asked. Default 1. */
  readonly maxReorients?: number;
  /** What is promised, with `{{ key }}` for values of the state. Default: the agent's prompt. Required for other nodes. */
  readonly instruction?: TextInput;
  /** Judges instead of the model. */
  readonly supervisor?: Supervisor;
}

/** `true`: a model judges. `false`: supervision from outside applies neither to the node nor to the agents inside it. */
export type SuperviseInput = boolean | SuperviseOptions;

interface SaidInCode extends Said, Omit<Supervision, 'by' | 'supervisor'> {
  readonly supervisor?: Supervisor;
}

const OPTIONS: Readonly<
  Record<keyof SuperviseOptions, readonly [is: (value: unknown) => boolean, must: string, hint: string]>
> = {
  human: [(value) => typeof value === 'boolean', 'must be true or false', 'human: true'],
  model: [
    (value) => typeof value === 'string' && value.includes('/'),
    'must be provider/model',
    "model: 'openai/gpt-5-mini'",
  ],
  maxReorients: [isCount, `must be a whole number from 0 to ${MOST_REORIENTS}`, 'maxReorients: 2'],
  instruction: [
    (value) => typeof value === 'string' || Array.isArray(value),
    'must be text',
    "instruction: 'Summarise {{ notes }}'",
  ],
  supervisor: [
    isSupervisor,
    'needs the methods reconcile and supervise, and a timeoutMs above 0 or none',
    'supervisor: { reconcile, supervise }',
  ],
};

/** @throws SkeinError `SKEIN_DEFINITION` (`bad-supervision`) */
export function readSupervise(owner: string, input: unknown): SaidInCode | undefined {
  if (input === undefined) return undefined;
  if (typeof input === 'boolean') return { mode: input ? 'model' : 'nobody' };
  checkOptions(owner, input);
  const { human, model, maxReorients, instruction, supervisor } = input;
  const template = instruction === undefined ? undefined : TEXTS.template(instruction);
  const mode = human === undefined ? undefined : human ? ('human' as const) : ('model' as const);
  return present({ mode, model, maxReorients, instruction: template, supervisor });
}

/** Names in braces are keys of the state, optionally followed by a path. */
const TEXTS = new TextReader(new Set());

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_REORIENTS;
}

function checkOptions(owner: string, input: unknown): asserts input is SuperviseOptions {
  const wrong = (what: string, hint: string): Error =>
    refusal('bad-supervision', `supervise of ${owner}: ${what}`, hint);
  if (!isPlainObject(input)) throw wrong('it must be true, false or options', 'supervise: { human: true }');
  const known = Object.keys(OPTIONS);
  for (const [name, value] of Object.entries(input)) {
    const option = ownValue(OPTIONS, name) as (typeof OPTIONS)['human'] | undefined;
    if (option === undefined) {
      const hint = didYouMean(name, known) ?? `options are: ${known.join(', ')}`;
      throw wrong(`there is no option ${JSON.stringify(name)}`, hint);
    }
    const [is, must, hint] = option;
    if (value !== undefined && !is(value)) throw wrong(`${name} ${must}`, hint);
  }
}

interface Place {
  readonly around: SaidInCode | undefined;
  readonly problems: Problem[];
}

/** Adds supervision to a node: its own, or for an agent that of the graph. Agents inside the node get that of the graph. */
export function supervisedNode(built: BuiltNode, input: unknown, { around, problems }: Place): BuiltNode {
  const { node } = built;
  const own = readSupervise(`the node ${JSON.stringify(node.id)}`, input);
  const bindings: Record<string, unknown> = { ...built.bindings };
  const removesGate = (name: string, optsOut: boolean): void => {
    problems.push({ code: 'human-gate', severity: 'error', ...gateProblem(`the node "${name}"`, optsOut, GATE_HINT) });
  };
  const isAlone = isAgentNode(node) || own?.mode === 'nobody';
  const said = isAlone
    ? supervisedUnder(own, around, (optsOut) => removesGate(node.id, optsOut))
    : asWhole(own, around);
  const ofNode = dataOf(said, (supervisor) => (bindings[supervisorKey(node.id)] = supervisor));
  const whole: PlanNode = { ...node, ...ofNode };
  if (!('plan' in whole) || ofNode.unsupervised === true || around === undefined || around.mode === 'nobody')
    return { ...built, node: whole, bindings };
  const { instruction: _, ...inside } = around;
  const { supervise = { by: 'model' as const } } = dataOf(inside, () => undefined);
  const plan = superviseInside(whole.plan, supervise, {
    supervised: (path) => {
      const place = [node.id, ...path.slice(0, -1), supervisorKey(path.at(-1) ?? '')].join('/');
      if (inside.supervisor !== undefined) bindings[place] = inside.supervisor;
    },
    removesGate: (inner, path) => removesGate([node.id, ...path].join('/'), inner.unsupervised === true),
  });
  return { ...built, node: { ...whole, plan }, bindings };
}

const GATE_HINT = 'remove supervise from it, or give it { human: true }';

/** Returns the supervision of a node that is not an agent: only its own counts, with defaults from the graph. */
function asWhole(own: SaidInCode | undefined, around: SaidInCode | undefined): SaidInCode | undefined {
  if (own === undefined || around === undefined) return own;
  const { mode: _mode, instruction: _instruction, ...shared } = around;
  return { ...shared, ...own };
}

function dataOf(
  said: SaidInCode | undefined,
  bind: (supervisor: Supervisor) => void,
): Pick<NodeBase, 'supervise' | 'unsupervised'> {
  if (said === undefined) return {};
  const { mode: by = 'model', supervisor, ...rest } = said;
  if (by === 'nobody') return { unsupervised: true };
  if (supervisor === undefined) return { supervise: { ...rest, by } };
  bind(supervisor);
  return { supervise: { ...rest, by, supervisor: 'code' } };
}
