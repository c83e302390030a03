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

/** Options for running a workflow. */
export interface RunOptions {
  /** Input values by name. A fork takes missing inputs from the record. A resumed run keeps its recorded inputs and accepts no others. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  /** The source of models. Defaults to the environment of the process. */
  readonly models?: Partial<ModelRegistryOptions>;
  /**
   * Prices of models in US dollars per million tokens. They override the prices built into Skein. Each call is recorded with its cost, so
   * other prices don't change the cost of earlier calls. A recorded run keeps its prices: a resume or a fork uses them unless given others.
   */
  readonly prices?: PriceTable;
  /**
   * Limits per provider, shared by all runs of the process: concurrent calls, calls per minute and tokens per minute. Without limits, calls
   * go out as fast as the provider accepts them.
   *
   * @example
   * run(workflow, { limits: { openai: { concurrency: 8, requestsPerMinute: 500, tokensPerMinute: '200k' } } });
   */
  readonly limits?: ProvidersLimitsInput;
  /**
   * Names of inputs that the user does not control, such as a page or a mail. Whatever they influence is untrusted too: the guard asks
   * before an agent that read it acts outside; `labels` of the result names the sources. A resume or a fork may add names.
   *
   * @example
   * const { labels } = await run(workflow, { inputs: { notes }, untrusted: ['notes'] });
   * labels?.['summary']?.sources; // ['input:notes']
   */
  readonly untrusted?: readonly string[];
  /**
   * Names of inputs that are not for everybody, as files of the project are. Once untrusted text has reached an agent that heard of one,
   * the guard asks before it gets an address that nobody declared. A resume or a fork may add names.
   *
   * @example
   * run(workflow, { inputs: { diff }, private: ['diff'] });
   */
  readonly private?: readonly string[];
  /**
   * The minimum security of tool calls: a mode, or a mode with a `model` that reviews calls. It can raise the workflow's setting, never
   * lower it. Reviewers can refuse any call and allow none. A recorded run keeps this setting; a resume or a fork may raise it.
   *
   * @example
   * await run(workflow, { security: { mode: 'paranoid', model: 'openai/gpt-5-mini' } });
   */
  readonly security?: SecurityInput;
  /** Guards of the program. They review the calls of all agents and can refuse them or ask a person. A resume must pass them again. */
  readonly guards?: readonly CustomGuard[];
  /** Working directory of tools. Defaults to that of the process. */
  readonly cwd?: string;
  /**
   * Policies for all agents of the run, whatever their files declare (`openPolicies` of `skein/yaml` reads files). Policies from outside
   * the project may also declare what needs no question. A resume applies the policies it is given to new steps; recorded results stay.
   *
   * @example
   * run(workflow, { policy: await openPolicies({ file: 'policy.yaml' }) });
   */
  readonly policy?: readonly Policy[];
  /** Whether the `fetch` tool may reach private and loopback addresses. */
  readonly allowPrivateAddresses?: boolean;
  /**
   * Remembers the tools of servers from one run to the next. A tool that has changed causes a warning, its description is untrusted, and
   * its read-only claim is ignored. `skein run` keeps this beside the user's trusted files. If absent, each run starts without this memory.
   */
  readonly toolPins?: ToolPins;
  /**
   * Remembers files that agents wrote after reading untrusted content, from one run to the next: their content stays untrusted. `skein run`
   * keeps this beside the user's trusted files. If absent, it is remembered only within the run.
   */
  readonly writtenFiles?: WrittenFiles;
  /** Initial text of the run's shared memory. If absent, the run has no shared memory. */
  readonly memory?: string;
  /** Judges supervised steps without a supervisor of their own if promise and work differ. Defaults to the model of the step. */
  readonly supervisor?: Supervisor;
  /** Answers questions. If absent, a question pauses the run. */
  readonly answer?: AnswerQuestion;
  readonly runId?: string;
  readonly listeners?: readonly Listener[];
  readonly signal?: AbortSignal;
  /** Maximum number of leaf steps in progress at once. */
  readonly concurrency?: number;
  /**
   * Maximum number of nodes that run one after another, in the workflow and in each workflow inside it. Overrides their own limits. A
   * recorded run keeps it; a resume may raise it.
   */
  readonly maxSteps?: number;
  /**
   * Limits of spending, in place of the workflow's limits for the same measures: dollars, a text such as `200k-tokens, 20-calls, 10m`, or
   * an object. A resume may add to the limits, `+0.50`. Recorded results count whatever the budget is.
   */
  readonly budget?: BudgetInput;
  /** Whether events report the end of each step together with the state after it. */
  readonly streamState?: boolean;
  /** Checks the run after each step of the plan, before the run continues from there. An error that it returns fails the run. */
  readonly check?: StepCheck;
  /** Additional executors, by node kind. */
  readonly executors?: Executors;
  /** Records the run as it proceeds, so that finished work survives the end of the process. If absent, nothing is recorded. */
  readonly store?: Store;
  /** Resumes this run of the store: recorded results that still count are reused, and the rest runs (J3). */
  readonly resume?: string;
  /** Begins a new run that reuses the recorded results of another run that still count (J4). */
  readonly fork?: Fork;
  /** Continues a conversation of the store, or begins one: the run starts from the state with which the turn before ended (J12). */
  readonly thread?: string | ThreadOptions;
  /** JSON kept with a recorded run, for the code that continues it. */
  readonly origin?: JsonObject;
}

/** The run a fork starts from. */
export interface Fork {
  /** The id of the parent run. */
  readonly run: string;
  /**
   * Address of a step that runs again, together with the steps that depend on it: `review`, `review#2`, `scan[a.ts]/read`. Steps that ran
   * before it are kept, even in the same loop.
   */
  readonly from?: string;
  /** Addresses of steps that run again with everything inside them, whatever is recorded. Without a number: all visits of a node. */
  readonly forget?: readonly string[];
  /**
   * Values of the state, by key. Each replaces what the last kept step wrote to its key, and the steps that depend on it run again. A key
   * that no step has written is an input.
   */
  readonly set?: Readonly<Record<string, unknown>>;
}

/** A workflow that can run: a plan with its functions. {@link definePlan} and the loaders of notations return such an object. */
export interface Runnable {
  readonly plan: Plan | undefined;
  readonly bindings?: Bindings;
  /** Problems found while loading it. Reported if there is no plan. */
  readonly problems?: readonly Problem[];
  /** The files it was read from. Tools of its runs don't write them. */
  readonly files?: Workflow['files'];
  /** The folders searched for its agents. Tools of its runs don't write them. */
  readonly agentFolders?: Workflow['agentFolders'];
}
