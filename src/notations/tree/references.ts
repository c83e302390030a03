import { didYouMean } from '../../base/suggest.js';
import type { TreeFindings, TreePlace, TreeWorkflow } from './definition.js';
import { placedSteps, singleFields, stepsWithin, textsOf, type GivenValue } from './names.js';

export interface NameReference {
  readonly name: string;
}

/** Splits a text at references. The capture is the name, or undefined for `$$`. */
const REFERENCE = /\$(?:\$|([A-Za-z_][A-Za-z0-9_]*))/;

/**
 * Splits a text into literal pieces and names, in one pass: `$$` is a `$`, and a `$` before anything that is not a name is text.
 * `piecesOf('Pay $sum by $day, $$5')` returns `['Pay ', { name: 'sum' }, ' by ', { name: 'day' }, ', $5']`.
 */
export function piecesOf(text: string): readonly (string | NameReference)[] {
  const parts: readonly (string | undefined)[] = text.split(REFERENCE);
  const pieces: (string | NameReference)[] = [];
  let literal = parts[0] ?? '';
  for (let at = 1; at < parts.length; at += 2) {
    const [name, behind = ''] = [parts[at], parts[at + 1]];
    if (name === undefined) {
      literal += `$${behind}`;
      continue;
    }
    if (literal !== '') pieces.push(literal);
    pieces.push({ name });
    literal = behind;
  }
  if (literal !== '') pieces.push(literal);
  return pieces;
}

/** Returns the names that a text refers to, each once. */
export function namesIn(text: string): readonly string[] {
  const names = piecesOf(text).flatMap((piece) => (typeof piece === 'string' ? [] : [piece.name]));
  return [...new Set(names)];
}

/** Checks that every `$name` is a parameter, or an output of an earlier step. */
export function checkReferences(tree: TreeWorkflow, given: readonly GivenValue[], findings: TreeFindings): void {
  const single = singleFields(tree);
  const steps = tree.sequences.flatMap(({ steps: all }) => all);
  const isLater = (name: string): boolean =>
    single.has(name) || steps.some((step) => step.name === name || step.outputs.includes(name));
  for (const { step, path, visible } of placedSteps(tree, single, given)) {
    const check = (name: string, message: string, place: TreePlace, otherwise: string): void => {
      if (visible.has(name)) return;
      const hint = isLater(name)
        ? `${name} is given by this step or a later one`
        : (didYouMean(name, visible.keys()) ?? otherwise);
      findings.error('unknown-reference', message, place, hint);
    };
    for (const inner of stepsWithin(step, path)) {
      const place = { at: inner.step.at, path: inner.path };
      for (const { text, owner } of textsOf(inner.step)) {
        for (const name of namesIn(text))
          check(
            name,
            `${owner}: $${name} is not declared as a parameter or upstream output`,
            place,
            'write $$ for a $ that is text',
          );
      }
      if (inner.step.kind !== 'convergence' || inner.step.withinVar === undefined) continue;
      const { name, withinVar } = inner.step;
      check(
        withinVar,
        `convergence ${name}: withinVar "${withinVar}" is not declared as a parameter or upstream output`,
        place,
        'declare it as a parameter, or give the number of rounds itself',
      );
    }
  }
}
