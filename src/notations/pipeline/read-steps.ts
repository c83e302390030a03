import { quoteShort } from '../../lang/value-text.js';
import type { Findings } from '../../text/findings.js';
import { checkName } from '../../text/names.js';
import { describe, entryOf, isNothing, type SourceNode, type SourceScalar } from '../../text/nodes.js';
import { readFields } from '../../text/shape.js';
import { readAskKeys } from '../ask-keys.js';
import { readLoop } from '../loop-keys.js';
import { readMapKeys } from '../map-keys.js';
import { readConversation } from '../model-call-keys.js';
import { readSchema } from '../schema-key.js';
import { readCallKeys, readEnd, readRequire, readWaitKeys } from '../step-keys.js';
import { callBody, readToolStep } from '../tool-steps.js';
import { readSet } from '../values-key.js';
import type { AgentStep, GotoStep, ParallelStep, SequenceStep, StepDef } from './definition.js';
import { createIds, positionalId } from './ids.js';
import { STEP_FORMS, WORKFLOW, readContext, type WrittenType } from './keys.js';
import { NO_LIMITS, nothingRan, readAnswers, readCondition, readLimits, type ListPlace } from './read-branches.js';
import { NO_POLICIES, SHAPE, readLoops, readOnError, readPolicies, readWhen } from './read-policies.js';
import { OTHER_BODIES, checkRequired, typeOf, type OpenStep } from './step-types.js';

/** The maximum nesting of lists of steps, as plans within plans are bounded too. */
const DEEPEST = 40;

/**
 * Reads a list of steps that is a block: ids are unique in it, including the branches of its conditions. Problem codes: `missing-type`,
 * `missing-agent`, `missing-condition`, `missing-target`, `missing-over`, `missing-question`, `missing-file`, `empty-block`,
 * `mixed-condition`, `duplicate-step`, `runs-once`, `too-deep`, `unknown-value`, and those of ids, policies and types.
 */
export function readBlock(
  list: SourceNode,
  { path, depth, beside = false }: Pick<ListPlace, 'path' | 'depth'> & Partial<Pick<ListPlace, 'beside'>>,
  findings: Findings,
): readonly StepDef[] {
  return readList(list, { path, depth, beside, ids: createIds(list), branch: undefined, ran: nothingRan() }, findings);
}

function readList(list: SourceNode, place: ListPlace, findings: Findings): readonly StepDef[] {
  if (list.kind !== 'list') {
    const message = `workflow ${place.path}: expected a list of steps, not ${describe(list)}`;
    findings.error('wrong-type', message, list.at, 'begin each step with "- type: agent"');
    return [];
  }
  if (place.depth > DEEPEST) {
    const message = `workflow ${place.path}: steps are nested deeper than ${DEEPEST} levels`;
    findings.error('too-deep', message, list.at, 'put the inner steps into a file of their own, and call it');
    return [];
  }
  const steps: StepDef[] = [];
  list.items.forEach((item, index) => {
    const step = readStep(item, index, place.beside ? { ...place, ran: nothingRan() } : place, findings);
    if (step !== undefined) steps.push(step);
  });
  return steps;
}

function readStep(node: SourceNode, index: number, place: ListPlace, findings: Findings): StepDef | undefined {
  const path = `${place.path}[${index}]`;
  const call = callBody(node, { label: `workflow ${path}`, bodies: OTHER_BODIES }, findings);
  const type = call?.type ?? typeOf(node, path, findings);
  if (type === undefined) return undefined;
  const written = readId(node, path, findings);
  if (written !== undefined && place.ids.steps.has(written.text)) {
    const first = place.ids.steps.get(written.text);
    if (isJump(node, first, place)) return jumpTo(written, node, index, { ...place, path });
    reportDuplicate(written, first, place, findings);
    return undefined;
  }
  const kind = type === 'subworkflow' ? 'sequence' : type;
  const id = written?.text ?? place.ids.free(positionalId(kind, index + 1, place.branch), kind);
  const label = written === undefined ? path : `step ${quoteShort(id)}`;
  const form = STEP_FORMS[type];
  const fields = readFields(node, { name: label, form, silent: ['supervise', ...(call?.others ?? [])] }, findings);
  if (fields === undefined) return undefined;
  if (!Object.hasOwn(form.keys, 'supervise') && fields.names('supervise')) {
    const message = `supervise of ${label}: a step of the type ${type} can't be supervised`;
    fields.error('not-supported', 'supervise', message, 'remove the key, or put it on a step that does something');
  }
  place.ids.steps.set(id, undefined);
  const base = { id, idAt: written?.at ?? node.at, at: node.at, label };
  const open = { fields, path, base };
  checkRequired(type, open);
  const step = readBody(type, open, place);
  place.ids.steps.set(id, step);
  return step;
}

/** Reads the id of a step. Undefined if it is absent or invalid. */
function readId(node: SourceNode, path: string, findings: Findings): SourceScalar | undefined {
  const id = entryOf(node, 'id')?.value;
  if (id === undefined || isNothing(id)) return undefined;
  if (id.kind === 'scalar') return checkName(id.text, 'step id', id.at, findings) ? id : undefined;
  findings.error('wrong-type', `id of ${path} must be text, not ${describe(id)}`, id.at, 'write id: NAME');
  return undefined;
}

/** Whether a step is a jump: a step of a branch that only repeats the id and the agent of an earlier step continues there. */
function isJump(node: SourceNode, first: StepDef | undefined, place: ListPlace): boolean {
  if (place.branch === undefined || first?.type !== 'agent' || node.kind !== 'map') return false;
  const agent = entryOf(node, 'name')?.value;
  if (agent?.kind !== 'scalar' || agent.text !== first.agent?.text) return false;
  return node.entries.every(({ key }) => key === 'id' || key === 'type' || key === 'name');
}

function jumpTo(target: SourceScalar, node: SourceNode, index: number, place: ListPlace): GotoStep {
  const id = place.ids.free(positionalId('goto', index + 1, place.branch), 'goto');
  return { type: 'goto', id, idAt: node.at, at: node.at, label: place.path, ...NO_POLICIES, target, limits: NO_LIMITS };
}

function reportDuplicate(id: SourceScalar, first: StepDef | undefined, place: ListPlace, findings: Findings): void {
  const where = first === undefined ? 'the first one is around it' : `the first one is on line ${first.idAt.line}`;
  const hint = place.branch === undefined ? where : `${where}; to continue there write goto: ${id.text}`;
  findings.error('duplicate-step', `there are two steps with the id ${quoteShort(id.text)}`, id.at, hint);
}

function readBody(type: WrittenType, step: OpenStep, place: ListPlace): StepDef {
  const { fields, base } = step;
  switch (type) {
    case 'agent':
      return readAgentStep(step, place);
    case 'condition':
      return readCondition(step, place, readList);
    case 'parallel':
      return readParallel(step, readInner(type, step, place));
    case 'sequence':
      return {
        type,
        ...base,
        ...readPolicies(fields),
        steps: readInner(type, step, place),
        maxLoopIterations: undefined,
        isLast: false,
        context: undefined,
      };
    case 'subworkflow':
      return readSubworkflow(step, place);
    case 'goto':
      return { type, ...base, ...NO_POLICIES, target: fields.scalar('goto'), limits: readLimits(fields) };
    case 'loop':
      return { type, ...base, ...readPolicies(fields), loop: readLoop(fields), steps: readInner(type, step, place) };
    case 'map':
      return {
        type,
        ...base,
        ...readPolicies(fields),
        map: readMapKeys(fields),
        steps: readInner(type, step, place),
      };
    case 'ask':
      return { type, ...base, ...readFewPolicies(fields), ask: readAskKeys(fields) };
    case 'call':
      return {
        type,
        ...base,
        ...readPolicies(fields),
        call: readCallKeys(fields),
        prompt: fields.scalar('prompt'),
      };
    case 'end':
      return { type, ...base, ...NO_POLICIES, when: readWhen(fields), end: readEnd(fields) };
    case 'set':
      return { type, ...base, ...readFewPolicies(fields), values: readSet(fields) };
    case 'wait':
      return { type, ...base, ...readFewPolicies(fields), wait: readWaitKeys(fields) };
    case 'run':
    case 'tool':
      return { type, ...base, ...readPolicies(fields), tool: readToolStep(type, fields) };
  }
}

function readAgentStep(step: OpenStep, place: ListPlace): AgentStep {
  const { fields, base } = step;
  const { ran } = place;
  const name = fields.scalar('name');
  const agent = name?.text.trim() === '' ? undefined : name;
  if (agent !== undefined && !ran.here.has(agent.text)) ran.here.set(agent.text, base.id);
  return {
    type: 'agent',
    ...base,
    ...readPolicies(fields, 'agents'),
    agent,
    prompt: fields.scalar('prompt'),
    context: readContext(fields),
    schema: readSchema(fields),
    choose: readAnswers(step, place, readList),
    conversation: readConversation(fields),
  };
}

function readInner(
  type: 'parallel' | 'sequence' | 'loop' | 'map',
  step: OpenStep,
  place: ListPlace,
): readonly StepDef[] {
  const { fields } = step;
  const node = fields.node('steps');
  const path = `${step.path}.steps`;
  if (node !== undefined && !(node.kind === 'list' && node.items.length === 0)) {
    return readBlock(node, { path, depth: place.depth + 1, beside: type === 'parallel' }, fields.findings);
  }
  const message = `workflow ${step.path}: ${type} step requires steps`;
  const hint = 'add a list: steps: [{type: agent, name: AGENT}]';
  fields.error('empty-block', 'steps', message, hint);
  return [];
}

/** Reads a workflow within a step, in either form. */
function readSubworkflow(step: OpenStep, place: ListPlace): SequenceStep {
  const { fields, base } = step;
  const { findings } = fields;
  const path = `${step.path}.workflow`;
  const node = fields.node('workflow');
  const map = node?.kind === 'map' ? fields.fields('workflow', WORKFLOW) : undefined;
  const list = map === undefined ? node : map.node('steps');
  const isEmpty = list === undefined || (list.kind === 'list' && list.items.length === 0);
  if (isEmpty) {
    const message = `workflow ${step.path}: subworkflow step requires workflow`;
    const hint = 'add a list: workflow: [{type: agent, name: AGENT}]';
    findings.error('empty-block', message, map?.placeOf('steps') ?? fields.placeOf('workflow'), hint);
  } else if (list.kind !== 'list') {
    findings.error('wrong-type', `${path}: ${SHAPE}`, list.at, 'begin each step with "- type: agent"');
  }
  const inner = { path: map === undefined ? path : `${path}.steps`, depth: place.depth + 1 };
  return {
    type: 'sequence',
    ...base,
    ...readPolicies(fields),
    steps: isEmpty || list.kind !== 'list' ? [] : readBlock(list, inner, findings),
    maxLoopIterations: map === undefined ? undefined : readLoops(map),
    isLast: false,
    context: map === undefined ? undefined : readContext(map),
  };
}

function readParallel({ fields, base }: OpenStep, steps: readonly StepDef[]): ParallelStep {
  // Steps that are missing have a problem of their own.
  const require = readRequire(fields, { most: steps.length === 0 ? Infinity : steps.length, word: 'step' });
  return { type: 'parallel', ...base, ...readPolicies(fields), require, steps };
}

/** Reads the policies of a step that is never tried again. */
function readFewPolicies(fields: OpenStep['fields']): typeof NO_POLICIES {
  return { ...NO_POLICIES, when: readWhen(fields), onError: readOnError(fields) };
}
