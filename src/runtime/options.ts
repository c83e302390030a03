import type { WrittenFiles } from '../agent/run-trust.js';
import type { ToolPins } from '../agent/tools/provider-options.js';
import type { ModelRegistryOptions } from '../agent/models/registry-options.js';
import type { JsonObject } from '../base/json.js';
import type { Problem } from '../base/problem.js';
import type { PriceTable } from '../budget/prices.js';
import type { ProvidersLimitsInput } from '../budget/provider-limits.js';
import type { AnswerQuestion } from '../engine/durable/memory-questions.js';
import type { Executors } from '../engine/ports/executor.js';
import type { StepCheck } from '../engine/services.js';
import type { Listener } from '../events/event.js';
import type { Store } from '../journal/store.js';
import type { BudgetInput } from '../plan/budget.js';
import type { Bindings, Plan } from '../plan/plan.js';
import type { Policy } from '../plan/policy.js';
import type { CustomGuard } from '../guard/custom-guard.js';
import type { SecurityInput } from '../plan/security.js';
import type { Supervisor } from '../plan/supervision.js';
import type { Workflow } from '../plan/workflow.js';
import type { ThreadOptions } from './threads/open-turn.js';

/** How a workflow is run. */
export interface RunOptions {
  /** Input values by name. A run that is forked takes what is not given from the record; one that is resumed has the recorded ones, and no others. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  /** Where models come from. Default: the environment of the process. */
  readonly models?: Partial<ModelRegistryOptions>;
  /**
   * What models cost, in US dollars for a million tokens: wins over the prices that come with Skein. A call is recorded with its cost, so other prices
   * change no sum of what was called before. A recorded run keeps them: a resume and a fork go on with them unless they are given others.
   */
  readonly prices?: PriceTable;
  /**
   * What providers are asked at most, in all runs of the process together: calls at once, calls and tokens in a minute. Without them, calls go as fast as the
   * provider takes them.
   *
   * @example
   * run(workflow, { limits: { openai: { concurrency: 8, requestsPerMinute: 500, tokensPerMinute: '200k' } } });
   */
  readonly limits?: ProvidersLimitsInput;
  /**
   * Names of inputs whose values come from somewhere the user has no say in, such as a page or a mail. What they have a say in is untrusted too: the guard
   * asks before an agent that read it acts on the world, and `labels` of the result names them. A recorded run keeps them; a resume or a fork may add some.
   *
   * @example
   * const { labels } = await run(workflow, { inputs: { notes }, untrusted: ['notes'] });
   * labels?.['summary']?.sources; // ['input:notes']
   */
  readonly untrusted?: readonly string[];
  /**
   * Which models look at calls of tools before they are made, at least: a mode, or one with a `model` that judges. It raises what the workflow says, and never
   * lowers it. They can refuse what would be allowed or asked about, and allow nothing. A recorded run keeps it; a resume or a fork may raise it.
   *
   * @example
   * await run(workflow, { security: { mode: 'paranoid', model: 'openai/gpt-5-mini' } });
   */
  readonly security?: SecurityInput;
  /** Guards of the program: they look at the calls of all agents, and can refuse them or have a person asked. A resume needs them again. */
  readonly guards?: readonly CustomGuard[];
  /** Working directory of tools. Default: that of the process. */
  readonly cwd?: string;
  /**
   * What holds for all agents of the run, whatever their files say (`openPolicies` of `skein/yaml` reads files). Those from outside of the project may
   * also declare what may happen without a question. A resume looks at what would run now by the policies that it is given; what is recorded stays.
   *
   * @example
   * run(workflow, { policy: await openPolicies({ cwd: process.cwd(), file: 'policy.yaml' }) });
   */
  readonly policy?: readonly Policy[];
  /** Lets the `fetch` tool reach private and loopback addresses. */
  readonly allowPrivateAddresses?: boolean;
  /**
   * Remembers what tool servers offered, from one run to the next. A tool that is not what it was is told as a warning, its description is untrusted,
   * and that it only reads is not believed. `skein run` keeps this beside the files that the user trusts. Absent: nothing is known of other runs.
   */
  readonly toolPins?: ToolPins;
  /**
   * Remembers files that agents wrote after they had heard something untrusted, from one run to the next: what they say stays untrusted. `skein run` keeps
   * this beside the files that the user trusts. Absent: it holds for this run alone.
   */
  readonly writtenFiles?: WrittenFiles;
  /** First text of the run's shared memory; absent: there is none. */
  readonly memory?: string;
  /** Judges supervised steps that have no supervisor of their own, when promise and work differ. Default: a model, the one of the step. */
  readonly supervisor?: Supervisor;
  /** Answers questions. Absent: a question pauses the run. */
  readonly answer?: AnswerQuestion;
  readonly runId?: string;
  readonly listeners?: readonly Listener[];
  readonly signal?: AbortSignal;
  /** Leaf steps at once. */
  readonly concurrency?: number;
  /**
   * How many nodes may run one after another, in the workflow and in each one inside of it, whatever they say themselves. A recorded run keeps
   * it; a resume may raise it.
   */
  readonly maxSteps?: number;
  /**
   * What the run may spend, in place of the limits of the workflow for the same: dollars, a text such as `200k-tokens, 20-calls, 10m`, or an object. A
   * resume may add to the limits, `+0.50`. What is recorded holds whatever the budget is.
   */
  readonly budget?: BudgetInput;
  /** The end of each step is reported with the state that goes on from it. */
  readonly streamState?: boolean;
  /** Looks at the run after each step of the plan, before anything goes on from there: an error that it gives ends the run as failed. */
  readonly check?: StepCheck;
  /** Further executors, by node kind. */
  readonly executors?: Executors;
  /** Records the run as it goes: what is finished survives the end of the process. Absent: nothing is recorded. */
  readonly store?: Store;
  /** Goes on with this run of the store: what is recorded and still holds is used, anything else runs (J3). */
  readonly resume?: string;
  /** Begins a new run that uses what another run recorded, where it still holds (J4). */
  readonly fork?: Fork;
  /** Goes on with a conversation of the store, or begins one: the run starts from the state that the turn before ended with (J12). */
  readonly thread?: string | ThreadOptions;
  /** Kept with a recorded run, for whoever continues it: JSON. */
  readonly origin?: JsonObject;
}

/** What a run is forked from. */
export interface Fork {
  /** Id of the other run. */
  readonly run: string;
  /**
   * Address of a step that runs again, with what depends on it: `review`, `review#2`, `scan[a.ts]/read`. What ran before it stays, also where
   * it is in a loop.
   */
  readonly from?: string;
  /** Addresses of steps that run again whatever is recorded, with everything inside of them; without a number all visits of a node. */
  readonly forget?: readonly string[];
  /**
   * Values of the state, by key: each stands for what the last step gave to its key that is not run again, and what depends on it runs again.
   * A key that no step has written is an input.
   */
  readonly set?: Readonly<Record<string, unknown>>;
}

/** What can be run: a plan with its functions. {@link definePlan} and the loaders of notations give such an object. */
export interface Runnable {
  readonly plan: Plan | undefined;
  readonly bindings?: Bindings;
  /** What was found when it was loaded; told when there is no plan. */
  readonly problems?: readonly Problem[];
  /** The files that it was read from: tools of its runs don't write them. */
  readonly files?: Workflow['files'];
  /** The folders in which its agents are looked for: likewise. */
  readonly agentFolders?: Workflow['agentFolders'];
}
