import { SkeinError } from '../base/errors.js';
import { parseJsonText } from './json-path.js';
import type { TextReader } from './json-path.js';
import { parsingWork } from './work-meter.js';
import type { WorkMeter } from './work-meter.js';

/** Characters that one evaluation reads as JSON before it refuses to read more: they take less than a second. */
const MOST_READ = 16_000_000;

/** Reads texts as JSON for one evaluation, each of them once: a long text may be named very often. */
export class JsonTexts implements TextReader {
  private left = MOST_READ;
  private values: Map<string, unknown> | undefined = undefined;

  constructor(private readonly meter?: WorkMeter) {}

  /**
   * The JSON in a text, as {@link parseJsonText} finds it. However long a text is, it is read; but not another one behind it.
   *
   * @throws SkeinError SKEIN_TEMPLATE when too much was read before
   */
  parse(text: string): unknown {
    const values = (this.values ??= new Map());
    const known: unknown = values.get(text);
    if (known !== undefined || values.has(text)) return known;
    if (this.left <= 0) {
      throw new SkeinError('SKEIN_TEMPLATE', `one evaluation would read more than ${MOST_READ} characters as JSON`, {
        hint: 'look into fewer or shorter texts',
      });
    }
    this.left -= text.length;
    this.meter?.spend(parsingWork(text.length));
    const value = parseJsonText(text);
    values.set(text, value);
    return value;
  }
}
