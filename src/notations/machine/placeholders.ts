/** The target of a placeholder in a template. `written` is the text between its braces. */
export type Placeholder =
  | { readonly kind: 'fragment'; readonly name: string; readonly written: string }
  | { readonly kind: 'artifact'; readonly name: string; readonly written: string }
  /** `path` leads into the value: `{{user.name}}`, `{{items[0].x}}`. */
  | { readonly kind: 'variable'; readonly name: string; readonly path: readonly string[]; readonly written: string }
  | { readonly kind: 'context'; readonly written: string };

/**
 * Splits a pack's template into literal text and placeholders, in one pass. A fragment is written `{{fragments.x}}`, `{{fragment:x}}`, or
 * `{{x}}` if no variable has the name.
 *
 * @example
 * parsePlaceholders('Hi {{name}}!', new Map(), new Set(['name'])); // ['Hi ', { kind: 'variable', name: 'name', ... }, '!']
 */
export function parsePlaceholders(
  text: string,
  fragments: ReadonlyMap<string, string>,
  variables: ReadonlySet<string>,
): readonly (string | Placeholder)[] {
  const pieces: (string | Placeholder)[] = [];
  let from = 0;
  for (const { 0: whole, 1: inside = '', index } of text.matchAll(/\{\{([^{}]*)\}\}/g)) {
    if (index > from) pieces.push(text.slice(from, index));
    pieces.push(placeholderOf(inside.trim(), fragments, variables));
    from = index + whole.length;
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}

function placeholderOf(
  written: string,
  fragments: ReadonlyMap<string, string>,
  variables: ReadonlySet<string>,
): Placeholder {
  const [, kind, rest = ''] = /^(fragments|fragment|artifacts)[.:](.+)$/s.exec(written) ?? [];
  if (kind === 'artifacts') return { kind: 'artifact', name: rest, written };
  if (kind !== undefined) return { kind: 'fragment', name: rest, written };
  if (written === 'workflow_context') return { kind: 'context', written };
  const [name = '', ...path] = written.split(/[.[\]]+/).filter((part, index) => part !== '' || index === 0);
  const isFragment = !variables.has(name) && fragments.has(written);
  return isFragment ? { kind: 'fragment', name: written, written } : { kind: 'variable', name, path, written };
}

/** Returns the placeholders of a prompt's templates and of the fragments inside. A recursive fragment is opened once. */
export function placeholdersOf(
  texts: readonly string[],
  fragments: ReadonlyMap<string, string>,
  variables: ReadonlySet<string>,
): readonly Placeholder[] {
  const found: Placeholder[] = [];
  const opened = new Set<string>();
  const open = [...texts];
  for (const text of open) {
    for (const piece of parsePlaceholders(text, fragments, variables)) {
      if (typeof piece === 'string') continue;
      found.push(piece);
      if (piece.kind !== 'fragment' || opened.has(piece.name)) continue;
      opened.add(piece.name);
      // The list grows while it is iterated.
      open.push(fragments.get(piece.name) ?? '');
    }
  }
  return found;
}
