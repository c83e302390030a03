import { SkeinError } from '../../base/errors.js';
import { ownValue } from '../../base/json.js';
import { VARIABLE_REFERENCE, expressionVariable } from '../../base/text.js';
import type { Environment } from '../tools/clean-env.js';

/** The source of variables, and the name of the place in errors. */
export interface References {
  readonly env: Environment;
  /** The value of `${{ github.workspace }}`. */
  readonly cwd: string;
  /** `mcp server "x", env "Y"`. */
  readonly where: string;
}

/**
 * Inserts environment variables into a text of an MCP server entry: `$NAME`, `${NAME}`, `${NAME:-default}`, and, as in Copilot's files,
 * `${{ secrets.NAME }}`, `${{ vars.NAME }}`, `${{ env.NAME }}` and `${{ github.workspace }}`. One pass: inserted text is never expanded
 * again. A `$` before anything else stays as it is.
 *
 * @throws SkeinError `SKEIN_MCP` that names the variable if it is not set and has no default
 */
export function expandVariables(text: string, references: References): string {
  return text.replaceAll(VARIABLE_REFERENCE, (whole, ...more) => {
    return valueOf(whole, more.at(-1) as Groups, text, references);
  });
}

type Groups = Readonly<Record<string, string | undefined>>;

function valueOf(whole: string, groups: Groups, text: string, references: References): string {
  const { expression, braced, fallback, plain } = groups;
  if (expression !== undefined) return expandExpression(expression.trim(), whole, references);
  const name = braced ?? plain;
  if (name === undefined) throw badReference(`${JSON.stringify(text)} is not a reference to a variable`, references);
  const value = ownValue(references.env, name);
  // As in a shell, `:-` also replaces an empty value.
  if (fallback !== undefined && (value === undefined || value === '')) return fallback;
  if (typeof value !== 'string') throw notSet(name, references);
  return value;
}

function expandExpression(expression: string, whole: string, references: References): string {
  if (expression === 'github.workspace') return references.cwd;
  const name = expressionVariable(expression);
  if (name === undefined) throw badReference(`${whole} is an expression that only GitHub can evaluate`, references);
  const value = ownValue(references.env, name);
  if (typeof value !== 'string') throw notSet(name, references);
  return value;
}

function notSet(name: string, { where }: References): SkeinError {
  return new SkeinError('SKEIN_MCP', `${where}: the environment variable ${name} is not set`, {
    hint: `set ${name}, or remove the server from the agent`,
  });
}

function badReference(message: string, { where }: References): SkeinError {
  return new SkeinError('SKEIN_MCP', `${where}: ${message}`, { hint: 'write $NAME or ${NAME}' });
}
