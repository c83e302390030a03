import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { canonicalHash, sha256 } from '../../base/hash.js';
import { isPlainObject } from '../../base/json.js';
import type { Power } from '../../plan.js';
import type { SourceFile } from '../../plan/workflow.js';
import { existing, keep, namesIn, outsideOf, stateFolder } from './project.js';

/** What a user is asked to trust: a file with all its parts and powers. */
export interface TrustSubject {
  /** Absolute path. */
  readonly file: string;
  /** The working directory. Absent if it makes no difference. */
  readonly cwd?: string;
  readonly powers: readonly Power[];
  readonly files: readonly SourceFile[];
  /** The parts outside the project: read only once the user has agreed to the rest. */
  readonly elsewhere?: () => Promise<readonly SourceFile[]>;
  /** True if parts outside the project are missing: they are not read before the user agrees to this. */
  readonly isPart?: true;
}

export interface TrustedFile {
  readonly file: string;
  /** ISO time. */
  readonly since: string;
  readonly digest: string;
}

const DIGEST = /^[\da-f]{64}$/;

/**
 * What the user's agreement is bound to: the file at its path, its powers, the texts of all its files, the files that its commands name,
 * its scripts. If one byte of these changes, the digest differs. The first digest covers the project; a second one also covers files
 * outside, if there are any. They are not opened until the user has agreed to the first.
 */
async function* digestsOf({ file, cwd, powers, files, elsewhere }: TrustSubject): AsyncGenerator<string> {
  const isOutside = outsideOf({ cwd: cwd ?? dirname(file), file });
  const words = powers.flatMap(({ kind, what, argv = [] }) => [
    ...argv.flatMap(pathsIn),
    ...(kind === 'follows' ? [what] : []),
  ]);
  const named = [...new Set(words.map((name) => resolve(cwd ?? '.', name)))].filter(isFile);
  const made = async (paths: readonly string[], sources: readonly SourceFile[]): Promise<string> =>
    canonicalHash({
      file: existing(file),
      cwd: cwd === undefined ? undefined : existing(cwd),
      powers,
      files: Object.fromEntries(sources.map(({ path, text }) => [path, sha256(text)])),
      started: Object.fromEntries(
        await Promise.all(paths.map(async (path) => [path, await fileDigest(path)] as const)),
      ),
    });
  yield await made(
    named.filter((path) => !isOutside(path)),
    files,
  );
  if (elsewhere === undefined && !named.some(isOutside)) return;
  yield await made(named, [...files, ...((await elsewhere?.()) ?? [])]);
}

/** A part of a command-line word may name a file: `--config=x.js`, `sh -c "node x.js"`. */
function pathsIn(word: string): readonly string[] {
  return [word, ...word.split(/[\s='"`;|&()<>]+/)].filter((part) => part !== '');
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(path), hash);
    return hash.digest('hex');
  } catch {
    return 'unreadable';
  }
}

/** Whether the user trusts exactly this. */
export async function isTrusted(subject: TrustSubject): Promise<boolean> {
  for await (const digest of digestsOf(subject)) if (!isFile(join(stateFolder('trusted'), digest))) return false;
  return true;
}

/** Notes that the user trusts a file as it is. @throws errors of writing the note */
export async function noteTrusted(subject: TrustSubject): Promise<void> {
  const folder = stateFolder('trusted');
  const digests: string[] = [];
  for await (const digest of digestsOf(subject)) digests.push(digest);
  for (const [at, digest] of digests.entries()) {
    const isPart = subject.isPart === true || at < digests.length - 1;
    const noted = { file: existing(subject.file), since: new Date().toISOString(), ...(isPart && { isPart }) };
    keep(join(folder, digest), JSON.stringify(noted));
  }
}

/** All files that the user trusts, as they were then: a file that was changed and trusted again appears twice. */
export function trustedFiles(): readonly TrustedFile[] {
  return notes()
    .filter(({ isPart }) => !isPart)
    .map(({ isPart: _isPart, ...file }) => file)
    .toSorted((a, b) => (a.file === b.file ? (a.since < b.since ? -1 : 1) : a.file < b.file ? -1 : 1));
}

/** Withdraws the trust in a file, which may be gone. Returns the number of removed notes. */
export function forgetTrusted(file: string): number {
  const path = existing(file);
  const noted = notes().filter((one) => one.file === path);
  for (const { digest } of noted) rmSync(join(stateFolder('trusted'), digest), { force: true });
  return noted.length;
}

interface Note extends TrustedFile {
  readonly isPart: boolean;
}

function notes(): readonly Note[] {
  const folder = stateFolder('trusted');
  return namesIn(folder).flatMap((digest) => {
    const noted = DIGEST.test(digest) ? readNote(join(folder, digest)) : undefined;
    return noted === undefined ? [] : [{ ...noted, digest }];
  });
}

function readNote(path: string): Omit<Note, 'digest'> | undefined {
  try {
    const noted: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isPlainObject(noted)) return undefined;
    const { file, since, isPart } = noted;
    return typeof file === 'string' && typeof since === 'string' ? { file, since, isPart: isPart === true } : undefined;
  } catch {
    return undefined;
  }
}
