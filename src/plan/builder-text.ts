import { compileExpression } from '../lang/expression.js';
import { parseTemplate } from '../lang/template.js';
import type { CelVar, Condition, Template, TemplateRef } from '../lang/values.js';

/** Reads texts and expressions of a plan written by hand, where the names between braces are channels. */
export class TextReader {
  constructor(private readonly channels: ReadonlySet<string>) {}

  /** `{{ a.b.c }}` is the channel of that name, or the path that is left behind the longest channel name that it starts with. */
  template(input: string | Template): Template {
    if (typeof input !== 'string') return input;
    return parseTemplate(input).map((piece) => (typeof piece === 'string' ? piece : this.reference(piece.expression)));
  }

  /** A condition whose variables are the channels that it names. */
  expression(source: string): Condition {
    const tops = new Set([...this.channels].map((name) => name.split('.')[0] ?? name).filter(isIdentifier));
    const { expression } = compileExpression(source, [...tops]);
    const used = new Set(expression?.reads.map((path) => path[0]) ?? tops);
    const vars: [string, CelVar][] = [];
    for (const top of tops) if (used.has(top)) vars.push([top, this.variable(top)]);
    return { op: 'cel', expression: source, vars: Object.fromEntries(vars) };
  }

  private reference(expression: string): TemplateRef {
    if (this.channels.has(expression)) return { channel: expression };
    const parts = expression.split('.');
    for (let length = parts.length - 1; length > 0; length -= 1) {
      const channel = parts.slice(0, length).join('.');
      if (this.channels.has(channel)) return { channel, path: parts.slice(length) };
    }
    const [channel = expression, ...path] = parts;
    return path.length === 0 ? { channel } : { channel, path };
  }

  /** A channel `a`, or an object made of the channels `a.b`, `a.c`. */
  private variable(name: string): CelVar {
    if (this.channels.has(name)) return { channel: name };
    const fields = new Map<string, CelVar>();
    for (const channel of this.channels) {
      if (!channel.startsWith(`${name}.`)) continue;
      const next = channel.slice(name.length + 1).split('.')[0] ?? '';
      if (!fields.has(next)) fields.set(next, this.variable(`${name}.${next}`));
    }
    return { fields: Object.fromEntries(fields) };
  }
}

function isIdentifier(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
}
