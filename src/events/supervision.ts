import type { Json } from '../base/json.js';
import { answeredText } from './question.js';

/**
 * A phase in which a model judges a step: of supervision, what is promised, how it went, what follows from that; of security, a call of a tool is screened, or
 * reviewed.
 */
export type Phase = 'commit' | 'post' | 'supervise' | 'screen' | 'review';

/** What is told of the supervision of a step. */
export type SupervisionNote =
  /** What the step promises, before its first attempt. */
  | { readonly kind: 'supervision.commit'; readonly commitment: Json }
  /** What is said of an attempt when it is done. */
  | { readonly kind: 'supervision.post'; readonly assessment: Json }
  /** What differs between promise and work; `escalate`: somebody judges it. */
  | { readonly kind: 'supervision.reconcile'; readonly triggers: readonly string[]; readonly escalate: boolean }
  /** What the supervisor says. */
  | { readonly kind: 'supervision.verdict'; readonly verdict: string; readonly reason: string }
  /** The attempt with this number begins, and is told the correction. What the attempt before it gave is void, and so is its text. */
  | { readonly kind: 'supervision.corrected'; readonly attempt: number; readonly correction: string }
  /** What the step gave counts. */
  | { readonly kind: 'supervision.accepted' }
  /** A person is asked to judge. */
  | { readonly kind: 'approval.requested'; readonly question: string }
  /** What was answered, and where: `terminal`, `command` (`skein answer`), `code` (the program), `script`. Absent: the record does not say. */
  | { readonly kind: 'approval.decided'; readonly verdict: 'approve' | 'revise' | 'reject'; readonly by?: string };

/** Whether a note is about the supervision of a step. */
export function isSupervisionNote<N extends { readonly kind: string }>(note: N): note is Extract<N, SupervisionNote> {
  return note.kind.startsWith('supervision.') || note.kind.startsWith('approval.');
}

/**
 * What the supervision of a step tells, in words. Texts of models and people are in it as they came.
 *
 * @example
 * supervisionText({ kind: 'supervision.verdict', verdict: 'halt', reason: 'no tests' }); // 'the supervisor says halt: no tests'
 */
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
