import type { Declarations } from '../../plan/declarations.js';
import type { Json, JsonObject } from '../../base/json.js';
import type { Position } from '../../base/problem.js';
import type { Spec } from '../../machine/pure/spec.js';
import type { Findings } from '../../text/findings.js';

/** The parts of a well-formed pack that rules look at. */
export interface Pack {
  readonly id: string;
  readonly $schema?: string;
  readonly prompts: Readonly<Record<string, Prompt>>;
  readonly fragments?: Readonly<Record<string, string>>;
  readonly tools?: Readonly<Record<string, PackTool>>;
  readonly workflow?: Spec & {
    readonly engine?: Engine & { readonly skein?: { readonly states?: StateKeys; readonly cache?: string } };
  };
  readonly agents?: { readonly entry: string; readonly members: Readonly<Record<string, { readonly state?: string }>> };
  readonly skills?: readonly (string | SkillSource)[];
  readonly compositions?: Readonly<Record<string, Composition>>;
  readonly evals?: readonly unknown[];
  readonly metadata?: Engine;
}

/** What Skein reads from the runtime settings, and from a pack's metadata. */
export interface Engine {
  readonly skein?: WrittenSettings & Declarations;
}

/** Settings of a pack, of a state or of a composition. */
export interface WrittenSettings {
  readonly supervise?: SuperviseKey;
  readonly budget?: Json;
  readonly security?: Json;
}

/** Settings by state. */
type StateKeys = Readonly<Record<string, WrittenSettings & { readonly endorse?: 'person' | 'schema' }>>;

/** The value of a key `supervise`. */
export type SuperviseKey =
  | boolean
  | {
      readonly human?: boolean;
      readonly model?: string;
      readonly max_reorients?: number;
      readonly instruction?: string;
    };

export interface PackTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the tool's input. */
  readonly parameters?: JsonObject;
}

/** A folder with skills, or a skill defined in the pack. */
export interface SkillSource {
  readonly path?: string;
  readonly preload?: boolean;
  readonly name?: string;
  readonly description?: string;
  readonly instructions?: string;
}

export interface Prompt {
  readonly description?: string;
  readonly system_template: string;
  readonly variables?: readonly Variable[];
  readonly tools?: readonly string[];
  readonly tool_policy?: ToolPolicy;
  readonly parameters?: Parameters;
  readonly validators?: readonly Validator[];
  readonly evals?: readonly unknown[];
  readonly model_overrides?: Readonly<Record<string, ModelOverride>>;
}

export interface Variable {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly default?: Json;
  readonly description?: string;
  readonly validation?: {
    readonly pattern?: string;
    readonly min_length?: number;
    readonly max_length?: number;
    readonly minimum?: number;
    readonly maximum?: number;
    readonly enum?: readonly Json[];
  };
}

export interface ToolPolicy {
  readonly tool_choice?: 'auto' | 'required' | 'none';
  readonly max_rounds?: number;
  readonly max_tool_calls_per_turn?: number;
  readonly blocklist?: readonly string[];
}

export interface Parameters {
  readonly temperature?: number;
  readonly max_tokens?: number;
  readonly top_p?: number;
  readonly top_k?: number | null;
  readonly frequency_penalty?: number;
  readonly presence_penalty?: number;
}

/** The changes to a prompt for one model. */
export interface ModelOverride {
  readonly system_template_prefix?: string;
  readonly system_template_suffix?: string;
  readonly system_template?: string;
  readonly parameters?: Parameters;
}

/** Returns the templates of a prompt: its own, and those for specific models. */
export function textsOf({ system_template, model_overrides = {} }: Prompt): readonly string[] {
  const overrides = Object.values(model_overrides).flatMap((one) => [
    one.system_template_prefix ?? '',
    one.system_template_suffix ?? '',
    one.system_template ?? '',
  ]);
  return [system_template, ...overrides];
}

export interface Composition {
  readonly description?: string;
  /** Paths of JSON Schema files, beneath the folder of the pack. */
  readonly input_schema?: string;
  readonly output_schema?: string;
  readonly output?: string;
  readonly engine?: Engine;
  readonly steps: readonly CompositionStep[];
}

export interface CompositionStep {
  readonly id: string;
  readonly kind: string;
  readonly description?: string;
  readonly depends_on?: readonly string[];
  readonly modifiers?: { readonly retry?: { readonly max_attempts?: number } };
  readonly prompt_task?: string;
  /** The input of a prompt or an agent: a text, or an object of values. Texts in it may refer to other steps. */
  readonly input?: Json;
  readonly output_schema?: string;
  readonly tool?: string;
  readonly args?: Json;
  readonly tools?: readonly string[];
  readonly termination?: { readonly max_steps?: number; readonly tool_called?: string };
  readonly predicate?: Predicate;
  readonly then?: string;
  readonly else?: string;
  readonly branches?: readonly CompositionStep[];
  readonly reduce?: { readonly strategy: string; readonly into: string };
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
  readonly enabled?: boolean;
  readonly fail_on_violation?: boolean;
  readonly message?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface PlacedPack {
  readonly pack: Pack;
  readonly findings: Findings;
  /** Returns the place of the value under a path of keys, or of the deepest one that exists. */
  readonly at: (...keys: readonly string[]) => Position;
}

/** Reports a path in a pack whose folder is unknown. */
export function reportNoFolder(findings: Findings, what: string, at: Position): void {
  const message = `${what} is a path, and the folder of the pack is not known`;
  findings.error('no-folder', message, at, 'openPack(text, { folder: FOLDER })');
}
