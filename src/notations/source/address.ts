/** A reference to an environment variable, in the forms that entries of MCP servers may hold. */
const VARIABLE = /\$\{\{[^{}]*\}\}|\$\{[^{}]*\}|\$[A-Za-z_][A-Za-z0-9_]*/g;

/** How such an address begins, for rows of tables. */
export const ADDRESS_FORM = { pattern: '^\\s*(?:[Hh][Tt][Tt][Pp][Ss]?://|\\$)' } as const;

/**
 * True for an http or https address, and for a text that may become one when its variables are filled in; what becomes of it is
 * checked again then.
 *
 * @example
 * mayBeAddress('http://localhost:${PORT}/mcp'); // true
 */
export function mayBeAddress(text: string): boolean {
  const start = text.search(VARIABLE);
  if (start === 0) return true;
  return /^https?:\/\//i.test(text) && URL.canParse(text.replaceAll(VARIABLE, '1'));
}
