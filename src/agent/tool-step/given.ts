import { SkeinError } from '../../base/errors.js';
import type { JsonObject } from '../../base/json.js';
import { isPlainObject, ownValue, recordText } from '../../base/json.js';
import { VARIABLE_REFERENCE } from '../../base/text.js';
import type { StepContext } from '../../engine/ports/executor.js';
import { kindText } from '../../lang/value-text.js';
import type { Template } from '../../lang/values.js';
import type { ToolUse } from '../../plan/tool-use.js';
import type { Environment } from '../tools/clean-env.js';

/** A call of a step with everything put in that comes from the state. */
export interface GivenCall {
  readonly input: JsonObject;
  readonly stdin: string | undefined;
  /** Variables by name, each in pieces: what the author wrote may name variables of the environment, what was put in is text. */
  readonly env: Readonly<Record<string, readonly EnvPiece[]>>;
}

type EnvPiece = { readonly written: string } | { readonly value: string };

/**
 * Puts in what a call takes from the state.
 *
 * @throws SkeinError `SKEIN_TEMPLATE`, `SKEIN_INPUT` where what it is called with is not an object
 */
export function givenOf({ input, stdin, env = {} }: ToolUse, step: StepContext): GivenCall {
  const object = step.renderJson(input);
  if (!isPlainObject(object))
    throw new SkeinError('SKEIN_INPUT', `the input of a tool must be an object, and is ${kindText(object)}`);
  return {
    // As it would be recorded: what has no JSON form is no input.
    input: JSON.parse(recordText(object)) as JsonObject,
    stdin: stdin && step.render(stdin),
    env: Object.fromEntries(Object.entries(env).map(([name, text]) => [name, piecesOf(text, step)])),
  };
}

function piecesOf(text: Template, step: StepContext): readonly EnvPiece[] {
  return text.map((piece) => (typeof piece === 'string' ? { written: piece } : { value: step.render([piece]) }));
}

/** What was put in, as one text: for those who look where arguments come from. */
export function asPrompt({ input, stdin = '', env }: GivenCall): string {
  const values = Object.values(env).flatMap((pieces) =>
    pieces.flatMap((piece) => ('value' in piece ? [piece.value] : [])),
  );
  return [recordText(input), stdin, ...values].filter((text) => text !== '').join('\n');
}

/** What of a call is not in the input of its tool, for the digest of the call. Values of the environment are no part of it. */
export function besideInput({ stdin, env }: GivenCall): readonly unknown[] {
  return [stdin ?? null, env];
}

/**
 * The variables of a command. One pass: what is put in is never looked at again.
 *
 * @throws SkeinError `SKEIN_INPUT` that names a variable of the environment which is not set
 */
export function variablesOf({ env }: GivenCall, around: Environment): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).map(([name, pieces]) => [
      name,
      pieces.map((piece) => ('value' in piece ? piece.value : expanded(piece.written, name, around))).join(''),
    ]),
  );
}

function expanded(text: string, name: string, around: Environment): string {
  return text.replaceAll(VARIABLE_REFERENCE, (whole, ...more) => {
    const { braced, fallback } = more.at(-1) as Readonly<Record<string, string | undefined>>;
    // Only `${NAME}`: a `$` before anything else is a character like others.
    if (braced === undefined) return whole;
    const value = ownValue(around, braced);
    if (fallback !== undefined && (value === undefined || value === '')) return fallback;
    if (typeof value === 'string') return value;
    throw new SkeinError('SKEIN_INPUT', `env ${name}: the environment variable ${braced} is not set`, {
      hint: `set ${braced}, or write \${${braced}:-DEFAULT}`,
    });
  });
}
