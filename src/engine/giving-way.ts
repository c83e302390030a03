/**
 * Units of work (`WorkMeter`) after which a run gives way to the event loop, some 20 ms: signals are taken and timers fire. They are counted and not
 * timed, so that a run does the same in every repetition; a run that evaluates little never gives way.
 */
export const WORK_AT_ONCE = 1_000_000;

/** Units of starting something that is ready, in addition to what it evaluates. */
export const WORK_OF_START = 20;
