import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { boxesOf, drawingOf as drawn, paintSvg } from '../../src/draw.js';
import { paintBoxes } from '../../src/draw/boxes.js';
import { layOut } from '../../src/draw/layout.js';
import type { PlacedItem, Point } from '../../src/draw/layout.js';
import type { DrawnItem, Drawing } from '../../src/plan/drawing.js';
import { definePlan } from '../../src/index.js';
import { cases } from '../thorough.js';
import { ROOT, makeProject } from './support/skein.js';
import { served } from './support/served.js';
import { noTerminal, screenOf, startOnTerminal } from './support/terminal.js';

const missing = noTerminal();
if (missing !== undefined) console.log(`pictures are not looked at on a terminal: ${missing}`);

const FLOW = `name: review
agents:
  w: { inline: { prompt: You write. } }
steps:
  - { id: facts, agent: w, prompt: x }
  - { id: pro, agent: w, depends_on: [facts], prompt: x }
  - { id: con, agent: w, depends_on: [facts], prompt: x }
  - { id: verdict, agent: w, depends_on: [pro, con], prompt: x }
`;

const PICTURE = `       ┌─────────┐
       │ facts   │
       │ agent w │
       └─────────┘
          ╷   ╷
     ╭────╯   ╰────╮
     ▼             ▼
┌─────────┐   ┌─────────┐
│ pro     │   │ con     │
│ agent w │   │ agent w │
└─────────┘   └─────────┘
     ╷             ╷
     ╰────╮   ╭────╯
          ▼   ▼
       ┌─────────┐
       │ verdict │
       │ agent w │
       └─────────┘
`;

test('[XU8] the first picture is one of boxes, joined by lines', async () => {
  const cwd = await makeProject({ 'flow.yaml': FLOW });
  const { code, stdout } = await served(['graph', 'flow.yaml'], { cwd });
  expect(code).toBe(0);
  expect(stdout).toBe(PICTURE);
});

test.skipIf(missing !== undefined).each([
  [120, true],
  [80, false],
])('[XU1] on a screen of %i columns the picture has what is known of the steps: %s', async (columns, whole) => {
  const cwd = await makeProject();
  const file = join(ROOT, 'examples/code-review/workflow.yaml');
  const lines = screenOf((await startOnTerminal(['graph', file], { cwd, columns }).ended).stdout);
  expect(lines.some((line) => line.includes('agent security-reviewer'))).toBe(whole);
  expect(lines.some((line) => line.includes(' security '))).toBe(true);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
});

test('[XU8] a terminal without Unicode gets a picture of ASCII signs', async () => {
  const cwd = await makeProject({ 'flow.yaml': FLOW });
  const { stdout } = await served(['graph', 'flow.yaml'], { cwd, env: { LANG: 'C' } });
  expect(stdout).toMatch(/^[ -~\n]+$/);
  expect(stdout).toContain('| facts   |');
  expect(stdout.match(/\bv\b/g)?.length).toBeGreaterThanOrEqual(4);
});

test('[XU8] --format svg is a picture by itself, from the same layout', async () => {
  const cwd = await makeProject({ 'flow.yaml': FLOW });
  const { code, stdout } = await served(['graph', 'flow.yaml', '--format', 'svg'], { cwd });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 [\d.]+ [\d.]+"/);
  expect(stdout.match(/<rect /g)).toHaveLength(4);
  expect(stdout.match(/<path d="M[\d.]+ [\d.]+L/g)).toHaveLength(4);
});

test('[XU8] texts of a workflow are no markup and no commands of a terminal', () => {
  const bad = '</text><script>alert(1)</script>&"\u001B[2J\u0000';
  const plan = definePlan({ name: bad, nodes: [{ id: 'a', kind: 'pass', label: bad }] }).plan;
  expect(paintSvg(drawn(plan))).not.toMatch(/<script|\p{Cc}(?<!\n)|&(?!(amp|lt|gt|quot|#39);)/u);
  expect(boxesOf(drawn(plan), { unicode: true })).not.toMatch(/\p{Cc}(?<!\n)/u);
});

const drawing = fc
  .record({
    sizes: fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 12 }),
    edges: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.boolean()), { maxLength: 20 }),
  })
  .map(({ sizes, edges }): Drawing => {
    const item = (size: number, at: number): DrawnItem => ({
      key: `n${at}`,
      shape: 'task',
      lines: [`${at}`.padEnd(size, '.')],
      entry: at === 0,
      exit: false,
      inner: undefined,
    });
    const key = (at: number): string => `n${at % sizes.length}`;
    return {
      name: 'any',
      items: sizes.map(item),
      edges: edges.map(([from, to, dashed]) => ({
        from: key(from),
        to: key(to),
        label: dashed ? 'maybe' : undefined,
        dashed,
      })),
    };
  });

const PLAIN: Parameters<typeof layOut>[1] = {
  box: ({ lines }) => ({ width: (lines[0]?.length ?? 0) + 4, height: lines.length + 2 }),
  head: () => ({ x: 0, y: 0 }),
  label: (label) => ({ width: label.length, height: 1 }),
  gaps: { boxes: 3, edges: 3, ranks: 3 },
};

test('[XU8] no box covers another, every box is whole, whatever the edges', () => {
  fc.assert(
    fc.property(drawing, (one) => {
      const text = paintBoxes(one, { unicode: true });
      for (const { lines } of one.items) expect(text).toContain(lines[0]);
      expectApart(layOut(one, PLAIN).items);
    }),
    { numRuns: cases(60) },
  );
});

/** Drawings of boxes of different sizes, with edges there and back over several boxes. */
const drawingOf = (minLength: number, maxLength: number): fc.Arbitrary<Drawing> =>
  fc
    .record({
      sizes: fc.array(fc.tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 5 })), {
        minLength,
        maxLength,
      }),
      spans: fc.array(fc.tuple(fc.nat({ max: maxLength - 1 }), fc.integer({ min: -2, max: 25 })), {
        maxLength,
        size: 'max',
      }),
      labels: fc.boolean(),
    })
    .map(({ sizes, spans, labels }) => {
      const items = sizes.map(([width, height], at): DrawnItem => {
        const lines = Array.from({ length: height }, () => 'x'.repeat(width));
        return { key: `n${at}`, shape: 'task', lines, entry: false, exit: false, inner: undefined };
      });
      const key = (at: number): string => `n${(at + sizes.length) % sizes.length}`;
      const edges = spans.map(([from, span], at) => {
        const label = labels && at % 5 === 0 ? 'maybe' : undefined;
        return { from: key(from), to: key(from + span), label, dashed: false };
      });
      return { name: 'any', items, edges };
    });

test.each([
  [2, 40],
  [101, 120],
])(
  '[XU8] in a picture of %i to %i boxes no box covers another, and edges go round the boxes between',
  (least, most) => {
    fc.assert(
      fc.property(drawingOf(least, most), (one) => {
        const { items, edges } = layOut(one, PLAIN);
        expectApart(items);
        expect(edges.every(({ edge, label }) => (edge.label === undefined) === (label === undefined))).toBe(true);
        const boxes = new Map(items.map((placed) => [placed.item.key, placed]));
        for (const { edge, points } of edges) {
          if (edge.from === edge.to) continue;
          expect(gapTo(boxes.get(edge.from), points[0])).toBeCloseTo(0);
          expect(gapTo(boxes.get(edge.to), points.at(-1))).toBeCloseTo(0);
          const between = items.filter(({ item }) => item.key !== edge.from && item.key !== edge.to);
          const places = alongThe(points);
          const crossed = between.filter((box) => places.some((place) => isWithin(box, place)));
          expect(crossed).toEqual([]);
        }
      }),
      { numRuns: cases(10) },
    );
  },
);

function expectApart(items: readonly PlacedItem[]): void {
  const isApart = (a: PlacedItem, b: PlacedItem): boolean =>
    a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
  expect(items.filter((a) => items.some((b) => a !== b && !isApart(a, b)))).toEqual([]);
}

/** How far a place is from a box; 0 on its border and within. */
function gapTo(box: PlacedItem | undefined, place: Point | undefined): number {
  if (box === undefined || place === undefined) return Infinity;
  const across = Math.max(box.x - place.x, 0, place.x - box.x - box.width);
  return Math.hypot(across, Math.max(box.y - place.y, 0, place.y - box.y - box.height));
}

function isWithin({ x, y, width, height }: PlacedItem, place: Point): boolean {
  const edge = 0.01;
  return place.x > x + edge && place.x < x + width - edge && place.y > y + edge && place.y < y + height - edge;
}

function alongThe(points: readonly Point[]): readonly Point[] {
  return points.slice(1).flatMap((to, at) => {
    const from = points[at] ?? to;
    const shares = [0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1];
    return shares.map((share) => ({ x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share }));
  });
}
