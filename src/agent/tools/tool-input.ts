import { SkeinError } from '../../base/errors.js';
import { ownValue, type JsonObject } from '../../base/json.js';

/** Reads a text argument of a tool call. Callers other than the agent loop, which checks the schema first, get the same errors. */
export function requiredText(input: JsonObject, key: string): string {
  const value = ownValue(input, key);
  if (typeof value !== 'string') throw badInput(`"${key}" must be text`);
  return value;
}

export function optionalText(input: JsonObject, key: string): string | undefined {
  const value = ownValue(input, key) ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw badInput(`"${key}" must be text`);
  return value;
}

/** Returns true or false; absent is false. */
export function flag(input: JsonObject, key: string): boolean {
  const value = ownValue(input, key) ?? false;
  if (typeof value !== 'boolean') throw badInput(`"${key}" must be true or false`);
  return value;
}

/** Returns a whole number from `least`; a number above `most` becomes `most`, an absent one `fallback`. */
export function wholeNumber(
  input: JsonObject,
  key: string,
  range: { readonly least: number; readonly most: number; readonly fallback: number },
): number {
  const value = ownValue(input, key) ?? range.fallback;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < range.least) {
    throw badInput(`"${key}" must be a whole number from ${range.least}`);
  }
  return Math.min(value, range.most);
}

export function badInput(message: string, hint?: string): SkeinError {
  return new SkeinError('SKEIN_TOOL_FAILED', message, { hint });
}

export function refused(message: string, hint?: string): SkeinError {
  return new SkeinError('SKEIN_TOOL_REFUSED', message, { hint });
}

/** The `code` of an error of the operating system, such as `ENOENT`. */
export function systemCode(error: unknown): string | undefined {
  const code = error instanceof Error ? ownValue(error, 'code') : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** Converts an error of the operating system to one for a model: without the host's path, and with an explanation. */
export function fileError(error: unknown, shown: string): SkeinError {
  if (SkeinError.isInstance(error)) return error;
  const code = systemCode(error);
  const text = code === undefined ? undefined : FILE_ERRORS.get(code);
  if (text === undefined) {
    return new SkeinError('SKEIN_TOOL_FAILED', `${shown}: ${code ?? 'the operation failed'}`, { cause: error });
  }
  return new SkeinError('SKEIN_TOOL_FAILED', `${shown}: ${text}`, { cause: error });
}

const FILE_ERRORS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'no such file or directory'],
  ['ENOTDIR', 'a part of the path is not a directory'],
  ['EISDIR', 'this is a directory'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'not permitted'],
  ['ELOOP', 'a symbolic link stands where a file is expected'],
  ['ENAMETOOLONG', 'the name is too long'],
  ['ENOSPC', 'the disk is full'],
  ['EROFS', 'the file system is read-only'],
  ['EEXIST', 'a file or folder with this name already exists'],
  ['EMFILE', 'too many open files'],
]);
