import type { Position } from '../../base/problem.js';
import type { Spec } from '../../machine/pure/spec.js';
import type { Findings } from '../../text/findings.js';

/** What rules look at of a pack whose form is right. */
export interface Pack {
  readonly $schema?: string;
  readonly prompts: Readonly<Record<string, Prompt>>;
  readonly fragments?: Readonly<Record<string, string>>;
  readonly tools?: Readonly<Record<string, { readonly name: string }>>;
  readonly workflow?: Spec;
  readonly agents?: { readonly entry: string; readonly members: Readonly<Record<string, { readonly state?: string }>> };
  readonly skills?: readonly (string | { readonly path?: string })[];
  readonly compositions?: Readonly<Record<string, Composition>>;
  readonly evals?: readonly unknown[];
}

export interface Prompt {
  readonly system_template: string;
  readonly variables?: readonly { readonly name: string; readonly type: string; readonly default?: unknown }[];
  readonly tools?: readonly string[];
  readonly validators?: readonly Validator[];
  readonly evals?: readonly unknown[];
  readonly model_overrides?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface Composition {
  readonly output?: string;
  readonly steps: readonly CompositionStep[];
}

export interface CompositionStep {
  readonly id: string;
  readonly kind: string;
  readonly depends_on?: readonly string[];
  readonly prompt_task?: string;
  readonly tool?: string;
  readonly tools?: readonly string[];
  readonly predicate?: Predicate;
  readonly then?: string;
  readonly else?: string;
  readonly branches?: readonly CompositionStep[];
}

export interface Predicate {
  readonly path?: string;
  readonly op?: string;
  readonly value?: unknown;
  readonly exists?: boolean;
  readonly all_of?: readonly Predicate[];
  readonly any_of?: readonly Predicate[];
  readonly not?: Predicate;
}

export interface Validator {
  readonly type: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** A pack with the places of what is in it. */
export interface PlacedPack {
  readonly pack: Pack;
  readonly findings: Findings;
  /** Where the value under some keys stands, or the last of them that is there. */
  readonly at: (...keys: readonly string[]) => Position;
}
