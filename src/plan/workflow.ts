import type { Problem } from '../base/problem.js';
import type { Truncate } from '../lang/values.js';
import type { Drawing } from './drawing.js';
import type { Bindings, InputSpec, Plan } from './plan.js';

/** What a notation's loader gives back: the plan, what goes with it, and everything that is wrong. */
export interface Workflow {
  /** Absent when the problems contain an error that keeps the plan from being built. */
  readonly plan: Plan | undefined;
  readonly bindings: Bindings;
  readonly settings: WorkflowSettings;
  /** The files that it was read from, the workflow file first: for the audit folder and for positions. */
  readonly files: readonly SourceFile[];
  /** Which file an agent was read from, by the agent's name: for the audit folder. */
  readonly agentFiles?: ReadonlyMap<string, string>;
  /** The folders in which agents are looked for, absolute. */
  readonly agentFolders?: readonly string[];
  /** What pictures show in place of the nodes of the plan. */
  readonly drawing?: Drawing;
  /** Parts of the file that are kept and have no effect. */
  readonly kept?: readonly string[];
  /** Names of tools that only a program can carry out, and that none was brought along for. */
  readonly unchecked?: readonly string[];
  /** What is told before a run, and with what a run would do: a line each. */
  readonly notes?: readonly string[];
  /** What a person gives a value of, where that is not the inputs of the plan. */
  readonly parameters?: readonly InputSpec[];
  readonly problems: readonly Problem[];
}

/** A file that was read, byte for byte. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Settings that are not part of what is computed, only of how a run is carried out and shown. */
export interface WorkflowSettings {
  /** Prints and stores the results. Absent `nodes`: every node that writes, in plan order. */
  readonly output: { readonly nodes?: readonly string[]; readonly format: OutputFormat; readonly truncate?: Truncate };
  /** The folder of run folders, absolute; `keep` 0 keeps all. Absent: no audit. */
  readonly audit?: { readonly dir: string; readonly keep: number };
  /** Shared memory of the run, with its first text. */
  readonly memory?: { readonly initial: string };
  /** Show and record text as it arrives. */
  readonly streaming?: boolean;
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
}

/** Forms of the result on stdout. */
export type OutputFormat = 'markdown' | 'plain' | 'json';
