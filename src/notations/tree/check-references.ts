import { didYouMean } from '../../base/suggest.js';
import type { TreeWorkflow } from './definition.js';
import type { TreeFindings, TreePlace } from './findings.js';
import type { GivenValue } from './names.js';
import { placedSteps, singleFields, stepsWithin, textsOf } from './names.js';
import { namesIn } from './references.js';

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
