import { withoutAtEnd } from '../base/text.js';

/**
 * Part of a file name made from any text: letters, digits, `_`, `-` and single dots, never at the ends a dot or dash, at most `longest`
 * characters. Slashes, control characters and whatever else a file system or a terminal could take for something become `-`.
 *
 * @example
 * safeName('../nightly build'); // 'nightly-build'
 */
export function safeName(text: string, fallback: string, longest = 60): string {
  const plain = text
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/\.{2,}/g, '.');
  return trimEnds(Array.from(trimEnds(plain)).slice(0, longest).join('')) || fallback;
}

function trimEnds(text: string): string {
  return withoutAtEnd(text.replace(/^[.-]+/, ''), '.-');
}

/** Names that are unique, also where upper and lower case are the same. */
export class UniqueNames {
  private readonly taken = new Map<string, number>();

  /** The name, or one that begins with it and was not taken before: `name~2`. */
  take(base: string): string {
    let name = base;
    let twin = this.taken.get(base.toLowerCase()) ?? 1;
    while (this.taken.has(name.toLowerCase())) name = `${base}~${(twin += 1)}`;
    this.taken.set(base.toLowerCase(), twin);
    this.taken.set(name.toLowerCase(), 1);
    return name;
  }
}

/** Name of a run folder: `2026-03-26T10-00-00_code-review_1f0c9a77`. The time is UTC; the end is the random part of the run id. */
export function runFolderName(startedAt: number, workflow: string, runId: string): string {
  const time = new Date(startedAt).toISOString().slice(0, 19).replaceAll(':', '-');
  return `${time}_${safeName(workflow, 'workflow', 40)}_${runFolderEnd(runId)}`;
}

/** What the names of all folders of a run end with. */
export function runFolderEnd(runId: string): string {
  return (
    safeName(runId, 'run', 400)
      .replaceAll(/[^A-Za-z0-9]/g, '')
      .slice(-8) || 'run'
  );
}

/** Whether a name is one that {@link runFolderName} makes. */
export function isRunFolderName(name: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d_.+_[A-Za-z0-9]{1,8}(?:-\d+)?$/u.test(name);
}
