import { SkeinError } from '../../base/errors.js';
import { asRecorded, isPlainObject, ownValue, recordText, type JsonObject } from '../../base/json.js';
import { VARIABLE_REFERENCE } from '../../base/text.js';
import type { StepContext } from '../../engine/ports/executor.js';
import { kindText } from '../../lang/value-text.js';
import type { Template } from '../../lang/values.js';
import type { ToolUse } from '../../plan/tool-use.js';
import type { Environment } from '../tools/clean-env.js';

export interface GivenCall {
  readonly input: JsonObject;
  readonly stdin: string | undefined;
  /** Variables by name, each in pieces: written text may refer to environment variables, inserted values are plain text. */
  readonly env: Readonly<Record<string, readonly EnvPiece[]>>;
}

type EnvPiece = { readonly written: string } | { readonly value: string };

/**
 * Inserts the values from the state into a call.
 *
 * @throws SkeinError `SKEIN_TEMPLATE`, `SKEIN_INPUT` if the input is not an object
 */
export function givenOf({ input, stdin, env = {} }: ToolUse, step: StepContext): GivenCall {
  const object = step.renderJson(input);
  if (!isPlainObject(object))
    throw new SkeinError('SKEIN_INPUT', `the input of a tool must be an object, and is ${kindText(object)}`);
  return {
    // As it would be recorded: values without a JSON form are rejected.
    input: asRecorded(object) as JsonObject,
    stdin: stdin && step.render(stdin),
    env: Object.fromEntries(Object.entries(env).map(([name, text]) => [name, piecesOf(text, step)])),
  };
}

function piecesOf(text: Template, step: StepContext): readonly EnvPiece[] {
  return text.map((piece) => (typeof piece === 'string' ? { written: piece } : { value: step.render([piece]) }));
}

/** The inserted values as one text, to trace where arguments come from. */
export function asPrompt({ input, stdin = '', env }: GivenCall): string {
  const values = Object.values(env).flatMap((pieces) =>
    pieces.flatMap((piece) => ('value' in piece ? [piece.value] : [])),
  );
  return [recordText(input), stdin, ...values].filter((text) => text !== '').join('\n');
}

/** The parts of a call outside its tool's input, for the digest of the call. Excludes values of the environment. */
export function besideInput({ stdin, env }: GivenCall): readonly unknown[] {
  return [stdin ?? null, env];
}

/**
 * Returns the variables of a command. One pass: inserted values are never expanded again.
 *
 * @throws SkeinError `SKEIN_NO_VARIABLE` that names an environment variable which is not set
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
    // Expands only `${NAME}`: a `$` before anything else is an ordinary character.
    if (braced === undefined) return whole;
    const value = ownValue(around, braced);
    if (fallback !== undefined && (value === undefined || value === '')) return fallback;
    if (typeof value === 'string') return value;
    throw new SkeinError('SKEIN_NO_VARIABLE', `env ${name}: the environment variable ${braced} is not set`, {
      hint: `set ${braced}, or write \${${braced}:-DEFAULT}`,
    });
  });
}
