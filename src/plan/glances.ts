import { addTo, madeOnce } from '../base/collections.js';
import { acorn } from '../lang/on-demand.js';
import { sourceText } from './made-of.js';

interface Syntax {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** An identifier that names a variable, and the nodes around it, innermost first. */
interface Mention {
  readonly node: Syntax;
  readonly around: readonly Syntax[];
}

const known = new WeakMap<object, ReadonlySet<string>>();
const NONE: ReadonlySet<string> = new Set();

/**
 * Returns the properties of a function's first argument that it only glances at: it reads the length or single entries of the lists in
 * them, and nothing else. Derived from its source; uncertain properties are left out.
 */
export function glancesOf(fn: unknown): ReadonlySet<string> {
  if (typeof fn !== 'function') return NONE;
  return madeOnce(known, fn, () => {
    const source = Function.prototype.toString.call(fn);
    return glancesIn(parsed(`(${source})`) ?? parsed(`({${source}})`));
  });
}

function parsed(text: string): Syntax | undefined {
  try {
    const tree = acorn().parseExpressionAt(text, 0, { ecmaVersion: 'latest' }) as unknown as Syntax;
    return tree.type === 'ObjectExpression' ? childOf(childrenOf(tree, 'properties')[0], 'value') : tree;
  } catch {
    return undefined;
  }
}

function glancesIn(fn: Syntax | undefined): ReadonlySet<string> {
  const [parameter] = childrenOf(fn, 'params');
  const mentions = new Map<string, Mention[]>();
  if (fn === undefined || parameter === undefined || !collect(fn, [], mentions)) return NONE;
  const glances = new Glances(mentions);
  if (parameter.type === 'ObjectPattern') glances.unpack(parameter);
  else glances.follow(parameter);
  return glances.names();
}

/** True for names of properties and labels, which are not variables. */
function isName(node: Syntax, field: string): boolean {
  if (field === 'property' || field === 'key') return node['computed'] !== true;
  return field === 'label';
}

/** Collects the variables by name. Returns false if they can also be reached in other ways. */
function collect(node: Syntax, around: readonly Syntax[], mentions: Map<string, Mention[]>): boolean {
  if (node.type === 'WithStatement') return false;
  if (node.type === 'Identifier') {
    const name = String(node['name']);
    addTo(mentions, name, { node, around });
    return name !== 'arguments' && name !== 'eval';
  }
  const inside = [node, ...around];
  return Object.keys(node).every(
    (field) => isName(node, field) || childrenOf(node, field).every((child) => collect(child, inside, mentions)),
  );
}

class Glances {
  private readonly found = new Set<string>();
  private readonly others = new Set<string>();
  /** Variables being examined: one may be assigned to another, and that one to the first. */
  private readonly open = new Set<Syntax>();
  private isWhole = false;

  constructor(private readonly mentions: ReadonlyMap<string, readonly Mention[]>) {}

  names(): ReadonlySet<string> {
    return this.isWhole ? NONE : new Set([...this.found].filter((name) => !this.others.has(name)));
  }

  /** Follows a variable that holds the state. */
  follow(variable: Syntax): void {
    for (const { node, around } of this.mentions.get(String(variable['name'])) ?? []) {
      if (node === variable) continue;
      const [use, ...outside] = around;
      const pattern = childOf(use, 'id');
      const property = use?.type === 'MemberExpression' && use['object'] === node ? keyOf(use, 'property') : undefined;
      if (use !== undefined && property !== undefined) this.note(property, this.isGlance(property, use, outside));
      else if (use?.type === 'VariableDeclarator' && pattern?.type === 'ObjectPattern') this.unpack(pattern);
      else this.isWhole = true;
    }
  }

  /** Follows a pattern that destructures a state. */
  unpack(pattern: Syntax): void {
    for (const property of childrenOf(pattern, 'properties')) {
      const name = keyOf(property, 'key');
      const value = childOf(property, 'value');
      const variable = value?.type === 'AssignmentPattern' ? childOf(value, 'left') : value;
      if (name === undefined) this.isWhole = true;
      else this.note(name, variable?.type === 'Identifier' && this.holds(name, variable));
    }
  }

  private note(name: string, isGlance: boolean): void {
    (isGlance ? this.found : this.others).add(name);
  }

  /** Returns whether a variable that holds a property is only glanced at. */
  private holds(name: string, variable: Syntax): boolean {
    if (this.open.has(variable)) return false;
    this.open.add(variable);
    const mentions = this.mentions.get(String(variable['name'])) ?? [];
    return mentions.every(({ node, around }) => node === variable || this.isGlance(name, node, around));
  }

  private isGlance(name: string, node: Syntax, around: readonly Syntax[]): boolean {
    const [use, ...outside] = around;
    switch (use?.type) {
      case 'MemberExpression':
        return use['object'] === node && isEntryOrLength(use, outside);
      case 'LogicalExpression':
        if (use['left'] !== node) return false;
        return use['operator'] === '&&' || (isEmptyList(childOf(use, 'right')) && this.isGlance(name, use, outside));
      case 'VariableDeclarator': {
        const variable = childOf(use, 'id');
        return use['init'] === node && variable?.type === 'Identifier' && this.holds(name, variable);
      }
      case 'IfStatement':
      case 'ConditionalExpression':
        return use['test'] === node;
      case 'UnaryExpression':
        return use['operator'] === '!';
      case undefined:
      default:
        return false;
    }
  }
}

/** `list.length`, `list[0]`, `list.at(-1)`: no function receives the list. */
function isEntryOrLength(use: Syntax, outside: readonly Syntax[]): boolean {
  const [inner, outer] = outside;
  const [called, call] = inner?.type === 'ChainExpression' ? [inner, outer] : [use, inner];
  const isCalled = call !== undefined && (call['callee'] === called || call['tag'] === called);
  if (use['computed'] === true) return !isCalled;
  const name = keyOf(use, 'property');
  return name === 'length' || (name === 'at' && isCalled);
}

function isEmptyList(node: Syntax | undefined): boolean {
  return node?.type === 'ArrayExpression' && childrenOf(node, 'elements').length === 0;
}

/** Returns the name of a property; undefined if it is computed. */
function keyOf(node: Syntax, field: string): string | undefined {
  const key = childOf(node, field);
  if (key?.type === 'Literal' && typeof key['value'] === 'string') return key['value'];
  return key?.type === 'Identifier' && node['computed'] !== true ? String(key['name']) : undefined;
}

function childOf(node: Syntax | undefined, field: string): Syntax | undefined {
  return childrenOf(node, field)[0];
}

function childrenOf(node: Syntax | undefined, field: string): readonly Syntax[] {
  return [node?.[field]].flat().filter(isSyntax);
}

function isSyntax(value: unknown): value is Syntax {
  return typeof value === 'object' && value !== null && typeof (value as { readonly type?: unknown }).type === 'string';
}

/** Returns the nodes that a chooser without declared targets names: ids that are string literals in its source (E6). */
export function mentionsOf(chooser: unknown, ids: Iterable<string>): readonly string[] {
  const literals = literalsOf(sourceText(chooser));
  return [...ids].filter((id) => literals.has(id));
}

/** Ids need no escapes, so the text between the quotes suffices. */
function literalsOf(source: string): ReadonlySet<string> {
  const literals = new Set<string>();
  const { tokenizer, tokTypes } = acorn();
  try {
    let before: unknown;
    let text = '';
    for (const { type, start, end } of tokenizer(source, { ecmaVersion: 'latest', sourceType: 'module' })) {
      if (type === tokTypes.string) literals.add(source.slice(start + 1, end - 1));
      // A template without substitutions is a string literal too.
      if (type === tokTypes.backQuote && before === tokTypes.template) literals.add(text);
      before = type === tokTypes.template && before !== tokTypes.backQuote ? undefined : type;
      text = source.slice(start, end);
    }
  } catch {
    // Unparsable source yields no names: the plan's check then requires declared targets.
  }
  return literals;
}
