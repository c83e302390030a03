import type { StepChange } from '../../plan/diff.js';
import type { Changes } from '../../recorded-runs.js';
import { printable } from '../view/printable.js';
import type { Style } from '../view/style.js';

/** Above this number, steps are not listed by name. */
const LISTED = 30;

/** Describes the changes and the steps that run again because of them. `finished`: whether a step has results; `place`: where it runs again. */
export function changeLines(
  { diff, again, judged, maybe, memory }: Changes,
  { finished, place }: { readonly finished: (path: string) => boolean; readonly place: (path: string) => string },
  style: Style,
): readonly string[] {
  const sure = again.filter(finished);
  const supervised = judged.filter(finished);
  const perhaps = maybe.filter(finished);
  return [
    ...some(diff.steps.filter(({ stays }) => stays !== true).map((step) => stepLine(step, finished, style))),
    ...diff.inputs.map((name) => `  input ${printable(name)} changed`),
    ...diff.plan.map((what) => `  ${printable(what)} changed`),
    ...(memory ? ['  the first text of the shared memory changed'] : []),
    ...(sure.length === 0 ? [] : [`runs again: ${names(sure.map(place))}`]),
    ...(supervised.length === 0 ? [] : [`supervised again, with their work as it is: ${names(supervised)}`]),
    ...(perhaps.length === 0 ? [] : [`runs again where what it builds on comes out differently: ${names(perhaps)}`]),
  ];
}

function stepLine(
  { path, change, parts, effect, was }: StepChange,
  finished: (path: string) => boolean,
  style: Style,
): string {
  const name = style.bold(printable(path));
  if (was !== undefined) {
    const again = finished(was) ? ': it runs again, as results are kept under the name of their step' : '';
    return `  step ${name} was called ${printable(was)}${again}`;
  }
  if (change !== 'changed') return `  step ${name} ${change}`;
  const kept = effect === 'result' ? '' : ' (what is recorded of it still counts)';
  return `  step ${name} changed: ${parts.map(printable).join(', ')}${kept}`;
}

function some(lines: readonly string[]): readonly string[] {
  return lines.length <= LISTED ? lines : [...lines.slice(0, LISTED), `  … and ${lines.length - LISTED} more`];
}

function names(paths: readonly string[]): string {
  return some(paths.map(printable)).join(', ');
}
