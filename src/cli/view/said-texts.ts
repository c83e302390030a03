import { Attempts } from '../../base/attempts.js';
import type { SkeinEvent } from '../../events/event.js';
import { beginsAgain } from '../../events/event.js';
import { printable } from './printable.js';
import type { RunLog } from './run-log.js';
import type { Style } from './style.js';

type StepEnded = SkeinEvent & { readonly type: 'step.ended' };

/**
 * Texts of models as lines while steps run. Parallel steps write at the same time, so only whole lines are shown, each with its step. Text
 * of a supervised step, or of a step inside one, waits until the step is accepted.
 */
export class SaidTexts {
  /** The unfinished line of each step. */
  private readonly open = new Map<string, string>();
  private readonly attempts = new Attempts<string>();

  constructor(
    private readonly log: RunLog,
    private readonly style: Style,
  ) {}

  /** Receives every event, including replayed ones. */
  follow(event: SkeinEvent): void {
    const { type, path, parent } = event;
    if (type === 'step.started') this.attempts.open(path, parent, this.log.isSupervised(path));
    else if (beginsAgain(event)) this.attempts.again(path);
    else if (type === 'step.ended' && event.replayed === true) this.end(event);
  }

  /** Adds text and returns the lines that can be shown now. */
  add(path: string, text: string): readonly string[] {
    const lines = ((this.open.get(path) ?? '') + text).split('\n');
    this.open.set(path, lines.pop() ?? '');
    return this.keep(path, lines);
  }

  /** Ends the text of a call and returns its last line. */
  rest(path: string): readonly string[] {
    const rest = this.open.get(path) ?? '';
    this.open.delete(path);
    return rest === '' ? [] : this.keep(path, [rest]);
  }

  /** Ends a step. Returns the lines that can be shown now: text of an unaccepted step is dropped. */
  end({ path, parent, outcome }: StepEnded): readonly string[] {
    const rest = this.rest(path);
    if (outcome !== 'succeeded' && this.log.isSupervised(path)) this.attempts.again(path);
    return [...rest, ...this.attempts.close(path, parent)];
  }

  private keep(path: string, lines: readonly string[]): readonly string[] {
    const { signs } = this.style;
    return this.attempts.keep(
      path,
      lines.map((line) => `${printable(path)} ${signs.bar} ${printable(line)}`),
    );
  }
}
