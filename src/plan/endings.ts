/** How a step ended, as a value of the state. */
export interface StepEnd {
  readonly status: 'succeeded' | 'failed' | 'skipped' | 'timed_out';
  /** Only of a step that failed or timed out. */
  readonly error?: { readonly code: string; readonly message: string };
  /** Only of a map: the failed items, in the order of the list. */
  readonly errors?: readonly ItemError[];
}

/** A failed item of a map. */
export interface ItemError {
  readonly index: number;
  /** The item's name in its path. */
  readonly key: string;
  readonly message: string;
}

/** The node that runs instead of one that has reached its cap. */
export interface OtherWay {
  readonly to: string;
  /** Whether the run is degraded; its census then reports the reached limit. */
  readonly degraded?: true;
}

/**
 * How the other nodes of a plan ended, in the state of the node that runs afterwards (`Plan.finally`).
 *
 * @example
 * const flow = graph<RunEnd & { topic: string }>({ finally: 'close' })
 *   .node('open', ({ topic }) => `a room about ${topic}`)
 *   .node('close', ({ open, 'run.outcome': outcome }) => console.log(open, outcome));
 * await flow.run({ topic: 'looms' }); // a room about looms succeeded
 */
export interface RunEnd {
  readonly 'run.outcome'?: 'succeeded' | 'degraded' | 'failed' | 'cancelled';
  /** Only of a plan that failed or was cancelled. */
  readonly 'run.error'?: { readonly code: string; readonly message: string; readonly hint?: string };
}

/** Channel with the outcome of a plan, for the node that runs after it. */
export const RUN_OUTCOME = 'run.outcome';

/** Channel with the reason of a plan's failure: code, message and hint. */
export const RUN_ERROR = 'run.error';

export const RUN_CHANNELS: readonly string[] = [RUN_OUTCOME, RUN_ERROR];
