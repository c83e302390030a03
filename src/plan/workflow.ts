import type { Position, Problem } from '../base/problem.js';
import type { Truncate } from '../lang/values.js';
import type { Drawing } from './drawing.js';
import type { Bindings, InputSpec, Plan } from './plan.js';

/** The result of a notation's loader: the plan, its bindings and settings, and all problems. */
export interface Workflow {
  /** Absent if an error keeps the plan from being built. */
  readonly plan: Plan | undefined;
  readonly bindings: Bindings;
  readonly settings: WorkflowSettings;
  /** The files that were read, the workflow file first: for the audit folder and for positions. */
  readonly files: readonly SourceFile[];
  /** The file of each agent, by the agent's name: for the audit folder. */
  readonly agentFiles?: ReadonlyMap<string, string>;
  /** Where each agent names its tools, by the names of agent and tool. */
  readonly toolPlaces?: ReadonlyMap<string, ReadonlyMap<string, Position>>;
  /** The folders that are searched for agents, absolute. */
  readonly agentFolders?: readonly string[];
  /** A drawing to show instead of the plan's nodes. */
  readonly drawing?: Drawing;
  /** Parts of the file that are kept but have no effect. */
  readonly kept?: readonly string[];
  /** Names of tools that need a program's implementation and have none. */
  readonly unchecked?: readonly string[];
  /** Notes shown before a run, and with a preview of one: a line each. */
  readonly notes?: readonly string[];
  /** The parameters that a person sets, if they are not the plan's inputs. */
  readonly parameters?: readonly InputSpec[];
  /** The inputs, if there is no plan to say them: values are checked although the workflow has other problems. */
  readonly inputs?: readonly InputSpec[];
  readonly problems: readonly Problem[];
}

/** A file that was read, byte for byte. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Settings that don't influence results, only how a run is carried out and shown. */
export interface WorkflowSettings {
  /** Prints and stores the results. Absent `nodes`: every node that writes, in plan order. */
  readonly output: { readonly nodes?: readonly string[]; readonly format: OutputFormat; readonly truncate?: Truncate };
  /** The parent of the run folders, absolute; `keep` 0 keeps all. Absent: no audit. */
  readonly audit?: { readonly dir: string; readonly keep: number };
  /** Shared memory of the run, with its initial text. */
  readonly memory?: { readonly initial: string };
  /** Whether to show and record text as it arrives. */
  readonly streaming?: boolean;
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
}

/** Forms of the result on stdout. */
export type OutputFormat = 'markdown' | 'plain' | 'json';
