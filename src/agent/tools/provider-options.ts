import type { ScriptedResult } from '../../plan/made-of.js';
import type { NarrowPolicy } from '../../plan/policy.js';
import type { WrittenFiles } from '../run-trust.js';
import type { Environment } from './clean-env.js';

/** Where tools work and what they may see. */
export interface ToolProviderOptions {
  /** The working directory of the file tools, of `shell` and of MCP servers. */
  readonly cwd: string;
  /** The environment that references in MCP server entries are taken from; children get a cleaned part of it. */
  readonly env: Environment;
  /** What the tools leave alone in addition to what they know themselves. */
  readonly own?: OwnPlaces;
  /** Lets `fetch` reach private and loopback addresses. Default false. */
  readonly allowPrivateAddresses?: boolean;
  /** Nothing is started and nothing reached: a run without models. Absent: tools really run. */
  readonly mock?: Mocked;
  /** How `fetch` resolves host names. Default: the system's resolver. */
  readonly resolveHost?: (host: string) => Promise<readonly ResolvedAddress[]>;
  /** Remembers what tool servers offer. Absent: nothing is known of other runs. */
  readonly pins?: ToolPins | undefined;
  /** What holds for all agents, in addition to the policy of their own files. */
  readonly policies?: readonly NarrowPolicy[];
  /** Memory that a program may have with all that it started, in bytes. Default: three quarters of the machine. */
  readonly programMemory?: number;
  /** What is known of files beyond the run. Absent: nothing. */
  readonly written?: WrittenFiles | undefined;
  /** Time for an MCP server to start and list its tools, in milliseconds. Default 30 000. */
  readonly mcpStartMs?: number;
  /** Time for one call of an MCP tool, in milliseconds. Default 120 000. */
  readonly mcpCallMs?: number;
}

/** Remembers what tool servers offer from one run to the next, until the user says yes to something else. */
export interface ToolPins {
  /**
   * Called with all tools of a server that was opened. What is offered for the first time is kept.
   *
   * @returns names of tools that are new since then, or are not what they were
   */
  compare(server: OfferedServer): readonly string[];
}

/** What a server offers. */
export interface OfferedServer {
  readonly name: string;
  /** Digest of its entry in the definition: another command or address is another server. */
  readonly entry: string;
  /** `pin`: digest of what a model sees of a tool, and of what the server says that it does. */
  readonly tools: readonly { readonly name: string; readonly description: string; readonly pin: string }[];
}

/** An address that a name stands for; `family` is 4 or 6. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** A run without models. */
export interface Mocked {
  /** Names of the tools that its script calls. */
  calls(): Promise<readonly string[]>;
  /** Whether its script lets a step that calls a tool by itself call it. */
  isReal(path: string): Promise<boolean>;
  /** What its script says that a tool gives. */
  readonly result: ScriptedResult;
}

/** Files and folders that tools leave alone, as absolute paths. They need not exist yet. */
export interface OwnPlaces {
  /** The record of runs: the store, folders of run folders, recordings. Tools neither see nor write them. */
  readonly record: readonly string[];
  /** What runs are made of: workflow files, agents, skills, scripts, modules. Tools don't write them. */
  readonly definition: readonly string[];
}

/** For tools of a program that records nothing and was read from no file. */
export const NO_PLACES: OwnPlaces = { record: [], definition: [] };
