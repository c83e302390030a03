import type { Position } from '../../base/problem.js';
import { parseTemplate } from '../../lang/template.js';
import { quoteShort } from '../../lang/value-text.js';
import { around } from './blocks.js';
import type { Placed } from './blocks.js';
import type { Names } from './order.js';

/** Words that start a reference if preceded by `$`. */
const ROOTS: ReadonlySet<string> = new Set(['prompt', 'item', 'steps', 'inputs']);

/**
 * Returns the text of a prompt between its references. A name in braces that is a step or a value is an error (`bad-reference`), because
 * the `$` is missing. Any other name is kept, with a warning (`not-a-reference`). A backslash before the braces marks them as text.
 */
export function textBetween(
  text: string,
  reader: Placed,
  names: Names,
  placeOf: (written: string) => Position,
): string {
  const { findings } = names;
  return parseTemplate(text)
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      const written = text.slice(piece.offset, text.indexOf('}}', piece.offset) + 2);
      const [root = ''] = piece.expression.split('.');
      const meant = ROOTS.has(root) ? `$${piece.expression}` : named(root, reader, names);
      const what = quoteShort(written);
      if (meant === undefined) {
        const hint =
          'references are {{ $steps.ID.output }}, {{ $inputs.NAME }}, {{ $prompt }} and {{ $item }}; a backslash before the braces says that they are text';
        findings.warning('not-a-reference', `${what} is not a reference and is left as it is`, placeOf(written), hint);
      } else {
        const hint = `did you mean {{ ${meant} }}? A backslash before the braces writes them as text`;
        findings.error('bad-reference', `${reader.step.label}: ${what} names no value`, placeOf(written), hint);
      }
      return written;
    })
    .join('');
}

/** Returns the reference to a step or an input with this name. */
function named(name: string, reader: Placed, { inputs }: Names): string | undefined {
  const found = [...around(reader)].some((here) => here.block.byId.has(name));
  return found ? `$steps.${name}.output` : inputs.has(name) ? `$inputs.${name}` : undefined;
}
