import type { ErrorData } from '../../base/errors.js';
import type { ScopeEnd } from '../services.js';
import type { Version } from '../state/version.js';
import { Closing, closes } from './closing.js';
import { ScopeSteps } from './scope-steps.js';

/** What a plan is told that ends because the step around it does. */
const CUT_OFF: ErrorData = { code: 'SKEIN_CANCELLED', message: 'the step around it ended first' };

/** The end of one execution of a plan: what runs then, if the plan has a node for it. */
export abstract class ScopeAtEnd extends ScopeSteps {
  protected closing: Closing | undefined = undefined;

  /** The node `finally` runs, if the plan has one; then it is over. */
  protected close(end: ScopeEnd, over: (end: ScopeEnd) => void): void {
    const { closing } = this.compiled;
    if (closing === undefined || this.final === undefined || !closes(end)) {
      over(end);
      return;
    }
    for (const at of closing.starts) this.visits.next(at);
    this.closing = new Closing(this, closing, { end, final: this.final }, (ended) => {
      this.closing = undefined;
      over(ended);
    });
  }

  /** It was cut off with this state: the run alone waits for what runs then. */
  protected closeApart(final: Version): void {
    this.final = final;
    this.close({ type: 'failed', error: CUT_OFF, path: this.parent }, () => undefined);
    this.closing?.detach();
  }

  protected stopClosing(): void {
    this.closing?.stop();
    this.closing = undefined;
  }
}
