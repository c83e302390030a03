import { checkOptions } from '../base/options.js';
import { SkeinError } from '../base/errors.js';
import type { Supervisor, Assessment, Commitment, Reconciled } from '../plan/supervision.js';

/** The model of a supervisor. */
export interface SupervisorOptions {
  /** `provider/model`. Defaults to the model of the step. */
  readonly model?: string;
}

/** The methods that represent a model, and the model's name. */
const ASKED = new WeakMap<Supervisor['supervise'], string | undefined>();

/**
 * The supervisor that consults a model if commitment and work differ: an option of a run or node. You can replace each method.
 *
 * @throws SkeinError `SKEIN_USAGE` for a model without a name, and for options that do not exist
 * @example
 * const { result } = run(workflow, { supervisor: supervisor({ model: 'openai/gpt-5' }) });
 * @example
 * const reconcile = (_: Commitment, { concerns }: Assessment) => ({ triggers: concerns, escalate: concerns.length > 1 });
 * run(workflow, { supervisor: { ...supervisor(), reconcile } });
 */
export function supervisor(options: SupervisorOptions = {}): Supervisor {
  checkOptions<SupervisorOptions>('supervisor', options, { model: 'text' });
  const { model } = options;
  if (model !== undefined && (typeof model !== 'string' || model.trim() === ''))
    throw new SkeinError('SKEIN_USAGE', 'the model of a supervisor must be the name of a model', {
      hint: "supervisor({ model: 'openai/gpt-5' }), or supervisor() for the model of the step",
    });
  const supervise = askOutsideOfRun.bind(undefined);
  ASKED.set(supervise, model);
  return { reconcile, supervise };
}

/** A placeholder: the run calls the model itself. */
function askOutsideOfRun(): never {
  throw new SkeinError('SKEIN_USAGE', 'this supervisor asks a model, which only a run can do', {
    hint: 'pass it to a run: run(workflow, { supervisor: supervisor({ model }) })',
  });
}

/** The model of a supervisor; undefined if the supervisor is code. */
export function modelBehind({ supervise }: Supervisor): { readonly model: string | undefined } | undefined {
  return ASKED.has(supervise) ? { model: ASKED.get(supervise) } : undefined;
}

/** Compares commitment and work, as the step's own assessment describes them. Any difference leads to a verdict. */
export function reconcile(_commitment: Commitment, assessment: Assessment): Reconciled {
  const { metCommitment, deviations, concerns, unexpected } = assessment;
  const triggers = [
    ...(metCommitment ? [] : ['commitment_not_met']),
    ...named('deviation', deviations),
    ...named('concern', concerns),
    ...named('unexpected', unexpected),
  ];
  return { triggers, escalate: triggers.length > 0 };
}

function named(name: string, texts: readonly string[]): readonly string[] {
  return texts.filter((text) => text.trim() !== '').map((text) => `${name}:${text}`);
}
