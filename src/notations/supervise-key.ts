import { present } from '../base/json.js';
import type { Position } from '../base/problem.js';
import type { Template } from '../lang/values.js';
import type { NodeBase, Plan } from '../plan/plan.js';
import { MAX_REORIENTS, MOST_REORIENTS } from '../plan/supervision.js';
import { either, flag, integer, map, text } from '../text/forms.js';
import { describe, type SourceScalar } from '../text/nodes.js';
import type { Fields } from '../text/shape.js';
import { gateProblem, superviseInside, supervisedUnder, type Said } from '../plan/inherited-supervision.js';
import { quoteShort } from '../lang/value-text.js';

const KEYS = {
  human: flag('a person judges every result; otherwise a model judges what was not done as promised', {
    default: false,
  }),
  model: text('the model that judges, such as openai/gpt-5-mini; by default that of the agent'),
  max_reorients: integer('corrections at most; then a person is asked', {
    min: 0,
    max: MOST_REORIENTS,
    default: MAX_REORIENTS,
  }),
  instruction: text('what is promised; by default the prompt of the step'),
} as const;

const PART = map(KEYS, '');
const WHOLE = map({ ...KEYS, instruction: text('what is promised', { needed: true }) }, '');

export const SUPERVISE = either([flag(''), PART], 'whether what agents do is judged before other steps see it');

/** The key `supervise` of a step that is not an agent. Such a step has no prompt that states what it promises. */
export const SUPERVISE_WHOLE = either(
  [{ ...flag(''), only: false }, WHOLE],
  'how what the step does as a whole is judged before other steps see it; false: nor is what its agents do',
);

export interface SuperviseDef extends Said {
  readonly at: Position;
  readonly model?: SourceScalar;
  readonly maxReorients?: number;
  readonly instruction?: SourceScalar;
}

/** Reads the key `supervise`. Problem codes: `missing-instruction`, and those of the types. */
export function readSupervise(fields: Fields, of: 'agents' | 'whole' = 'agents'): SuperviseDef | undefined {
  const node = fields.node('supervise');
  if (node === undefined) return undefined;
  const called = fields.called('supervise');
  if (node.kind === 'scalar' && typeof node.value === 'boolean') {
    if (node.value && of === 'whole') reportNoInstruction(fields, called);
    return { at: node.at, mode: node.value ? 'model' : 'nobody' };
  }
  if (node.kind !== 'map') {
    const isPerson = node.kind === 'scalar' && /^(?:human|person)$/i.test(node.text.trim());
    const hint = isPerson ? 'write supervise: {human: true}' : 'write supervise: true, or a map such as {human: true}';
    const message = `${called} must be true, false or a map (key: value), not ${describe(node)}`;
    fields.error('wrong-type', 'supervise', message, hint);
    return undefined;
  }
  const keys = fields.section('supervise', of === 'whole' ? WHOLE : PART);
  const { human, max_reorients: maxReorients } = keys.values(PART);
  if (of === 'whole' && keys.lacks('instruction')) reportNoInstruction(fields, called);
  const mode = human === undefined ? undefined : human ? ('human' as const) : ('model' as const);
  return present({
    at: node.at,
    mode,
    model: keys.given('model'),
    maxReorients,
    instruction: keys.given('instruction'),
  });
}

function reportNoInstruction(fields: Fields, called: string): void {
  const message = `${called} needs an instruction: the step has no prompt that says what it promises`;
  fields.error('missing-instruction', 'supervise', message, 'write supervise: {instruction: TEXT}');
}

export const GATE_HINT = 'remove supervise from it, or write supervise: {human: true}';

/** Returns the supervision in effect for a step. Problem code: `human-gate`. */
export function supervisionOf(
  step: { readonly label: string; readonly supervise: SuperviseDef | undefined },
  around: SuperviseDef | undefined,
  findings: Fields['findings'],
): SuperviseDef | undefined {
  return supervisedUnder(step.supervise, around, (optsOut) => {
    const { message, hint } = gateProblem(step.label, optsOut, GATE_HINT);
    findings.error('human-gate', message, step.supervise?.at, hint);
  });
}

/** Returns the supervision of a step that contains others: only its own `supervise` counts, with defaults from around it. */
export function supervisionOfWhole(
  step: { readonly label: string; readonly supervise: SuperviseDef | undefined },
  around: SuperviseDef | undefined,
  findings: Fields['findings'],
): SuperviseDef | undefined {
  const own = step.supervise;
  if (own?.mode === 'nobody') return supervisionOf(step, around, findings);
  if (own === undefined || around === undefined) return own;
  return { ...present({ model: around.model, maxReorients: around.maxReorients }), ...own };
}

interface Reading {
  readonly template: (text: SourceScalar) => Template;
  readonly model?: (text: SourceScalar) => string | undefined;
}

export function supervisionFields(
  def: SuperviseDef | undefined,
  { template, model: modelOf = ({ text: name }) => name.trim() }: Reading,
): Pick<NodeBase, 'supervise' | 'unsupervised'> {
  if (def === undefined) return {};
  if (def.mode === 'nobody') return { unsupervised: true };
  const { mode: by = 'model', maxReorients } = def;
  const model = def.model && modelOf(def.model);
  const instruction = def.instruction && template(def.instruction);
  return { supervise: present({ instruction, by, model, maxReorients }) };
}

/** Returns the plan of a called file with the supervision around the calling step. Problem code: `human-gate`. */
export function supervisedFile(
  plan: Plan,
  step: { readonly label: string; readonly at: Position },
  {
    around,
    model,
    findings,
  }: { readonly around: SuperviseDef | undefined } & Pick<Reading, 'model'> & Pick<Fields, 'findings'>,
): Plan {
  if (around === undefined || around.mode === 'nobody') return plan;
  // An instruction refers to texts of the calling file, so it is not passed on.
  const { instruction: _, ...inside } = around;
  const { supervise } = supervisionFields(inside, { template: () => [], ...present({ model }) });
  if (supervise === undefined) return plan;
  return superviseInside(plan, supervise, {
    removesGate: (node, path) => {
      const label = `step ${quoteShort(path.join('/'))} of the file that ${step.label} calls`;
      const { message, hint } = gateProblem(label, node.unsupervised === true, GATE_HINT);
      findings.error('human-gate', message, node.at ?? step.at, hint);
    },
  });
}
