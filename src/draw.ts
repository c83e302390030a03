/**
 * Pictures for the command line, all from one layout.
 *
 * @example
 * import { boxesOf, drawingOf } from './draw.js';
 *
 * console.log(boxesOf(drawingOf(plan), { unicode: true }));
 */
import { cellsOfText } from './base/text.js';
import { paintBoxes, type BoxesStyle } from './draw/boxes.js';
import type { Drawing, DrawnItem } from './plan/drawing.js';

export { paintSvg } from './draw/svg.js';
export { dotOf, mermaidOf } from './plan/draw.js';
export { drawingOf } from './plan/drawing.js';

/** The style of the boxes, and the width they must fit. */
export interface BoxesOptions extends BoxesStyle {
  /** The width in terminal cells, if known. */
  readonly columns?: number | undefined;
}

/**
 * A picture in boxes, for a terminal or a text. A picture that would be too wide with all details shows only the names of the nodes.
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

// Recursion is safe here: workflows are nested at most 50 deep (see checkPlan).
function nameOnly(item: DrawnItem): DrawnItem {
  return { ...item, lines: item.lines.slice(0, 1), inner: item.inner?.map(nameOnly) };
}
