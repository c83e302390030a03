import { present } from '../../base/json.js';
import type { SecurityInput } from '../../plan/security.js';
import type { OutputFormat } from '../../plan/workflow.js';
import type { GivenInput } from './given-inputs.js';
import type { Durability } from './open-store.js';
import type { TrustFlags } from './trust-gate.js';
import type { ThreadFlags } from './thread-options.js';

/** What stands on the command line of commands that can print JSON. */
export interface JsonFlag {
  readonly json?: boolean;
}

/** Forms of results. */
export const FORMATS: readonly OutputFormat[] = ['markdown', 'plain', 'json'];

/** What decides how a run is carried out and what its results look like: kept with the run, and used again when it is resumed. */
export interface KeptFlags {
  readonly model?: string;
  /** Empty: echo; else the script. */
  readonly mock?: string;
  readonly replay?: string;
  /** The file with prices of models. */
  readonly prices?: string;
  /** The file with a policy. */
  readonly policy?: string;
  /** The file with what providers are asked at most. */
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
  /** What agents say is printed as their steps end, and the step context at the end: `skein exec`. */
  readonly exec?: boolean;
  /** The agent of a pack that talks. */
  readonly agent?: string;
  /** The prompt with which a pack talks, whatever its workflow. */
  readonly prompt?: string;
  /** The module with the functions of a pack, or names of tools of an Agentfile. */
  readonly tools?: string;
  /** A configuration over the `agent.toml` beside an Agentfile. */
  readonly config?: string;
}

/** What stands on the command line of `skein run`, `skein exec`, `skein resume` and `skein fork` alike. */
export interface CommonFlags extends KeptFlags, TrustFlags {
  /** Tool calls that a person is asked about are allowed. */
  readonly yes?: boolean;
  /** Kept with the run apart from its flags: a resume adds to it. */
  readonly budget?: string;
  /** Names of inputs. Kept with the run apart from its flags, too. */
  readonly untrusted?: readonly string[];
  /** What models look at, at least. Kept with the run apart from its flags, too. */
  readonly security?: SecurityInput;
  readonly record?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly quiet?: boolean;
  readonly durability?: Durability;
  readonly color: boolean;
}

/** What stands on the command line about the conversation with a pack. */
export interface TalkFlags {
  readonly message?: readonly string[];
  readonly state?: string;
  readonly agent?: string;
  readonly prompt?: string;
  readonly context?: string;
  readonly tools?: string;
}

/** What stands on the command line of `skein run` and `skein exec`. */
export interface RunFlags extends CommonFlags, ThreadFlags, TalkFlags {
  readonly file: string;
  readonly inputs: readonly GivenInput[];
  /** Values for inputs of these names, when the workflow has them and none is given. */
  readonly defaults?: Readonly<Record<string, string>>;
  readonly store: boolean;
}

/**
 * Flags with those that the run had before for what is not given. A model that is given takes the place of a script or recording.
 *
 * @example
 * mergeFlags({ audit: true, mock: '' }, { audit: true, color: true, model: 'openai/gpt-5' }); // asks the model
 */
export function mergeFlags(kept: KeptFlags, given: CommonFlags): CommonFlags {
  const { mock, replay, strict, lenient, ...rest } = kept;
  const replaced = given.model !== undefined || given.mock !== undefined || given.replay !== undefined;
  const answers = replaced ? {} : { mock, replay };
  // One takes the place of the other.
  const judging = given.lenient === true || given.strict === true ? {} : { strict, lenient };
  return { ...rest, ...present({ ...answers, ...judging }), ...given, audit: kept.audit && given.audit };
}
