import { present } from '../base/json.js';
import type { Position } from '../base/problem.js';
import type { Template } from '../lang/values.js';
import { MAX_REORIENTS, MOST_REORIENTS } from '../plan/supervision.js';
import type { Supervision } from '../plan/supervision.js';
import type { Findings } from '../text/findings.js';
import { either, flag, integer, map, text } from '../text/forms.js';
import type { SourceScalar } from '../text/nodes.js';
import { describe } from '../text/nodes.js';
import type { Fields } from '../text/shape.js';

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

/** The key `supervise` of a file, and of a step that is an agent. */
export const SUPERVISE = either([flag(''), PART], 'whether what agents do is judged before other steps see it');

/** The key `supervise` of a step that is no agent: it has no prompt that says what it promises. */
export const SUPERVISE_WHOLE = either(
  [{ ...flag(''), only: false }, WHOLE],
  'how what the step does as a whole is judged before other steps see it; false: nor is what its agents do',
);

/** A key `supervise`, as it was written. */
export interface SuperviseDef {
  readonly at: Position;
  /** Who judges, or nobody; absent: as around it. */
  readonly mode?: Supervision['by'] | 'nobody';
  readonly model?: SourceScalar;
  readonly maxReorients?: number;
  readonly instruction?: SourceScalar;
}

/** Reads the key `supervise`. Problem codes: `missing-instruction`, and those of the types. */
export function readSupervise(fields: Fields, of: 'agents' | 'whole' = 'agents'): SuperviseDef | undefined {
  const node = fields.node('supervise');
  if (node === undefined) return undefined;
  const called = `supervise${fields.name === '' ? '' : ` of ${fields.name}`}`;
  if (node.kind !== 'map') {
    const value = node.kind === 'scalar' ? node.value : undefined;
    if (typeof value !== 'boolean') {
      const isPerson = node.kind === 'scalar' && /^(?:human|person)$/i.test(node.text.trim());
      const hint = isPerson
        ? 'write supervise: {human: true}'
        : 'write supervise: true, or a map such as {human: true}';
      fields.error(
        'wrong-type',
        'supervise',
        `${called} must be true, false or a map (key: value), not ${describe(node)}`,
        hint,
      );
      return undefined;
    }
    if (value && of === 'whole') reportNoInstruction(fields, called);
    return { at: node.at, mode: value ? 'model' : 'nobody' };
  }
  const map = fields.section('supervise', of === 'whole' ? WHOLE : PART);
  const { human, max_reorients: maxReorients } = map.values(PART);
  const instruction = map.given('instruction');
  if (of === 'whole' && map.lacks('instruction')) reportNoInstruction(fields, called);
  const mode = human === undefined ? undefined : human ? ('human' as const) : ('model' as const);
  return present({ at: node.at, mode, model: map.given('model'), maxReorients, instruction });
}

function reportNoInstruction(fields: Fields, called: string): void {
  const message = `${called} needs an instruction: the step has no prompt that says what it promises`;
  fields.error('missing-instruction', 'supervise', message, 'write supervise: {instruction: TEXT}');
}

/** A step, as far as its supervision goes. */
interface Supervised {
  /** For messages: `step "a"`. */
  readonly label: string;
  readonly supervise?: SuperviseDef | undefined;
}

/**
 * What holds for an agent, or for what is inside of a step: what is said of it, and otherwise what holds around it. Nothing removes the gate of a person that
 * stands around it. Problem code: `human-gate`.
 */
export function supervisedUnder(
  { label, supervise: own }: Supervised,
  around: SuperviseDef | undefined,
  findings: Findings,
): SuperviseDef | undefined {
  if (own === undefined) return around;
  if (around?.mode === 'human' && (own.mode === 'nobody' || own.mode === 'model'))
    findings.error('human-gate', ...gateText(label, own.mode === 'nobody'), own.at, GATE_HINT);
  return own.mode === 'nobody' || around === undefined || around.mode === 'nobody' ? own : { ...around, ...own };
}

/** What is said of a step that would remove the gate of a person. */
export function gateText(label: string, optsOut: boolean): [message: string] {
  const what = optsOut ? 'opts out of the supervision by a person' : 'puts a model in place of the person';
  return [`${label} ${what} that holds around it`];
}

export const GATE_HINT = 'remove supervise from it, or write supervise: {human: true}';

/** What a node has of a supervision: the texts are those of its notation. */
export function supervision(
  def: SuperviseDef | undefined,
  texts: {
    readonly template: (text: SourceScalar) => Template;
    readonly model?: (text: SourceScalar) => string | undefined;
  },
): { readonly supervise?: Supervision; readonly unsupervised?: true } {
  if (def === undefined) return {};
  if (def.mode === 'nobody') return { unsupervised: true };
  const { mode: by = 'model', maxReorients } = def;
  const model = def.model && (texts.model === undefined ? def.model.text.trim() : texts.model(def.model));
  const instruction = def.instruction && texts.template(def.instruction);
  return { supervise: present({ instruction, by, model, maxReorients }) };
}
