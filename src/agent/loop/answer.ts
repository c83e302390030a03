import { SkeinError } from '../../base/errors.js';
import type { StepIo } from '../../engine/ports/durable.js';
import type { Label } from '../../guard/label.js';

/** What a model sees of a call: also what is wrong with it is a value, so that a replay tells the same. */
export interface Answer {
  readonly output: string;
  readonly isError: boolean;
  /** No tool was asked: Skein itself, or a person, says what is wrong with the call. */
  readonly own?: true;
  /** Of a tool that works on files: those that the result is about. */
  readonly files?: FilesShown;
  /** What had a say in the results of runs that the call started. */
  readonly heard?: Label;
}

/** Files that a result is about, as the tools show their paths. */
export interface FilesShown {
  /** Shown files that do not belong to the project, or that an untrusted text had a say in: some of them. */
  readonly foreign?: readonly string[];
  /** The file that was written. */
  readonly wrote?: string;
}

/** Longest result of a tool that a model is given, in bytes of UTF-8. */
export const LONGEST_RESULT = 64 * 1024;

/** Errors that end the step instead of going to the model. */
const ENDS_STEP: ReadonlySet<string> = new Set(['SKEIN_QUESTION', 'SKEIN_CANCELLED', 'SKEIN_SCRIPT']);

/**
 * What a call gives, or what is wrong with it, as a model sees it.
 *
 * @throws what ends the step
 */
export async function answerOf(body: () => Promise<unknown>, io?: StepIo): Promise<Answer> {
  try {
    return { output: cutResult(asText(await body())), isError: false };
  } catch (error) {
    if (endsStep(error) || io?.signal.aborted === true) throw error;
    return { output: cutResult(errorText(error)), isError: true };
  }
}

function endsStep(error: unknown): boolean {
  if (SkeinError.isInstance(error)) return ENDS_STEP.has(error.code);
  return error instanceof Error && error.name === 'AbortError';
}

function errorText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const hint = SkeinError.isInstance(error) && error.hint !== undefined ? ` (${error.hint})` : '';
  return `Error: ${message}${hint}`;
}

function asText(output: unknown): string {
  return typeof output === 'string' ? output : (JSON.stringify(output) ?? '');
}

/**
 * A result of at most {@link LONGEST_RESULT} bytes; a longer one keeps its beginning and says how much is missing.
 */
export function cutResult(text: string): string {
  if (text.length * 3 <= LONGEST_RESULT) return text;
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= LONGEST_RESULT) return text;
  let end = LONGEST_RESULT;
  // A byte 10xxxxxx continues a character: go back to where it begins.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  const note = `[cut: ${bytes.length} bytes in all, the first ${end} are shown]`;
  return `${bytes.subarray(0, end).toString('utf8')}\n\n${note}`;
}
