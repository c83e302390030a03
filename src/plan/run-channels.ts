/** Channel that holds how a plan ended, for the node that runs then. */
export const RUN_OUTCOME = 'run.outcome';

/** Channel that holds why a plan failed: code, message and hint. */
export const RUN_ERROR = 'run.error';

/** Both. */
export const RUN_CHANNELS: readonly string[] = [RUN_OUTCOME, RUN_ERROR];
