import { Attempts } from '../../base/attempts.js';
import type { SkeinEvent } from '../../events/event.js';
import { beginsAgain } from '../../events/event.js';
import { printable } from './printable.js';
import type { RunLog } from './run-log.js';
import type { Style } from './style.js';

type StepEnded = SkeinEvent & { readonly type: 'step.ended' };

/**
 * What models say while steps run, as lines. Parallel steps write at once: only whole lines are shown, each with its step. What is said in a supervised
 * step, or inside of one, waits until the step is accepted.
 */
export class SaidTexts {
  /** The line that each step is at. */
  private readonly open = new Map<string, string>();
  private readonly attempts = new Attempts<string>();

  constructor(
    private readonly log: RunLog,
    private readonly style: Style,
  ) {}

  /** Hears every event, also those that are reported again. */
  follow(event: SkeinEvent): void {
    const { type, path, parent } = event;
    if (type === 'step.started') this.attempts.open(path, parent, this.log.isSupervised(path));
    else if (beginsAgain(event)) this.attempts.again(path);
    else if (type === 'step.ended' && event.replayed === true) this.end(event);
  }

  /** Lines that can be shown now. */
  add(path: string, text: string): readonly string[] {
    const lines = ((this.open.get(path) ?? '') + text).split('\n');
    this.open.set(path, lines.pop() ?? '');
    return this.keep(path, lines);
  }

  /** The text of a call is over. */
  rest(path: string): readonly string[] {
    const rest = this.open.get(path) ?? '';
    this.open.delete(path);
    return rest === '' ? [] : this.keep(path, [rest]);
  }

  /** The step is over: what was said in it counts, or does not. */
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
