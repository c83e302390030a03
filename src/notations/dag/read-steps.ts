import { parseDuration } from '../../base/duration.js';
import type { Json } from '../../base/json.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Findings } from '../../text/findings.js';
import { entryOf, type SourceNode } from '../../text/nodes.js';
import { readFields, type Fields } from '../../text/shape.js';
import { readAskKeys } from '../ask-keys.js';
import { readBudgetKey } from '../budget-key.js';
import { readCallKeys, readEnd, readWaitKeys } from '../step-keys.js';
import { readSecurityKey } from '../security-key.js';
import { readLoop } from '../loop-keys.js';
import { readMapKeys } from '../map-keys.js';
import { readConversation } from '../model-call-keys.js';
import { readSchema } from '../schema-key.js';
import { readSet, schemaOfValues } from '../values-key.js';
import { callBody, outputSchema, readToolStep } from '../tool-steps.js';
import { readSupervise } from '../supervise-key.js';
import { readAnswers } from './choices.js';
import { NO_TYPE, type ConditionDef, type OfType, type StepDef } from './definition.js';
import { LAST_ID, lastStep } from './last-steps.js';
import { checkName } from '../../text/names.js';
import { CONDITION, STEP, STEP_FORMS } from './keys.js';
import { readModels } from './read-agent.js';

/** The longest delay of a timer: 24.8 days. */
const MAX_TIMEOUT_MS = 2_147_483_647;

/** The maximum nesting of loops and maps, as plans within plans are bounded too. */
const DEEPEST = 40;

interface ListPlace {
  readonly owner: string;
  readonly depth: number;
  readonly lines: Map<string, number>;
  readonly key: 'steps' | 'finally';
}

/**
 * Reads the list `steps` of a workflow file. Problem codes: `no-steps`, `missing-id`, `duplicate-step`, `missing-agent`,
 * `missing-prompt`, `bad-duration`, `no-effect`, `too-deep`, those of {@link checkName} and of {@link readLoop}.
 */
export function readSteps(root: Fields): readonly StepDef[] {
  const lines = new Map<string, number>();
  const steps = readList(root, { owner: 'the workflow', depth: 0, lines, key: 'steps' });
  if (root.filled('finally') === undefined) return steps;
  const id = lines.get(LAST_ID);
  if (id !== undefined) {
    const message = `a step has the id ${quoteShort(LAST_ID)}, as the steps under finally do`;
    root.error('duplicate-step', 'finally', message, `give the step on line ${id} another id`);
    return steps;
  }
  const inner = readList(root, { owner: LAST_ID, depth: 1, lines, key: 'finally' });
  return [...steps, ...lastStep(inner, steps)];
}

function readList(root: Fields, place: ListPlace): readonly StepDef[] {
  const { findings } = root;
  const { key } = place;
  const node = root.node(key);
  if (node === undefined && root.isMisspelt(key)) return [];
  if (node === undefined || (node.kind === 'list' && node.items.length === 0)) {
    const hint = `add a list: ${key}: [{id: ..., agent: ..., prompt: ...}]`;
    root.error('no-steps', key, `${place.owner} has no steps`, hint);
    return [];
  }
  if (node.kind !== 'list') {
    findings.error('wrong-type', `${key} must be a list`, node.at, 'begin each step with "- id: NAME"');
    return [];
  }
  if (place.depth > DEEPEST) {
    const message = `${place.owner} is nested deeper than ${DEEPEST} levels`;
    findings.error('too-deep', message, node.at, 'put the inner steps into a workflow of their own');
    return [];
  }
  const steps: StepDef[] = [];
  const { lines } = place;
  node.items.forEach((item, index) => {
    const step = readStep(item, index + 1, place, findings);
    if (step === undefined) return;
    const first = lines.get(step.id);
    if (step.id !== '' && first !== undefined) {
      const hint = `the first one is on line ${first}`;
      findings.error('duplicate-step', `there are two steps with the id ${quoteShort(step.id)}`, step.at, hint);
      // The step is still checked, but its id stays with the first step that has it.
      steps.push({ ...step, id: '' });
      return;
    }
    if (step.id !== '') lines.set(step.id, step.at.line);
    steps.push(step);
  });
  return steps;
}

/** Reads the type of a step. Problem codes: `unknown-value`. */
function typeOf(node: SourceNode, label: string, findings: Findings): keyof typeof STEP_FORMS {
  const written = entryOf(node, 'type')?.value;
  if (written?.kind !== 'scalar' || written.text.trim() === '' || written.value === null) return 'agent';
  const known = Object.keys(STEP_FORMS) as (keyof typeof STEP_FORMS)[];
  const word = written.text.toLowerCase();
  const found = known.find((type) => type === word);
  if (found !== undefined) return found;
  const hint = findings.near(word, known) ?? `write one of: ${known.join(', ')}`;
  findings.error('unknown-value', `type of ${label} is ${quoteShort(written.text)}`, written.at, hint);
  return 'agent';
}

function readStep(node: SourceNode, number: number, place: ListPlace, findings: Findings): StepDef | undefined {
  const idNode = entryOf(node, 'id')?.value;
  const id = idNode?.kind === 'scalar' ? idNode.text : '';
  const label = id === '' ? `step ${number}` : `step ${quoteShort(id)}`;
  const body = callBody(node, { label, bodies: OTHER_BODIES }, findings);
  const type = body?.type ?? typeOf(node, label, findings);
  const fields = readFields(node, { name: label, form: STEP_FORMS[type], silent: body?.others ?? [] }, findings);
  if (fields === undefined) return undefined;
  checkId(id, fields);
  if (type === 'agent') checkAgent(fields, label);
  const own = readType(type, fields, label, place);
  return {
    id,
    label,
    at: fields.placeOf('id'),
    ...NO_TYPE,
    ...own,
    agent: fields.lacks('agent') ? undefined : fields.scalar('agent'),
    prompt: fields.scalar('prompt'),
    schema: schemaOfStep(own, fields),
    dependsOn: fields.texts('depends_on') ?? [],
    condition: readCondition(fields, label),
    skills: fields.texts('skills') ?? [],
    keys: fields.values(STEP),
    timeoutMs: readTimeout(fields, label),
    supervise: readSupervise(fields, type === 'agent' ? 'agents' : 'whole'),
    budget: readBudgetKey(fields, 'step'),
    security: readSecurityKey(fields),
    models: readModels(fields, `model of ${label}`),
    extraDirs: fields.texts('extra_dirs') ?? [],
    choose: readAnswers(fields, label),
    conversation: readConversation(fields),
  };
}

function readType(type: keyof typeof STEP_FORMS, fields: Fields, label: string, place: ListPlace): Partial<OfType> {
  switch (type) {
    case 'agent':
      return {};
    case 'loop':
      return { loop: { ...readLoop(fields), steps: readInner(fields, label, place) } };
    case 'map':
      return { map: { ...readMapKeys(fields), steps: readInner(fields, label, place) } };
    case 'ask':
      return { ask: readAskKeys(fields) };
    case 'call':
      return { call: readCallKeys(fields) };
    case 'wait':
      return { wait: readWaitKeys(fields) };
    case 'end':
      return { end: readEnd(fields) };
    case 'set':
      return { set: readSet(fields) };
    case 'run':
    case 'tool':
      return { tool: readToolStep(type, fields) };
  }
}

function schemaOfStep({ tool, set }: Partial<OfType>, fields: Fields): Json | undefined {
  if (set !== undefined) return schemaOfValues(set);
  return tool === undefined ? readSchema(fields) : outputSchema(tool);
}

/** Keys that mark steps of other types, in addition to `run` and `tool`. */
const OTHER_BODIES = ['agent', 'prompt', 'steps', 'over', 'question', 'file', 'until', 'values'];

function checkId(id: string, fields: Fields): void {
  if (id !== '') checkName(id, 'step id', fields.placeOf('id'), fields.findings);
  else if (fields.scalar('id') !== undefined || fields.lacks('id'))
    fields.error('missing-id', 'id', `${fields.name} has no id`, 'add "id: NAME"');
}

function checkAgent(fields: Fields, label: string): void {
  fields.needs('agent', 'missing-agent', `${label} names no agent`, 'add "agent: NAME"');
  fields.needs('prompt', 'missing-prompt', `${label} has no prompt`, 'add "prompt: TEXT"');
}

function readInner(fields: Fields, owner: string, { depth, lines }: ListPlace): readonly StepDef[] {
  return readList(fields, { owner, depth: depth + 1, lines, key: 'steps' });
}

function readTimeout(fields: Fields, label: string): number | undefined {
  const text = fields.given('timeout')?.text;
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0 && ms <= MAX_TIMEOUT_MS) return ms;
  const hint =
    /^\d+$/.test(text) && Number(text) > 0 ? `write ${text}s for seconds` : 'write 90s, 10m or 1h30m; at most 24 days';
  fields.error('bad-duration', 'timeout', `timeout of ${label} is ${quoteShort(text)}`, hint);
  return undefined;
}

function readCondition(step: Fields, label: string): ConditionDef | undefined {
  const fields = step.fields('condition', CONDITION);
  if (fields === undefined) return undefined;
  const texts: ConditionDef['texts'][number][] = [];
  for (const op of ['contains', 'not_contains', 'equals'] as const) {
    const operand = fields.scalar(op);
    if (operand === undefined) continue;
    if (operand.text !== '') texts.push({ op, operand });
    else fields.warning('no-effect', op, `${op} "" of ${label} always holds`, 'remove it, or give a text');
  }
  const matchesJson = fields.node('matches_json');
  const cel = fields.given('cel');
  const operators = Object.keys(CONDITION.keys).filter((key) => key !== 'step');
  if (!operators.some((key) => fields.has(key))) {
    const hint = `add one of: ${operators.join(', ')}`;
    fields.findings.warning(
      'no-effect',
      `the condition of ${label} compares nothing and always holds`,
      fields.at,
      hint,
    );
  }
  return { at: fields.at, step: fields.given('step'), texts, matchesJson, cel };
}
