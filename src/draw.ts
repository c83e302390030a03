/**
 * Pictures of plans, all from one layout.
 *
 * @example
 * import { toBoxes } from './draw.js';
 *
 * console.log(toBoxes(plan, { unicode: true }));
 */
import { cellsOfText } from './base/text.js';
import { paintBoxes } from './draw/boxes.js';
import { paintSvg } from './draw/svg.js';
import { drawingOf } from './plan/drawing.js';
import type { DrawnItem } from './plan/drawing.js';
import type { Plan } from './plan/plan.js';

/** Where a picture of boxes is shown. */
export interface BoxesOptions {
  /** Without it the picture has signs of ASCII alone. */
  readonly unicode: boolean;
  /** How wide the place is, when that is known. */
  readonly columns?: number | undefined;
}

/**
 * A picture of a plan in boxes, for a terminal or a text. Where it would be too wide with all that is known of the nodes, it has their names only.
 *
 * @example
 * console.log(toBoxes(plan, { unicode: true, columns: 80 }));
 */
export function toBoxes(plan: Plan, { unicode, columns }: BoxesOptions): string {
  const drawing = drawingOf(plan);
  const whole = paintBoxes(drawing, { unicode });
  // Some terminals report a width of 0.
  if (columns === undefined || columns === 0) return whole;
  const fits = whole.split('\n').every((line) => cellsOfText(line) <= columns);
  return fits ? whole : paintBoxes({ ...drawing, items: drawing.items.map(nameOnly) }, { unicode });
}

// Workflows are nested 50 deep at most (see checkPlan), so recursion is safe here.
function nameOnly(item: DrawnItem): DrawnItem {
  return { ...item, lines: item.lines.slice(0, 1), inner: item.inner?.map(nameOnly) };
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
