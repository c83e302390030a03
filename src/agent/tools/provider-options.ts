import type { ScriptedResult } from '../../plan/made-of.js';
import type { NarrowPolicy } from '../../plan/policy.js';
import type { WrittenFiles } from '../run-trust.js';
import type { Environment } from './clean-env.js';

/** Where tools work and what they may see. */
export interface ToolProviderOptions {
  /** The working directory of the file tools, of `shell` and of MCP servers. */
  readonly cwd: string;
  /** The environment for references in MCP server entries; child processes get a cleaned part of it. */
  readonly env: Environment;
  /** Further paths that tools must leave alone. */
  readonly own?: OwnPlaces;
  /** Lets `fetch` reach private and loopback addresses. Defaults to false. */
  readonly allowPrivateAddresses?: boolean;
  /** A run without models: nothing is started or reached. Absent: tools really run. */
  readonly mock?: Mocked;
  /** Resolves host names for `fetch`. Defaults to the system's resolver. */
  readonly resolveHost?: (host: string) => Promise<readonly ResolvedAddress[]>;
  /** The record of what tool servers offer. Absent if none is kept. */
  readonly pins?: ToolPins | undefined;
  /** Policies for all agents, in addition to those of their own files. */
  readonly policies?: readonly NarrowPolicy[];
  /** Memory limit of a program with all that it started, in bytes. Defaults to three quarters of the machine. */
  readonly programMemory?: number;
  /** The record of written files, kept beyond the run. Absent if none is kept. */
  readonly written?: WrittenFiles | undefined;
  /** Milliseconds for an MCP server to start and list its tools. Defaults to 30 000. */
  readonly mcpStartMs?: number;
  /** Timeout of one call of an MCP tool, in milliseconds. Defaults to 120 000. */
  readonly mcpCallMs?: number;
}

/** Records what tool servers offer from one run to the next, until the user accepts something else. */
export interface ToolPins {
  /**
   * Compares all tools of an opened server with the record. The first offer of a server is recorded.
   *
   * @returns names of tools that are new or changed since then
   */
  compare(server: OfferedServer): readonly string[];
}

export interface OfferedServer {
  readonly name: string;
  /** Digest of its entry in the definition: another command or address is another server. */
  readonly entry: string;
  /** `pin`: digest of what a model sees of a tool, and of the server's hints about it. */
  readonly tools: readonly { readonly name: string; readonly description: string; readonly pin: string }[];
}

/** An address of a host name; `family` is 4 or 6. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** A run without models. */
export interface Mocked {
  calls(): Promise<readonly string[]>;
  /** Whether its script lets a step make its direct tool call. */
  isReal(path: string): Promise<boolean>;
  readonly result: ScriptedResult;
}

/** Files and folders that tools must leave alone, as absolute paths. They need not exist yet. */
export interface OwnPlaces {
  /** The record of runs: the store, folders of run folders, recordings. Hidden from tools, and not writable. */
  readonly record: readonly string[];
  /** The files that define runs: workflow files, agents, skills, scripts, modules. Not writable for tools. */
  readonly definition: readonly string[];
}

/** For the tools of a program that records nothing and is not defined by files. */
export const NO_PLACES: OwnPlaces = { record: [], definition: [] };
