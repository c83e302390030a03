import { answeredText } from './question.js';

/** The trust level of a value, whether it must not be sent out, and its sources. */
export interface TrustFacts {
  readonly level: 'trusted' | 'vetted' | 'untrusted';
  readonly private: boolean;
  readonly sources: readonly string[];
  /** True if there are more sources than named. */
  readonly more?: true;
}

/** A call that was not simply made: the reason, the origin of its arguments, and the declaration that would allow it. */
export interface GuardedCallFacts extends TrustFacts {
  readonly tool: string;
  /** `ask`: a person decides. */
  readonly decision: 'ask' | 'deny';
  readonly rule: string;
  readonly why?: string;
  /** From the source through the steps to the argument. */
  readonly lineage: readonly string[];
  /** Suspicious patterns, words and encodings in the texts that influenced the call. They decide nothing. Absent if there are none. */
  readonly findings?: readonly string[];
  readonly declare?: string;
}

/** A note about the influence on a call or a step. */
export type TrustNote =
  /** A call that a person must allow, or that is refused. `id` is that of the call. */
  | (GuardedCallFacts & { readonly kind: 'guard.decided'; readonly id: string })
  /** The influence on a step, when it ended. Absent for steps that only the user influenced. */
  | (TrustFacts & { readonly kind: 'guard.label' })
  /** The result of a step is vetted from here on. The facts are those from before. */
  | (TrustFacts & { readonly kind: 'guard.endorsed'; readonly endorsedBy: Endorser });

/** Who endorsed the result of a step: a person all of it, or a schema. */
export type Endorser = 'person' | 'schema';

/** A result that was endorsed, as recorded. The facts are those from before. */
export interface Endorsement extends TrustFacts {
  readonly at: number;
  readonly path: string;
  readonly endorsedBy: Endorser;
  /** Where the person's endorsement came from. */
  readonly by?: string;
}

export function isTrustNote<N extends { readonly kind: string }>(note: N): note is Extract<N, TrustNote> {
  return note.kind === 'guard.decided' || note.kind === 'guard.label' || note.kind === 'guard.endorsed';
}

/** The recorded decision about a call of a run. */
export interface DecidedCall extends GuardedCallFacts {
  readonly at: number;
  readonly path: string;
  /** The person's answer. Absent if nobody was asked or has answered yet. */
  readonly answer?: string;
  /** Where the answer came from. */
  readonly by?: string;
}

/** Describes the decision about a call: `asked, allowed by skein answer`. */
export function decidedText({ decision, answer, by }: Pick<DecidedCall, 'decision' | 'answer' | 'by'>): string {
  if (decision === 'deny') return 'denied';
  if (answer === undefined) return 'asked';
  return `asked, ${answer === 'deny' ? 'refused' : 'allowed'} ${answeredText(by)}`;
}

/** Describes who endorsed a result: `by a person, by skein answer`. */
export function endorserText({ endorsedBy, by }: Pick<Endorsement, 'endorsedBy' | 'by'>): string {
  if (endorsedBy === 'schema') return 'by its schema';
  return by === undefined ? 'by a person' : `by a person, ${answeredText(by)}`;
}

/** Describes a label: `untrusted, private`. */
export function trustText({ level, private: isPrivate }: TrustFacts): string {
  return isPrivate ? `${level}, private` : level;
}

export function sourcesText({ sources, more }: TrustFacts): string {
  return [...sources, ...(more === true ? ['and more'] : [])].join(', ');
}
