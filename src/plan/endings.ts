/** How a step ended, as a value of the state. */
export interface StepEnd {
  readonly status: 'succeeded' | 'failed' | 'skipped' | 'timed_out';
  /** Of one that failed or timed out. */
  readonly error?: { readonly code: string; readonly message: string };
  /** Of a map: the items that failed, in the order in which they ended. */
  readonly errors?: readonly ItemError[];
}

/** An item of a map that failed. */
export interface ItemError {
  readonly index: number;
  /** What the item is called in its path. */
  readonly key: string;
  readonly message: string;
}

/** Where it goes on in place of a node that is at its cap. */
export interface OtherWay {
  readonly to: string;
  /** The run is degraded then, and its census says that a limit was reached. */
  readonly degraded?: true;
}

/**
 * How the others of a plan ended, in the state that the node sees which runs then (`Plan.finally`).
 *
 * @example
 * const flow = graph<RunEnd & { topic: string }>({ finally: 'close' })
 *   .node('open', ({ topic }) => `a room about ${topic}`)
 *   .node('close', ({ open, 'run.outcome': outcome }) => console.log(open, outcome));
 * await flow.run({ topic: 'looms' }); // a room about looms succeeded
 */
export interface RunEnd {
  readonly 'run.outcome'?: 'succeeded' | 'degraded' | 'failed' | 'cancelled';
  /** Of a plan that failed or was cancelled. */
  readonly 'run.error'?: { readonly code: string; readonly message: string; readonly hint?: string };
}

/** Channel that holds how a plan ended, for the node that runs then. */
export const RUN_OUTCOME = 'run.outcome';

/** Channel that holds why a plan failed: code, message and hint. */
export const RUN_ERROR = 'run.error';

/** Both. */
export const RUN_CHANNELS: readonly string[] = [RUN_OUTCOME, RUN_ERROR];
