import type { SkeinEvent } from '../../../src/index.js';

/** Whether a plan ended on purpose in a run. How far steps beside an end come, or whether they begin, is a matter of time. */
export class EndWatch {
  ended = false;

  readonly listen = (event: SkeinEvent): void => {
    if (event.type === 'step.started' && event.kind === 'end') this.ended = true;
  };
}
