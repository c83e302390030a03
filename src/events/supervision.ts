import type { Json } from '../base/json.js';
import { answeredText } from './question.js';

/**
 * A phase in which a model judges a step. Supervision: the promise, the assessment of the work, the verdict. Security: the screening or
 * review of a tool call.
 */
export type Phase = 'commit' | 'post' | 'supervise' | 'screen' | 'review';

/** A note about the supervision of a step. */
export type SupervisionNote =
  /** The promise of the step, before its first attempt. */
  | { readonly kind: 'supervision.commit'; readonly commitment: Json }
  /** The assessment of a finished attempt. */
  | { readonly kind: 'supervision.post'; readonly assessment: Json }
  /** The differences between promise and work. `escalate`: a supervisor judges them. */
  | { readonly kind: 'supervision.reconcile'; readonly triggers: readonly string[]; readonly escalate: boolean }
  /** The verdict of the supervisor. */
  | { readonly kind: 'supervision.verdict'; readonly verdict: string; readonly reason: string }
  /** The attempt with this number begins with the correction. The result and the text of the attempt before it are void. */
  | { readonly kind: 'supervision.corrected'; readonly attempt: number; readonly correction: string }
  /** The result of the step counts. */
  | { readonly kind: 'supervision.accepted' }
  /** A person is asked to judge. */
  | { readonly kind: 'approval.requested'; readonly question: string }
  /** The answer and its origin: `terminal`, `command` (`skein answer`), `code` (the program), `script`. Absent if not recorded. */
  | { readonly kind: 'approval.decided'; readonly verdict: 'approve' | 'revise' | 'reject'; readonly by?: string };

export function isSupervisionNote<N extends { readonly kind: string }>(note: N): note is Extract<N, SupervisionNote> {
  return note.kind.startsWith('supervision.') || note.kind.startsWith('approval.');
}

/** Describes a supervision note: `the supervisor says halt: no tests`. Texts of models and people appear unchanged. */
export function supervisionText(note: SupervisionNote): string {
  switch (note.kind) {
    case 'supervision.commit':
      return `promises: ${JSON.stringify(note.commitment)}`;
    case 'supervision.post':
      return `says of its work: ${JSON.stringify(note.assessment)}`;
    case 'supervision.reconcile':
      return note.triggers.length === 0 ? 'did what it promised' : `differs: ${note.triggers.join('; ')}`;
    case 'supervision.verdict':
      return `the supervisor says ${note.verdict}${note.reason === '' ? '' : `: ${note.reason}`}`;
    case 'supervision.corrected':
      return `is not accepted; attempt ${note.attempt} gets the correction: ${note.correction}`;
    case 'supervision.accepted':
      return 'is accepted';
    case 'approval.requested':
      return `asks a person: ${note.question}`;
    case 'approval.decided':
      return `is decided ${answeredText(note.by)}: ${note.verdict}`;
  }
}
