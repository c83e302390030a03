/**
 * Who fires the events of a state: the model (`internal`, the default), the surrounding program (`external`), both (`hybrid`), or a
 * composition, which answers instead of a model.
 *
 * @example
 * const mode = 'hybrid' satisfies Orchestration;
 */
export type Orchestration = 'internal' | 'external' | 'hybrid' | 'composition';

/**
 * Whether the messages of a state are kept when it is left (`persistent`, the default) or dropped (`transient`).
 *
 * @example
 * const kept = 'transient' satisfies Persistence;
 */
export type Persistence = 'transient' | 'persistent';

/**
 * An artifact that a state declares: a text whose name all states share. `append` adds to the value, `replace` (the default) sets it.
 *
 * @example
 * const log = { type: 'text/plain', mode: 'append' } satisfies ArtifactDef;
 */
export interface ArtifactDef {
  /** A MIME type; values are not checked against it. */
  readonly type: string;
  readonly description?: string;
  readonly mode?: 'replace' | 'append';
}

/**
 * One state of a machine. A state without `on_event` is terminal; so is one with `terminal: true`, whatever its events.
 *
 * @example
 * const draft = { prompt_task: 'draft', on_event: { Submit: 'review' }, max_visits: 3, on_max_visits: 'done' } satisfies State;
 */
export interface State {
  /** Name of the state's prompt. A composition state has none. */
  readonly prompt_task?: string;
  readonly description?: string;
  /** Target states by event name. Names must match exactly. */
  readonly on_event?: Readonly<Record<string, string>>;
  readonly persistence?: Persistence;
  readonly orchestration?: Orchestration;
  readonly composition?: string;
  readonly skills?: string;
  readonly terminal?: boolean;
  /** How often the state may be entered; 0 or absent: no limit. */
  readonly max_visits?: number;
  /** The state to enter instead once `max_visits` is reached. */
  readonly on_max_visits?: string;
  readonly artifacts?: Readonly<Record<string, ArtifactDef>>;
}

/**
 * Limits of a whole machine, `engine.budget` of a spec; 0 or absent: no limit.
 *
 * @example
 * const budget = { max_total_visits: 20, max_wall_time_sec: 600 } satisfies Budget;
 */
export interface Budget {
  /** Number of entries of all states. The entry state counts, so a limit of N allows N - 1 transitions. */
  readonly max_total_visits?: number;
  readonly max_tool_calls?: number;
  /** Whole seconds for which the machine was alive. */
  readonly max_wall_time_sec?: number;
}

/**
 * A state machine as data: the `workflow` section of a PromptPack.
 *
 * @example
 * const spec = {
 *   version: 2,
 *   entry: 'draft',
 *   states: { draft: { prompt_task: 'draft', on_event: { Submit: 'done' } }, done: { prompt_task: 'done', terminal: true } },
 * } satisfies Spec;
 */
export interface Spec {
  /** 1 or 2. */
  readonly version: number;
  /** Name of the state in which a new machine starts. */
  readonly entry: string;
  readonly states: Readonly<Record<string, State>>;
  /** Runtime settings; only `budget` has a meaning here. */
  readonly engine?: { readonly budget?: Budget; readonly [key: string]: unknown };
}
