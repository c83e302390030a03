import type { Envelope } from '../../plan/envelope.js';
import type { Template } from '../../lang/values.js';
import type { Supervision } from '../../plan/supervision.js';

/** How what a step did is judged. */
export interface SupervisionDescription extends Omit<Supervision, 'instruction'> {
  /** What is promised; absent: the prompt. */
  readonly instruction?: string;
  /** Who judges, and how often, in words. */
  readonly text: string;
}

/** A supervision for people; `preview` is a text with what is known already. */
export function supervisionDescription(
  { instruction, ...supervision }: Supervision,
  { text, preview }: { readonly text: string; readonly preview: (template: Template) => string },
): SupervisionDescription {
  return { ...supervision, ...(instruction === undefined ? {} : { instruction: preview(instruction) }), text };
}

/** Of the calls of models, those that are made because steps are supervised. */
export function supervisionCalls(whole: Envelope, without: Envelope): Envelope['modelCalls'] | undefined {
  const { typical, worst } = whole.modelCalls;
  const least = without.modelCalls;
  if (typical === least.typical) return undefined;
  const isBounded = typeof worst === 'number' && typeof least.worst === 'number';
  return { typical: typical - least.typical, worst: isBounded ? worst - least.worst : 'unbounded' };
}
