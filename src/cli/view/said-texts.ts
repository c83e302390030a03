import { Attempts } from '../../base/attempts.js';
import { beginsAgain, type SkeinEvent } from '../../events/event.js';
import type { RedactedStream } from '../../secrets/redact.js';
import { printable, secretsHidden } from './printable.js';
import type { RunLog } from './run-log.js';
import type { Style } from './style.js';

type StepEnded = SkeinEvent & { readonly type: 'step.ended' };

/** Texts of models as whole lines, each with its step. Text of a supervised step waits until the step is accepted. */
export class SaidTexts {
  /** The unfinished line of each step. A secret can have several lines, so the text is shown as far as none can begin in it. */
  private readonly open = new Map<string, { readonly safe: RedactedStream; line: string }>();
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
    const open = this.open.get(path) ?? { safe: secretsHidden().stream(), line: '' };
    const lines = (open.line + open.safe.push(text)).split('\n');
    open.line = lines.pop() ?? '';
    this.open.set(path, open);
    return this.keep(path, lines);
  }

  /** Ends the text of a call and returns its last lines. */
  rest(path: string): readonly string[] {
    const open = this.open.get(path);
    this.open.delete(path);
    const rest = open === undefined ? '' : open.line + open.safe.flush();
    return rest === '' ? [] : this.keep(path, rest.split('\n'));
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
