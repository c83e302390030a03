/**
 * Pictures for the command line, all from one layout.
 *
 * @example
 * import { boxesOf, drawingOf } from './draw.js';
 *
 * console.log(boxesOf(drawingOf(plan), { unicode: true }));
 */
import { cellsOfText } from './base/text.js';
import { paintBoxes } from './draw/boxes.js';
import type { Drawing, DrawnItem } from './plan/drawing.js';

export { paintSvg } from './draw/svg.js';
export { dotOf, mermaidOf } from './plan/draw.js';
export { drawingOf } from './plan/drawing.js';

/** Where a picture of boxes is shown. */
export interface BoxesOptions {
  /** Without it the picture has signs of ASCII alone. */
  readonly unicode: boolean;
  /** How wide the place is, when that is known. */
  readonly columns?: number | undefined;
}

/**
 * A picture in boxes, for a terminal or a text. Where it would be too wide with all that is known of the nodes, it has their names only.
 *
 * @example
 * console.log(boxesOf(drawingOf(plan), { unicode: true, columns: 80 }));
 */
export function boxesOf(drawing: Drawing, { unicode, columns }: BoxesOptions): string {
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
