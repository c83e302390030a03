import { WHOLE } from './expression-shape.js';
import type { CelVar } from './values.js';

/** A name that an expression reads and that can't be there. */
export interface UnknownMember {
  /** What is read: `steps.a.outptu`. */
  readonly read: string;
  readonly name: string;
  /** What is there instead. */
  readonly known: readonly string[];
}

/**
 * The first read of an expression that leads to a name that its variables don't have. What stands in a value is only known when it is there.
 *
 * @example
 * unknownMember([['steps', 'a', 'outptu']], { steps: { fields: { a: { fields: { output } } } } })?.known; // ['output']
 */
export function unknownMember(
  reads: readonly (readonly string[])[],
  vars: Readonly<Record<string, CelVar>>,
): UnknownMember | undefined {
  for (const read of reads) {
    let fields: Readonly<Record<string, CelVar>> | undefined = vars;
    for (const [at, name] of read.entries()) {
      if (fields === undefined || name === WHOLE) break;
      const found: CelVar | undefined = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (found === undefined) return { read: read.slice(0, at + 1).join('.'), name, known: Object.keys(fields) };
      fields = 'fields' in found ? found.fields : undefined;
    }
  }
  return undefined;
}
