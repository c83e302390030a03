import type { ScriptedSteps } from '../script/scripted-steps.js';
import type { ProvidersLimits } from '../../budget/provider-limits.js';
import type { PriceTable } from '../../budget/prices.js';
import type { AgentSpec } from '../../plan/agent-spec.js';
import type { Policy } from '../../plan/policy.js';
import type { ScriptedResult } from '../../plan/made-of.js';
import type { Model, ModelCaller, ModelSource, ReplayedCall } from '../model.js';
import type { Env } from './environment.js';
import type { LanguageModel } from './language-model.js';
import type { ImportPackage } from './provider-packages.js';

/** Makes the models of a provider of one's own: a {@link Model}, or a model object of the AI SDK. */
export type ModelFactory = (model: string) => Model | LanguageModel | Promise<Model | LanguageModel>;

/** How models are found. */
export interface ModelRegistryOptions {
  /** Environment variables: `process.env`. */
  readonly env: Env;
  /** Models that replace whatever agents ask for: the `--model` flag. */
  readonly override?: string | readonly string[];
  /** Every agent gets `mock/echo`. */
  readonly mock?: boolean;
  /** Every agent gets the answers of this file. */
  readonly script?: string;
  /** All calls are written to this file by `finish`. */
  readonly record?: string;
  /** Inputs of the run, of which a recording shows no secrets. */
  readonly inputs?: Readonly<Record<string, unknown>> | undefined;
  /** All calls are answered from this file. */
  readonly replay?: string;
  /** Don't look for a local Ollama; also `SKEIN_NO_PROBE=1`. */
  readonly noProbe?: boolean;
  /** Providers of one's own, by the first part of `provider/model`. They win over the built-in ones. */
  readonly providers?: Readonly<Record<string, ModelFactory>>;
  /** Folder that relative file names start from. Default: the working directory. */
  readonly cwd?: string;
  /** Loads provider packages that don't come with Skein. Default: `import`. */
  readonly importPackage?: ImportPackage;
  /** What providers are asked at most: the option `limits` of a run. */
  readonly limits?: ProvidersLimits | undefined;
  /** What holds for the run: where models may be called that a workflow names an address for. */
  readonly policies?: readonly Policy[] | undefined;
  /** Prices that win over those that come with Skein: the option `prices` of a run. */
  readonly prices?: PriceTable | undefined;
}

/** Finds models, and holds what they share in a run: scripts, the recording. Made once for each run. */
export interface ModelRegistry extends ModelSource {
  /**
   * The models to try for an agent, in order. The flag wins over the agent's own list, that over the environment, that over a local
   * Ollama. Nothing is loaded and no model is called; what can't be used fails when it is called, so that the next one is tried.
   *
   * @throws SkeinError `SKEIN_NO_MODEL` when there is none at all; what a script or recording file has wrong;
   *   `SKEIN_MODEL_UNKNOWN` when the only name is one that nobody knows.
   */
  resolve(spec: AgentSpec, caller: ModelCaller): readonly Model[] | Promise<readonly Model[]>;
  /**
   * Reads the script and the recording that the options name, so that what is wrong with them is known before anything runs.
   *
   * @throws SkeinError `SKEIN_FILE`, or `SKEIN_DEFINITION` with the problems of a script.
   */
  prepare(): Promise<void>;
  /** The flags that decide about models: with other ones, a choice that is recorded does not count. */
  identity(): string;
  /** A call was answered from the journal of the run: scripts and recordings count it as made. Opens no file. */
  replayed(spec: AgentSpec, call: ReplayedCall): void;
  /** What the option `script` answers for the person; undefined when it does not say. */
  scriptAnswer(question: string): Promise<string | undefined>;
  /** What the option `script` says that a tool gives which is not there; undefined when it does not say. */
  readonly scriptedResult: ScriptedResult;
  /** Names of the tools that the option `script` calls. */
  scriptedCalls(): Promise<readonly string[]>;
  /** What the option `script` says of steps that call a tool by themselves. */
  readonly steps: ScriptedSteps;
  /** A question was answered from the journal of the run: the answer that the script has for it counts as given. Opens no file. */
  answered(question: string): void;
  /**
   * Ends the run: writes the recording and checks that scripts were used up. Undefined when there is nothing to do.
   *
   * @throws SkeinError `SKEIN_SCRIPT` for a strict script with unused rules, `SKEIN_FILE` when the recording can't be written.
   */
  finish(): Promise<void> | undefined;
}
