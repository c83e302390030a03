import { drawingOf, type Drawing, type DrawnEdge, type DrawnItem } from './drawing.js';
import type { Plan } from './plan.js';

/**
 * Returns a plan as a Mermaid flowchart. Valid for any node name: the diagram's ids are generated, authors' texts appear only in labels.
 *
 * @example
 * await writeFile('plan.mmd', toMermaid(plan));
 */
export function toMermaid(plan: Plan): string {
  return mermaidOf(drawingOf(plan));
}

export function mermaidOf(drawing: Drawing): string {
  const lines = ['flowchart TD'];
  for (const item of drawing.items) mermaidItem(item, '  ', lines);
  for (const edge of drawing.edges) lines.push(`  ${mermaidEdge(edge)}`);
  const led = drawing.edges.flatMap(({ untrusted }, at) => (untrusted === true ? [at] : []));
  if (led.length > 0) lines.push(`  linkStyle ${led.join(',')} stroke:${UNTRUSTED}`);
  return `${lines.join('\n')}\n`;
}

/**
 * Returns a plan in the DOT language of Graphviz. Valid for any name of a node.
 *
 * @example
 * await writeFile('plan.dot', toDot(plan)); // dot -Tsvg plan.dot
 */
export function toDot(plan: Plan): string {
  return dotOf(drawingOf(plan));
}

export function dotOf(drawing: Drawing): string {
  const frames = new Set<string>();
  const lines = [
    `digraph ${dotText([drawing.name])} {`,
    '  compound=true; rankdir=TB; fontname="sans-serif";',
    '  node [shape=box, fontname="sans-serif"]; edge [fontname="sans-serif"];',
  ];
  for (const item of drawing.items) dotItem(item, '  ', lines, frames);
  for (const edge of drawing.edges) lines.push(`  ${dotEdge(edge, frames)}`);
  lines.push('}');
  return `${lines.join('\n')}\n`;
}

/** The colour of nodes that untrusted texts may influence. */
const UNTRUSTED = 'orangered';

/** Left and right of a label in Mermaid. */
const MERMAID_SHAPES: Readonly<Record<DrawnItem['shape'], readonly [string, string]>> = {
  task: ['[', ']'],
  agent: ['(', ')'],
  call: ['[[', ']]'],
  map: ['[[', ']]'],
  loop: ['[[', ']]'],
  ask: ['{{', '}}'],
  wait: ['[/', '/]'],
  pass: ['((', '))'],
  choice: ['{', '}'],
  end: ['(((', ')))'],
  set: ['[', ']'],
  anywhere: ['((', '))'],
};

function mermaidItem(item: DrawnItem, indent: string, lines: string[]): void {
  const label = mermaidText(item.lines);
  if (item.inner !== undefined && item.inner.length > 0) {
    lines.push(`${indent}subgraph ${item.key}[${label}]`);
    for (const inner of item.inner) mermaidItem(inner, `${indent}  `, lines);
    lines.push(`${indent}end`);
    if (item.untrusted === true) lines.push(`${indent}style ${item.key} stroke:${UNTRUSTED}`);
    return;
  }
  const [left, right] = MERMAID_SHAPES[item.shape];
  lines.push(`${indent}${item.key}${left}${label}${right}`);
  if (item.entry) lines.push(`${indent}style ${item.key} stroke-width:3px`);
  if (item.exit) lines.push(`${indent}style ${item.key} stroke-dasharray:6 2`);
  if (item.untrusted === true) lines.push(`${indent}style ${item.key} stroke:${UNTRUSTED}`);
}

function mermaidEdge(edge: DrawnEdge): string {
  const arrow = edge.dashed ? '-.->' : '-->';
  const label = edge.label === undefined ? '' : `|${mermaidText([edge.label])}|`;
  return `${edge.from} ${arrow}${label} ${edge.to}`;
}

// Characters that Mermaid, its Markdown or HTML could interpret.
const MERMAID_SPECIAL = /["#&<>`\\{}[\]|;*_~$%@]|^\s*(?:\d+[.)]|[-+])(?=\s)/g;

function mermaidText(lines: readonly string[]): string {
  const escaped = lines.map((line) => {
    const text = printable(line).trim() || '(no name)';
    return text.replace(MERMAID_SPECIAL, (found) => found.replace(/./gu, (char) => `#${char.codePointAt(0) ?? 0};`));
  });
  return `"${escaped.join('<br/>')}"`;
}

const DOT_STYLES: Readonly<Record<DrawnItem['shape'], string>> = {
  task: 'shape=box',
  agent: 'shape=box, style=rounded',
  call: 'shape=box, peripheries=2',
  map: 'shape=box, peripheries=2',
  loop: 'shape=box, peripheries=2',
  ask: 'shape=hexagon',
  wait: 'shape=parallelogram',
  pass: 'shape=circle, width=0, margin=0',
  choice: 'shape=diamond',
  end: 'shape=doublecircle',
  set: 'shape=box, style=dashed',
  anywhere: 'shape=circle',
};

function dotItem(item: DrawnItem, indent: string, lines: string[], frames: Set<string>): void {
  const label = dotText(item.lines);
  if (item.inner !== undefined && item.inner.length > 0) {
    frames.add(item.key);
    lines.push(`${indent}subgraph cluster_${item.key} {`, `${indent}  label=${label};`);
    if (item.untrusted === true) lines.push(`${indent}  color=${UNTRUSTED};`);
    // Edges of a frame need a node to attach to.
    lines.push(`${indent}  ${item.key} [shape=point, style=invis, label=""];`);
    for (const inner of item.inner) dotItem(inner, `${indent}  `, lines, frames);
    lines.push(`${indent}}`);
    return;
  }
  const width = item.entry ? ', penwidth=3' : '';
  const colour = item.untrusted === true ? `, color=${UNTRUSTED}` : item.exit ? ', color=blue' : '';
  lines.push(`${indent}${item.key} [label=${label}, ${DOT_STYLES[item.shape]}${width}${colour}];`);
}

function dotEdge(edge: DrawnEdge, frames: ReadonlySet<string>): string {
  const options = [
    ...(edge.label === undefined ? [] : [`label=${dotText([edge.label])}`]),
    ...(edge.dashed ? ['style=dashed'] : []),
    ...(edge.untrusted === true ? [`color=${UNTRUSTED}`] : []),
    ...(frames.has(edge.from) ? [`ltail=cluster_${edge.from}`] : []),
    ...(frames.has(edge.to) ? [`lhead=cluster_${edge.to}`] : []),
  ];
  return `${edge.from} -> ${edge.to}${options.length === 0 ? '' : ` [${options.join(', ')}]`};`;
}

function dotText(lines: readonly string[]): string {
  const escaped = lines.map((line) =>
    printable(line)
      .replaceAll('&', '&amp;')
      .replace(/["\\]/g, (char) => `\\${char}`),
  );
  return `"${escaped.join('\\n')}"`;
}

// Control characters, lone surrogates and marks that change the direction of text.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028-\u202E\u2066-\u2069\uFEFF]+/gu;

function printable(text: string): string {
  return text.replace(UNPRINTABLE, ' ');
}
