import { SkeinError, toErrorData } from '../../base/errors.js';
import type { StepIo } from '../../engine/ports/durable.js';
import type { Label } from '../../guard/label.js';

/** The result of a call as a model sees it. An error is a value too, so that a replay returns the same. */
export interface Answer {
  readonly output: string;
  readonly isError: boolean;
  /** No tool ran: Skein itself, or a person, states what is wrong with the call. */
  readonly own?: true;
  /** The files that the result of a file tool is about. */
  readonly files?: FilesShown;
  /** The label of what influenced the results of runs that the call started. */
  readonly heard?: Label;
  /** Files that those runs wrote after something untrusted. */
  readonly wrote?: readonly string[];
  /** The call was interrupted, so nobody knows what such runs wrote. */
  readonly lost?: true;
}

/** Files that a result is about, with their paths as the tools show them. */
export interface FilesShown {
  /** Some of the files shown that lie outside the project, or whose content an untrusted text influenced. */
  readonly foreign?: readonly string[];
  /** The file that was written. */
  readonly wrote?: string;
  /** It was written after something untrusted. */
  readonly spreads?: true;
}

/** The files that a call, or runs that it started, wrote after something untrusted; undefined if there are none. */
export function spreadBy({ files, wrote = [] }: Pick<Answer, 'files' | 'wrote'>): readonly string[] | undefined {
  const all = files?.wrote !== undefined && files.spreads === true ? [files.wrote, ...wrote] : wrote;
  return all.length === 0 ? undefined : all;
}

/** Longest tool result that a model receives, in bytes of UTF-8. */
export const LONGEST_RESULT = 64 * 1024;

/** Errors that end the step and do not reach the model. */
const ENDS_STEP: ReadonlySet<string> = new Set(['SKEIN_QUESTION', 'SKEIN_CANCELLED', 'SKEIN_SCRIPT']);

/**
 * Returns the result of a call, or its error, as a model sees it.
 *
 * @throws any error that ends the step
 */
export async function answerOf(body: () => Promise<unknown>, io?: StepIo): Promise<Answer> {
  try {
    return { output: cutResult(asText(await body())), isError: false };
  } catch (error) {
    if ((SkeinError.isInstance(error) && ENDS_STEP.has(error.code)) || io?.signal.aborted === true) throw error;
    return { output: cutResult(errorText(error)), isError: true };
  }
}

function errorText(error: unknown): string {
  const { message, hint } = toErrorData(error);
  return `Error: ${message}${hint === undefined ? '' : ` (${hint})`}`;
}

function asText(output: unknown): string {
  return typeof output === 'string' ? output : (JSON.stringify(output) ?? '');
}

/** Limits a result to {@link LONGEST_RESULT} bytes; a longer one keeps its beginning and states how much is missing. */
export function cutResult(text: string): string {
  if (text.length * 3 <= LONGEST_RESULT) return text;
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= LONGEST_RESULT) return text;
  let end = LONGEST_RESULT;
  // A byte 10xxxxxx continues a character: go back to the character's first byte.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  const note = `[cut: ${bytes.length} bytes in all, the first ${end} are shown]`;
  return `${bytes.subarray(0, end).toString('utf8')}\n\n${note}`;
}
