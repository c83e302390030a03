import { didYouMean } from '../../base/suggest.js';
import type { TreeWorkflow } from './definition.js';
import type { TreeFindings, TreePlace } from './findings.js';
import type { GivenValue } from './names.js';
import { placedSteps, singleFields, stepsWithin, textsOf } from './names.js';

/** A `$name` in a text. */
export interface NameReference {
  readonly name: string;
}

const REFERENCE = /\$(?:\$|([A-Za-z_][A-Za-z0-9_]*))/g;

/**
 * Splits a text into literal pieces and the names in it, in one pass: `$$` is a `$`, and a `$` before anything that is not a name is text.
 * `piecesOf('Pay $sum by $day, $$5')` gives `['Pay ', { name: 'sum' }, ' by ', { name: 'day' }, ', $5']`.
 */
export function piecesOf(text: string): readonly (string | NameReference)[] {
  const pieces: (string | NameReference)[] = [];
  let literal = '';
  let from = 0;
  for (const match of text.matchAll(REFERENCE)) {
    const [written, name] = match;
    literal += text.slice(from, match.index);
    from = match.index + written.length;
    if (name === undefined) {
      literal += '$';
      continue;
    }
    if (literal !== '') pieces.push(literal);
    literal = '';
    pieces.push({ name });
  }
  literal += text.slice(from);
  if (literal !== '') pieces.push(literal);
  return pieces;
}

/** The names that a text refers to, each once. */
export function namesIn(text: string): readonly string[] {
  const names = piecesOf(text).flatMap((piece) => (typeof piece === 'string' ? [] : [piece.name]));
  return [...new Set(names)];
}

/** Every `$name` must be a parameter, or what a step before this one gives. */
export function checkReferences(tree: TreeWorkflow, given: readonly GivenValue[], findings: TreeFindings): void {
  const steps = tree.sequences.flatMap(({ steps: all }) => all);
  const later = new Set([...steps.flatMap(({ name, outputs }) => [name, ...outputs]), ...singleFields(tree)]);
  for (const { step, path, visible } of placedSteps(tree, given)) {
    const check = (name: string, message: string, place: TreePlace): void => {
      if (visible.has(name)) return;
      const hint = later.has(name)
        ? `${name} is given by this step or a later one`
        : (didYouMean(name, visible.keys()) ?? 'write $$ for a $ that is text');
      findings.error('unknown-reference', message, place, hint);
    };
    for (const inner of stepsWithin(step, path)) {
      const place = { at: inner.step.at, path: inner.path };
      for (const { text, owner } of textsOf(inner.step)) {
        for (const name of namesIn(text))
          check(name, `${owner}: $${name} is not declared as a parameter or upstream output`, place);
      }
      if (inner.step.kind !== 'convergence' || inner.step.withinVar === undefined) continue;
      const { name, withinVar } = inner.step;
      check(
        withinVar,
        `convergence ${name}: withinVar "${withinVar}" is not declared as a parameter or upstream output`,
        place,
      );
    }
  }
}
