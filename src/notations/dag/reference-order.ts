import { quoteShort } from '../../lang/value-text.js';
import type { Findings } from '../../text/findings.js';
import type { References, Use } from './references.js';
import { nearestStep } from './step-graph.js';

/** Checks that a step has an output. Problem code: `missing-output`. */
export function checkOutput(id: string, { step, at }: Pick<Use, 'step' | 'at'>, references: References): boolean {
  const { graph } = references;
  if (graph.hasOutput(id)) return true;
  const what = graph.step(id)?.end === undefined ? 'it waits for time to pass' : 'it ends the workflow';
  const hint = `${what}: refer to a step that gives something`;
  references.fault('missing-output', `${step.label} refers to ${quoteShort(id)}, which has no output`, at, hint);
  return false;
}

/** Checks that a step has ended whenever its reader starts. Problem codes: `unknown-step`, `not-upstream`. */
export function checkStep(
  id: string,
  { step, at }: Pick<Use, 'step' | 'at'>,
  { graph }: References,
  findings: Findings,
): void {
  if (graph.endsBefore(id, step)) return;
  const ids = graph.idsAround(step);
  if (!ids.has(id)) {
    const block = graph.blockOf(id);
    const what = block === undefined ? 'which does not exist' : `which is inside of ${block.label}`;
    const outside =
      block?.map === undefined
        ? `write steps.${block?.id}.outputs.${id}.output`
        : `it has one for each item: write steps.${block.id}.output`;
    const hint = block === undefined ? nearestStep(id, ids, findings) : outside;
    findings.error('unknown-step', `${step.label} refers to the step ${quoteShort(id)}, ${what}`, at, hint);
    return;
  }
  const refers = `${step.label} refers to`;
  if (id === step.id || graph.isAround(id, step)) {
    const own =
      id === step.id ? 'its own output' : `the ${graph.step(id)?.map === undefined ? 'loop' : 'map'} around it`;
    const hint = `write steps.${id}.output? for that of the round before`;
    const isRepeated = graph.endedInRoundBefore(id, step);
    findings.error('not-upstream', `${refers} ${own}`, at, isRepeated ? hint : 'a step sees what ran before it');
    return;
  }
  const hint = graph.endedInRoundBefore(id, step)
    ? `add ${id} to its depends_on, or write steps.${id}.output? for that of the round before`
    : `add ${id} to its depends_on`;
  const message = `${refers} the step ${quoteShort(id)}, which need not have run before`;
  findings.error('not-upstream', message, at, hint);
}
