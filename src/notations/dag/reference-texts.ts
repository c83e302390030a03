import { present } from '../../base/json.js';
import { splitExpressions } from '../../lang/computed-text.js';
import { parseTemplate } from '../../lang/template.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Computed, TemplateRef } from '../../lang/values.js';
import type { Findings } from '../../text/findings.js';
import type { References, Use } from './references.js';
import { resolve } from './resolve.js';

export interface TextSource {
  readonly computed: (text: string, use: Omit<Use, 'truncate'>, references: References) => Computed | undefined;
}

/** A reference or an expression. An expression without text is not closed. */
interface Reading {
  readonly expression: string;
  readonly computed?: string;
  readonly written: string;
}

/** Splits a text at the references and expressions in double braces, keeping how they were written. */
export function splitText(text: string): readonly (string | Reading)[] {
  return splitExpressions(text).flatMap((part): readonly (string | Reading)[] => {
    if (typeof part !== 'string') return [{ expression: '', computed: part.expression ?? '', written: part.written }];
    return parseTemplate(part, true).map((piece) => {
      if (typeof piece === 'string') return piece;
      const { expression, offset } = piece;
      return { expression, written: part.slice(offset, part.indexOf('}}', offset) + 2) };
    });
  });
}

/** Returns the replacement of a reference or an expression. Undefined if the text is kept. */
export function filled(
  { computed, expression, written }: Reading,
  use: Use,
  { source, references, findings }: { source: TextSource; references: References; findings: Findings },
): TemplateRef | Computed | undefined {
  if (computed === undefined) {
    const found = resolve(expression, use, references);
    if (found === undefined) reportNoReference(expression, use, references, findings);
    return found;
  }
  if (computed === '') {
    const message = `${use.owner}: ${quoteShort(written)} has no end, or nothing in it`;
    const hint = 'end it with }}; a backslash before the braces says that they are text';
    findings.error('bad-expression', message, use.at, hint);
    return undefined;
  }
  const found = source.computed(computed, use, references);
  return found && { ...found, ...present({ truncate: use.truncate }) };
}

/** Reports a text that looks like a reference and is not one. If it names a step or an input, the hint completes it. */
function reportNoReference(expression: string, use: Use, references: References, findings: Findings): void {
  const { inputs } = references;
  const ids = references.graph.idsAround(use.step);
  const written = quoteShort(`{{${expression}}}`);
  const [root = '', ...rest] = expression.replace(/\?$/, '').split('.');
  const behind = rest[0] === 'output' ? rest.slice(1) : rest;
  const meant = ids.has(root)
    ? ['steps', root, 'output', ...behind]
    : inputs.has(root) && rest.length === 0
      ? ['inputs', root]
      : undefined;
  if (meant !== undefined) {
    const hint = `did you mean {{${meant.join('.')}}}? A backslash before the braces writes them as text`;
    findings.error('bad-reference', `${use.owner}: ${written} names no value`, use.at, hint);
    return;
  }
  const forms = 'references are {{inputs.NAME}} and {{steps.ID.output}}, followed by .PATH for JSON';
  const near = nearest([root, ...rest], use, references, findings);
  const hint =
    near === undefined
      ? `${forms}; a backslash before the braces says that they are text`
      : `did you mean {{${near.join('.')}}}? A backslash before the braces says that they are text`;
  findings.warning('not-a-reference', `${written} is not a reference and is left as it is`, use.at, hint);
}

/** Returns the reference that was probably meant, where a word of it is misspelt or left out. */
function nearest(
  [root = '', ...rest]: readonly string[],
  { step }: Use,
  { graph, inputs }: References,
  findings: Findings,
): readonly string[] | undefined {
  const ids = graph.idsAround(step);
  const items = graph.mapsAround(step).flatMap(({ map }) => map?.as ?? []);
  const [inner] = items;
  if (root === 'item' && inner !== undefined) return [inner, ...rest];
  const [name = '', ...path] = rest;
  const kind = root === 'steps' || root === 'inputs' ? root : findings.nearest(root, ['steps', 'inputs']);
  if (kind === 'inputs' && inputs.has(name)) return [kind, name];
  if (kind === 'steps' && ids.has(name)) return [kind, name, 'output', ...behindOutput(path, findings)];
  const found = findings.nearest(root, [...items, ...inputs, ...ids]);
  if (found === undefined) return undefined;
  if (items.includes(found)) return [found, ...rest];
  return inputs.has(found) ? ['inputs', found] : ['steps', found, 'output', ...behindOutput(rest, findings)];
}

/** What stands behind the word `output`, however it is spelt. */
function behindOutput([first = '', ...path]: readonly string[], findings: Findings): readonly string[] {
  const isOutput = first === '' || first === 'output' || findings.nearest(first, ['output']) !== undefined;
  return isOutput ? path : [first, ...path];
}
