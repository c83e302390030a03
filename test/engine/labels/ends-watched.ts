import type { SkeinEvent } from '../../../src/index.js';

/**
 * Whether a plan ended in a run while steps of it were still at work: on purpose, or since one of them failed. How far steps beside such an
 * end come, or whether they begin, is a matter of time.
 */
export class EndWatch {
  ended = false;

  readonly listen = (event: SkeinEvent): void => {
    if (event.type === 'step.started' && event.kind === 'end') this.ended = true;
    if (event.type === 'step.ended' && event.outcome === 'cancelled') this.ended = true;
  };
}
