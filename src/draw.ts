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
import type { BoxesStyle } from './draw/boxes.js';
import type { Drawing, DrawnItem } from './plan/drawing.js';

export { paintSvg } from './draw/svg.js';
export { dotOf, mermaidOf } from './plan/draw.js';
export { drawingOf } from './plan/drawing.js';

/** Where a picture of boxes is shown. */
export interface BoxesOptions extends BoxesStyle {
  /** How wide the place is, when that is known. */
  readonly columns?: number | undefined;
}

/**
 * A picture in boxes, for a terminal or a text. Where it would be too wide with all that is known of the nodes, it has their names only.
 *
 * @example
 * console.log(boxesOf(drawingOf(plan), { unicode: true, columns: 80 }));
 */
export function boxesOf(drawing: Drawing, { columns, ...style }: BoxesOptions): string {
  // Some terminals report a width of 0.
  if (columns === undefined || columns === 0) return paintBoxes(drawing, style);
  const lines = paintBoxes(drawing, { unicode: style.unicode }).split('\n');
  const fits = lines.every((line) => cellsOfText(line) <= columns);
  return paintBoxes(fits ? drawing : { ...drawing, items: drawing.items.map(nameOnly) }, style);
}

// Workflows are nested 50 deep at most (see checkPlan), so recursion is safe here.
function nameOnly(item: DrawnItem): DrawnItem {
  return { ...item, lines: item.lines.slice(0, 1), inner: item.inner?.map(nameOnly) };
}
