import type { ErrorData } from '../../base/errors.js';

/** An error as one line: what was thrown, and its message. */
export function errorText({ name, code, message }: ErrorData): string {
  return `${name ?? code}: ${message}`;
}
