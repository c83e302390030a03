import { present } from '../../base/json.js';
import type { SecurityInput } from '../../plan/security.js';
import type { OutputFormat } from '../../plan/workflow.js';
import type { GivenInput } from './given-inputs.js';
import type { Durability } from './open-store.js';
import type { TrustFlags } from './trust-gate.js';
import type { ThreadFlags } from './thread-options.js';

/** Flags of commands that can print JSON. */
export interface JsonFlag {
  readonly json?: boolean;
}

export const FORMATS: readonly OutputFormat[] = ['markdown', 'plain', 'json'];

/** Flags for how a run is carried out and its results are shown. Recorded with the run and used again by a resume. */
export interface KeptFlags {
  readonly model?: string;
  /** Empty for the echo model, else the path of the script. */
  readonly mock?: string;
  readonly replay?: string;
  readonly prices?: string;
  readonly policy?: string;
  readonly limits?: string;
  readonly format?: OutputFormat;
  readonly stream?: boolean;
  readonly concurrency?: number;
  readonly maxSteps?: number;
  readonly strict?: boolean;
  readonly lenient?: boolean;
  readonly interactive?: boolean;
  readonly auditDir?: string;
  readonly audit: boolean;
  readonly allowPrivateAddresses?: boolean;
  /** Prints the texts of agents as their steps end, and the step context at the end: `skein exec`. */
  readonly exec?: boolean;
  readonly agent?: string;
  /** The prompt with which a pack talks, whatever its workflow. */
  readonly prompt?: string;
  /** The module with the functions of a pack, or names of tools of an Agentfile. */
  readonly tools?: string;
  /** A configuration that overrides the `agent.toml` beside an Agentfile. */
  readonly config?: string;
}

/** The common flags of `skein run`, `skein exec`, `skein resume` and `skein fork`. */
export interface CommonFlags extends KeptFlags, TrustFlags {
  /** Allows tool calls that a person would be asked about. */
  readonly yes?: boolean;
  /** Recorded separately from the flags: a resume adds to it. */
  readonly budget?: string;
  /** Names of inputs. Also recorded separately from the flags. */
  readonly untrusted?: readonly string[];
  /** Names of inputs, those of files. Also recorded separately from the flags. */
  readonly private?: readonly string[];
  /** The minimum security. Also recorded separately from the flags. */
  readonly security?: SecurityInput;
  readonly record?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly quiet?: boolean;
  readonly durability?: Durability;
  readonly color: boolean;
}

export interface TalkFlags {
  readonly message?: readonly string[];
  readonly state?: string;
  readonly agent?: string;
  readonly prompt?: string;
  readonly context?: string;
  readonly tools?: string;
}

/** The command line of `skein run` and `skein exec`. */
export interface RunFlags extends CommonFlags, ThreadFlags, TalkFlags {
  readonly file: string;
  readonly inputs: readonly GivenInput[];
  /** Values for declared inputs that are not given, by name. */
  readonly defaults?: Readonly<Record<string, string>>;
  readonly store: boolean;
}

/** Adds the recorded flags to the given ones, which win. A given model replaces a recorded script or recording. */
export function mergeFlags(kept: KeptFlags, given: CommonFlags): CommonFlags {
  const { mock, replay, strict, lenient, ...rest } = kept;
  const replaced = given.model !== undefined || given.mock !== undefined || given.replay !== undefined;
  const answers = replaced ? {} : { mock, replay };
  // Each of the two replaces the other.
  const judging = given.lenient === true || given.strict === true ? {} : { strict, lenient };
  return { ...rest, ...present({ ...answers, ...judging }), ...given, audit: kept.audit && given.audit };
}
