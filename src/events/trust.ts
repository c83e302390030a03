import { answeredText } from './question.js';

/** How far something is vouched for, whether it must not leave, and where it comes from. */
export interface TrustFacts {
  readonly level: 'trusted' | 'vetted' | 'untrusted';
  readonly private: boolean;
  readonly sources: readonly string[];
  /** There are more sources than are named. */
  readonly more?: true;
}

/** A call that was not simply made: why, where its arguments come from, and what would allow it. */
export interface GuardedCallFacts extends TrustFacts {
  readonly tool: string;
  /** `ask`: a person decides. */
  readonly decision: 'ask' | 'deny';
  readonly rule: string;
  readonly why?: string;
  /** Source > steps > argument. */
  readonly lineage: readonly string[];
  /** Patterns, words and encodings in the texts that had a say; they decide nothing. Absent: none. */
  readonly findings?: readonly string[];
  readonly declare?: string;
}

/** What is told of who had a say in a call, or in a step. */
export type TrustNote =
  /** Of a call that a person must allow, or that is refused; `id`: that of the call. */
  | (GuardedCallFacts & { readonly kind: 'guard.decided'; readonly id: string })
  /** What had a say in what a step did, when it ended; steps in which nothing but the user had a say tell nothing. */
  | (TrustFacts & { readonly kind: 'guard.label' })
  /** What a step gave is vetted from here on; of what it was before, the facts say it. */
  | (TrustFacts & { readonly kind: 'guard.endorsed'; readonly endorsedBy: Endorser });

/** Who endorsed what a step gave: a person all of it, a schema its result. */
export type Endorser = 'person' | 'schema';

/** A result that was made vetted, as the record of its run says: the label is the one that it had before. */
export interface Endorsement extends TrustFacts {
  readonly at: number;
  readonly path: string;
  readonly endorsedBy: Endorser;
  /** Where the word of the person came from. */
  readonly by?: string;
}

/** Whether a note is one of these. */
export function isTrustNote<N extends { readonly kind: string }>(note: N): note is Extract<N, TrustNote> {
  return note.kind === 'guard.decided' || note.kind === 'guard.label' || note.kind === 'guard.endorsed';
}

/** What was decided about a call of a run, as its record says. */
export interface DecidedCall extends GuardedCallFacts {
  readonly at: number;
  readonly path: string;
  /** What a person said; absent: nobody did so far, or nobody was asked. */
  readonly answer?: string;
  /** Where that came from. */
  readonly by?: string;
}

/**
 * What became of a call, in words.
 *
 * @example
 * decidedText({ decision: 'ask', answer: 'allow', by: 'command' }); // 'asked, allowed by skein answer'
 */
export function decidedText({ decision, answer, by }: Pick<DecidedCall, 'decision' | 'answer' | 'by'>): string {
  if (decision === 'deny') return 'denied';
  if (answer === undefined) return 'asked';
  return `asked, ${answer === 'deny' ? 'refused' : 'allowed'} ${answeredText(by)}`;
}

/**
 * Who endorsed something, in words.
 *
 * @example
 * endorserText({ endorsedBy: 'person', by: 'command' }); // 'by a person, by skein answer'
 */
export function endorserText({ endorsedBy, by }: Pick<Endorsement, 'endorsedBy' | 'by'>): string {
  if (endorsedBy === 'schema') return 'by its schema';
  return by === undefined ? 'by a person' : `by a person, ${answeredText(by)}`;
}

/** A label in words: `untrusted, private`. */
export function trustText({ level, private: isPrivate }: TrustFacts): string {
  return isPrivate ? `${level}, private` : level;
}

/** Where it comes from, in words. */
export function sourcesText({ sources, more }: TrustFacts): string {
  return [...sources, ...(more === true ? ['and more'] : [])].join(', ');
}
