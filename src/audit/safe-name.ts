import { withoutAtEnd } from '../base/text.js';

/** Makes part of a file name from any text: letters, digits, `_`, `-` and single dots. `../nightly build` gives `nightly-build`. */
export function safeName(text: string, fallback: string, longest = 60): string {
  // Node takes a millisecond to compile the classes of Unicode, which most names don't need.
  const safe = /^[ -~]*$/.test(text)
    ? text.replace(/[^A-Za-z0-9._-]+/g, '-')
    : text.normalize('NFC').replace(/[^\p{L}\p{N}._-]+/gu, '-');
  const plain = safe.replace(/\.{2,}/g, '.');
  return trimEnds(Array.from(trimEnds(plain)).slice(0, longest).join('')) || fallback;
}

function trimEnds(text: string): string {
  return withoutAtEnd(text.replace(/^[.-]+/, ''), '.-');
}

/** Names that are unique, ignoring case. */
export class UniqueNames {
  private readonly taken = new Map<string, number>();

  /** Returns the name, or an unused one that begins with it: `name~2`. */
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

export function runFolderEnd(runId: string): string {
  return (
    safeName(runId, 'run', 400)
      .replaceAll(/[^A-Za-z0-9]/g, '')
      .slice(-8) || 'run'
  );
}

export function isRunFolderName(name: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d_.+_[A-Za-z0-9]{1,8}(?:-\d+)?$/u.test(name);
}
