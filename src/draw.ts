/**
 * Pictures of plans, all from one layout.
 *
 * @example
 * import { toBoxes } from './draw.js';
 *
 * console.log(toBoxes(plan, { unicode: true }));
 */
import { paintBoxes } from './draw/boxes.js';
import { paintSvg } from './draw/svg.js';
import { drawingOf } from './plan/drawing.js';
import type { Plan } from './plan/plan.js';

/**
 * A picture of a plan in boxes, for a terminal or a text. Without `unicode` it has signs of ASCII alone.
 *
 * @example
 * console.log(toBoxes(plan, { unicode: true }));
 */
export function toBoxes(plan: Plan, options: { readonly unicode: boolean }): string {
  return paintBoxes(drawingOf(plan), options);
}

/**
 * A picture of a plan as SVG: one that stands by itself, in the colours of the page that shows it, dark or light. Texts of the plan are data: they
 * can't become markup.
 *
 * @example
 * await writeFile('plan.svg', toSvg(plan));
 */
export function toSvg(plan: Plan): string {
  return paintSvg(drawingOf(plan));
}
