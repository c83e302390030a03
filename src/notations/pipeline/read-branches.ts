import type { Position } from '../../base/problem.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Findings } from '../../text/findings.js';
import { entryOf, type SourceNode } from '../../text/nodes.js';
import { checkName } from '../../text/names.js';
import { readFields, type Fields } from '../../text/shape.js';
import type { AgentStep, CaseDef, ConditionStep, JumpLimits, StepDef } from './definition.js';
import type { BlockIds } from './ids.js';
import { ANSWER, CASE, GOTO, JUMP_LIMITS } from './keys.js';
import { NO_POLICIES, readWhen } from './read-policies.js';
import type { OpenStep } from './step-types.js';

export interface ListPlace {
  /** Such as `steps`, `steps[2].false`. */
  readonly path: string;
  readonly depth: number;
  readonly ids: BlockIds;
  /** The prefix of positional ids in a branch, such as `cond_3_true`. */
  readonly branch: string | undefined;
  readonly ran: AgentsRun;
  /** True if the steps start together, so that none runs before another. */
  readonly beside: boolean;
}

/** The first step of a list that runs each agent, and the lists around it in the same block. */
interface AgentsRun {
  readonly here: Map<string, string>;
  readonly around: AgentsRun | undefined;
}

type ReadList = (list: SourceNode, place: ListPlace, findings: Findings) => readonly StepDef[];

/** Creates the state of a block's first list. */
export function nothingRan(): AgentsRun {
  return { here: new Map(), around: undefined };
}

export const NO_LIMITS: JumpLimits = { max: undefined, onLimit: 'fail' };

/** Reads the keys `max` and `on_limit` of a jump. Problem codes: those of the types. */
export function readLimits(fields: Fields): JumpLimits {
  const { max, on_limit: onLimit = 'fail' } = fields.values(GOTO);
  return { max, onLimit };
}

/** Reads the answers by which an agent chooses. Problem codes: those of names, `wrong-form`, `no-effect`, `empty-block`. */
export function readAnswers(step: OpenStep, place: ListPlace, read: ReadList): AgentStep['choose'] {
  const { fields } = step;
  return (fields.entries('choose') ?? []).flatMap(({ key: answer, value, at }) => {
    if (!checkName(answer, 'answer', at, fields.findings)) return [];
    const name = `answer ${quoteShort(answer)} of ${fields.name}`;
    const told = value.kind === 'map' ? readFields(value, { name, form: ANSWER }, fields.findings) : undefined;
    const written = told === undefined ? value : stepsOrJump(told, value);
    const steps = readWays({ written, key: answer, at: value.at }, step, place, read);
    return [{ answer, about: told?.text('about'), steps }];
  });
}

/** Returns the content of a map with either `steps` or a jump: the list, or the jump alone. */
function stepsOrJump(told: Fields, value: SourceNode): SourceNode | undefined {
  const limits = Object.keys(JUMP_LIMITS);
  if (!told.has('goto')) {
    for (const key of limits.filter((each) => told.has(each))) {
      const message = `${key} of ${told.name} has no effect without goto`;
      told.warning('no-effect', key, message, 'remove it, or write goto: ID');
    }
    return told.node('steps');
  }
  if (told.has('steps')) {
    const message = `${told.name} has both steps and goto`;
    told.findings.error('wrong-form', message, value.at, 'leave one of them out');
  }
  const entries = ['goto', ...limits].map((key) => entryOf(value, key)).filter((entry) => entry !== undefined);
  return { kind: 'map', entries, at: value.at };
}

/**
 * Reads a condition, with two branches or with cases. Problem codes: `empty-block`, `mixed-condition`, `missing-condition`, `wrong-type`,
 * and those of {@link readAnswers}.
 */
export function readCondition(step: OpenStep, place: ListPlace, read: ReadList): ConditionStep {
  const { fields, base } = step;
  if (fields.names('cases')) return readCases(step, place, read);
  if (fields.names('else')) {
    const message = `else of ${fields.name} belongs to cases`;
    fields.error('mixed-condition', 'else', message, 'write false: instead of it, or give cases instead of condition');
  }
  const condition = fields.scalar('condition');
  if (!fields.names('true') && !fields.names('false')) {
    const branches = 'add the steps of a branch under "true:", or "false: {goto: ID}"';
    const message = `workflow ${step.path}: condition step requires true or false`;
    fields.findings.error('empty-block', message, fields.at, branches);
  }
  const when = condition?.text.trim() === '' ? undefined : condition;
  const whenTrue: CaseDef = { when, steps: readBranch('true', step, place, read) };
  const otherwise = readBranch('false', step, place, read);
  return { type: 'condition', ...base, ...NO_POLICIES, cases: [whenTrue], otherwise };
}

function readCases(step: OpenStep, place: ListPlace, read: ReadList): ConditionStep {
  const { fields, base } = step;
  for (const key of ['condition', 'true', 'false'].filter((each) => fields.names(each))) {
    const message = `${fields.name} has both cases and ${key}`;
    const hint = 'a condition has two ways, true and false, or cases: [{when: ..., steps: [...]}] and else';
    fields.error('mixed-condition', key, message, hint);
  }
  const items = fields.items('cases', 'begin each case with "- when:"') ?? [];
  if (items.length === 0 && (!fields.has('cases') || fields.node('cases')?.kind === 'list')) {
    const message = `workflow ${step.path}: cases is empty`;
    fields.error('empty-block', 'cases', message, 'add - {when: CONDITION, steps: [...]}');
  }
  const cases = items.map((item, index) => readCase(item, index, step, { place, read }));
  return { type: 'condition', ...base, ...NO_POLICIES, cases, otherwise: readBranch('else', step, place, read) };
}

interface Branches {
  readonly place: ListPlace;
  readonly read: ReadList;
}

function readCase(item: SourceNode, index: number, step: OpenStep, { place, read }: Branches): CaseDef {
  const name = `case ${index + 1} of ${step.fields.name}`;
  const fields = readFields(item, { name, form: CASE }, step.fields.findings);
  if (fields === undefined) return { when: undefined, steps: [] };
  const when = readWhen(fields);
  if (!fields.has('when'))
    fields.needs(
      'when',
      'missing-condition',
      `${name} has no condition`,
      'add "when: CONDITION", or move its steps to else',
    );
  const way = { written: stepsOrJump(fields, item), key: `case_${index + 1}`, at: item.at };
  return { when, steps: readWays(way, step, place, read) };
}

function readBranch(
  branch: 'true' | 'false' | 'else',
  step: OpenStep,
  place: ListPlace,
  read: ReadList,
): readonly StepDef[] {
  const { fields } = step;
  if (!fields.names(branch)) return [];
  return readWays({ written: fields.node(branch), key: branch, at: fields.placeOf(branch) }, step, place, read);
}

interface Way {
  readonly written: SourceNode | undefined;
  readonly key: string;
  readonly at: Position;
}

function readWays({ written, key, at }: Way, step: OpenStep, place: ListPlace, read: ReadList): readonly StepDef[] {
  const { fields, base } = step;
  const path = `${step.path}.${key}`;
  if (written === undefined || (written.kind === 'list' && written.items.length === 0)) {
    const hint = 'add steps or goto: ID, or remove the key';
    fields.findings.error('empty-block', `workflow ${path}: the branch is empty`, at, hint);
    return [];
  }
  // A jump may stand alone, without a list around it.
  const isJumpAlone = written.kind === 'map' && entryOf(written, 'goto') !== undefined;
  const list: SourceNode = isJumpAlone ? { kind: 'list', items: [written], at: written.at } : written;
  const ran: AgentsRun = { here: new Map(), around: place.ran };
  const inner = { ...place, path, beside: false, depth: place.depth + 1, branch: `${base.id}_${key}`, ran };
  const steps = read(list, inner, fields.findings);
  warnOfRunsOnce(steps.at(-1), place.ran, fields.findings);
  return steps;
}

/** Warns about a branch that ends with an agent that ran before: it may be meant as a jump back, but runs the agent again. */
function warnOfRunsOnce(last: StepDef | undefined, ran: AgentsRun, findings: Findings): void {
  // With a prompt of its own, the step is a different task.
  if (last?.type !== 'agent' || last.agent === undefined || last.prompt !== undefined) return;
  const agent = last.agent.text;
  let before: AgentsRun | undefined = ran;
  while (before !== undefined && !before.here.has(agent)) before = before.around;
  const target = before?.here.get(agent);
  if (target === undefined) return;
  const message = `${last.label} runs ${agent} once more and continues with the next step`;
  const hint = `to loop back to the step ${target}, put goto: ${target} in its place`;
  findings.warning('runs-once', message, last.at, hint);
}
