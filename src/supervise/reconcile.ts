import type { Assessment, Commitment, Reconciled } from '../plan/supervision.js';

/** What differs between promise and work, as the work itself is assessed. Anything that differs is to be judged. */
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
