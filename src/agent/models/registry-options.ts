import type { OptionForms } from '../../base/options.js';
import type { ScriptInput } from '../script/script-input.js';
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

/** Makes the models of a custom provider: a {@link Model}, or a model object of the AI SDK. */
export type ModelFactory = (model: string) => Model | LanguageModel | Promise<Model | LanguageModel>;

/** Options of a model registry. */
export interface ModelRegistryOptions {
  /** Environment variables: `process.env`. */
  readonly env: Env;
  /** Models that replace those of all agents: the `--model` flag. */
  readonly override?: string | readonly string[];
  /** Every agent gets `mock/echo`. */
  readonly mock?: boolean;
  /** Every agent gets the answers of this script: the name of a file, or the script itself. */
  readonly script?: string | ScriptInput;
  /** `finish` writes all calls to this file. */
  readonly record?: string;
  /** Inputs of the run, whose secrets a recording hides. */
  readonly inputs?: Readonly<Record<string, unknown>> | undefined;
  /** All calls are answered from this file. */
  readonly replay?: string;
  /** Stops the probe for a local Ollama; so does `SKEIN_NO_PROBE=1`. */
  readonly noProbe?: boolean;
  /** Custom providers, by the first part of `provider/model`. They override the built-in ones. */
  readonly providers?: Readonly<Record<string, ModelFactory>>;
  /** Folder that relative file names start from. Defaults to the working directory. */
  readonly cwd?: string;
  /** Loads provider packages that do not come with Skein. Defaults to `import`. */
  readonly importPackage?: ImportPackage;
  /** Limits of the calls to providers: the option `limits` of a run. */
  readonly limits?: ProvidersLimits | undefined;
  /** Policies of the run, which restrict the addresses that a workflow names for models. */
  readonly policies?: readonly Policy[] | undefined;
  /** Prices that override those that come with Skein: the option `prices` of a run. */
  readonly prices?: PriceTable | undefined;
}

/** The names of {@link ModelRegistryOptions}: the option `models` of a run has the same. */
export const MODEL_OPTIONS: OptionForms<ModelRegistryOptions> = {
  env: 'an object',
  override: 'text, or a list of texts',
  mock: 'true or false',
  script: 'text, or an object',
  record: 'text',
  inputs: 'an object',
  replay: 'text',
  noProbe: 'true or false',
  providers: 'an object',
  cwd: 'text',
  importPackage: 'a function',
  limits: 'an object',
  policies: 'a list',
  prices: 'an object',
};

/** Finds models, and holds what they share in a run: scripts, the recording. Created once for each run. */
export interface ModelRegistry extends ModelSource {
  /**
   * Returns the models to try for an agent, in order. The flag overrides the agent's own list, which overrides the environment, which
   * overrides a local Ollama. Loads nothing and calls no model; an unusable model fails when called, so that the next one is tried.
   *
   * @throws SkeinError `SKEIN_NO_MODEL` if there is none at all; errors of a script or recording file; `SKEIN_MODEL_UNKNOWN` if the only
   *   name is unknown.
   */
  resolve(spec: AgentSpec, caller: ModelCaller): readonly Model[] | Promise<readonly Model[]>;
  /** The flags that influence the choice of models: with other flags, a recorded choice does not count. */
  identity(): string;
  /** Reports a call that was answered from the journal of the run: scripts and recordings count it as made. Opens no file. */
  replayed(spec: AgentSpec, call: ReplayedCall): void;
  /** The answer of the option `script` for the person; undefined if it has none. */
  scriptAnswer(question: string): Promise<string | undefined>;
  /** The result of a tool without an implementation, from the option `script`; undefined if it has none. */
  readonly scriptedResult: ScriptedResult;
  /** Names of the tools that the option `script` calls. */
  scriptedCalls(): Promise<readonly string[]>;
  /** The answers of the option `script` for steps that call a tool directly. */
  readonly steps: ScriptedSteps;
  /** Reports a question that was answered from the journal of the run: the script's answer counts as given. Opens no file. */
  answered(question: string): void;
  /**
   * Ends the run: writes the recording and checks that scripts were used up. Undefined if there is nothing to do.
   *
   * @throws SkeinError `SKEIN_SCRIPT` for a strict script with unused rules, `SKEIN_FILE` if the recording cannot be written.
   */
  finish(): Promise<void> | undefined;
}
