/** Known again across copies of this module. */
const STAND_IN = Symbol.for('skein.stand-in');

/** A function in place of one that is not there, in a run without models: its script says what the tool gives. */
export function standInTool(): () => string {
  return Object.defineProperty(() => 'not run: a run with --mock calls no function that is not there', STAND_IN, {
    value: true,
  });
}

/** Whether a function is such a stand-in. */
export function isStandIn(fn: unknown): boolean {
  return typeof fn === 'function' && STAND_IN in fn;
}
