import { cellsOfText } from '../base/text.js';
import type { Drawing } from '../plan/drawing.js';
import { layOut, type Layout, type Medium, type PlacedEdge, type PlacedItem, type Point } from './layout.js';

/** Sizes in points of the drawing. A letter is at most this wide in every viewer's font. */
const LETTER = 7.4;
const LINE = 17;
const PADDING = 12;
const FRAME_HEAD = 12;
const MARGIN = 16;

const MEDIUM: Medium = {
  box(item, inner) {
    const text = { width: widest(item.lines) * LETTER + 2 * PADDING, height: item.lines.length * LINE + 2 * PADDING };
    if (inner === undefined) return text;
    return {
      width: Math.max(text.width, inner.width + 2 * PADDING),
      height: text.height + FRAME_HEAD + inner.height + PADDING,
    };
  },
  head: (item) => ({ x: PADDING, y: item.lines.length * LINE + 2 * PADDING + FRAME_HEAD }),
  label: (text) => ({ width: cellsOfText(text) * LETTER, height: LINE }),
  gaps: { boxes: 28, edges: 14, ranks: 36 },
};

/** Paints a plan as a self-contained SVG, dark or light as the page. Texts of the plan are data: they can't become markup. */
export function paintSvg(drawing: Drawing): string {
  const layout = layOut(drawing, MEDIUM);
  const [width, height] = [layout.width + 2 * MARGIN, layout.height + 2 * MARGIN].map(round);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(drawing.name)}</title>
<style>${STYLE}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z" class="tip"/></marker></defs>
${content(layout, { x: MARGIN, y: MARGIN })}
</svg>
`;
}

const STYLE = [
  'svg{color-scheme:light dark;--ink:#1c2733;--line:#6b7a89;--box:#f4f7fa;--frame:#8a99a8;--untrusted:#c2410c}',
  '@media(prefers-color-scheme:dark){svg{--ink:#e3eaf1;--line:#93a3b3;--box:#1f2a35;--frame:#5e6f80;--untrusted:#fb923c}}',
  'text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:var(--ink)}',
  '.more{opacity:.75}.box{fill:var(--box);stroke:var(--line)}.entry{stroke-width:2.5}',
  '.frame{fill:none;stroke:var(--frame);stroke-dasharray:5 4}.edge{fill:none;stroke:var(--line);stroke-width:1.4}',
  '.sometimes{stroke-dasharray:4 4}.tip{fill:var(--line)}.label{text-anchor:middle;font-size:12px;opacity:.85}.untrusted{stroke:var(--untrusted)}',
].join('');

function content(layout: Layout, origin: Point): string {
  const edges = layout.edges.map((edge) => edgeMarkup(edge, origin));
  return [...edges, ...layout.items.map((placed) => itemMarkup(placed, origin))].join('\n');
}

function itemMarkup({ item, x, y, width, height, inner }: PlacedItem, origin: Point): string {
  const [left, top] = [round(origin.x + x), round(origin.y + y)];
  const corner = item.shape === 'end' || item.shape === 'anywhere' || item.shape === 'choice' ? 16 : 5;
  const kind = inner === undefined ? 'box' : 'frame';
  const border = `<rect x="${left}" y="${top}" width="${round(width)}" height="${round(height)}" rx="${corner}" class="${kind}${item.entry ? ' entry' : ''}${item.untrusted === true ? ' untrusted' : ''}"/>`;
  const lines = item.lines.map((line, index) => {
    const baseline = round(top + PADDING + (index + 0.76) * LINE);
    return `<text x="${round(left + PADDING)}" y="${baseline}"${index === 0 ? '' : ' class="more"'}>${escaped(line)}</text>`;
  });
  const within = inner === undefined ? [] : [content(inner, shifted({ x: left, y: top }, MEDIUM.head(item)))];
  return [border, ...lines, ...within].join('\n');
}

function edgeMarkup({ edge, points, label }: PlacedEdge, origin: Point): string {
  const [first, ...others] = points.map((point) => shifted(origin, point));
  if (first === undefined) return '';
  const path = [`M${at(first)}`, ...others.map((point) => `L${at(point)}`)].join('');
  const line = `<path d="${path}" class="edge${edge.dashed ? ' sometimes' : ''}${edge.untrusted === true ? ' untrusted' : ''}" marker-end="url(#tip)"/>`;
  if (label === undefined || edge.label === undefined) return line;
  const place = shifted(origin, label);
  return `${line}\n<text x="${round(place.x)}" y="${round(place.y + 4)}" class="label">${escaped(edge.label)}</text>`;
}

function shifted(origin: Point, { x, y }: Point): Point {
  return { x: origin.x + x, y: origin.y + y };
}

function at({ x, y }: Point): string {
  return `${round(x)} ${round(y)}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function widest(lines: readonly string[]): number {
  return Math.max(1, ...lines.map((line) => cellsOfText(line)));
}

const MARKUP: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

/** Replaces the characters that XML does not allow. */
function escaped(text: string): string {
  return text
    .replaceAll(/\p{Cc}|[\uFFFE\uFFFF]|\p{Cs}/gu, ' ')
    .replaceAll(/[&<>"']/g, (char) => MARKUP.get(char) ?? '');
}
