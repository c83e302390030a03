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

/** What an agreement is bound to: all of it, and the digests of the files in it by their paths. */
interface Digested {
  readonly digest: string;
  readonly parts: Readonly<Record<string, string>>;
}

const DIGEST = /^[\da-f]{64}$/;

/**
 * What the user's agreement is bound to: the file at its path, its powers, the texts of all its files, the files that its commands name,
 * its scripts. If one byte of these changes, the digest differs. The first digest covers the project; a second one also covers files
 * outside, if there are any. They are not opened until the user has agreed to the first.
 */
async function* digestsOf({ file, cwd, powers, files, elsewhere }: TrustSubject): AsyncGenerator<Digested> {
  const isOutside = outsideOf({ cwd: cwd ?? dirname(file), file });
  const words = powers.flatMap(({ kind, what, argv = [] }) => [
    ...argv.flatMap(pathsIn),
    ...(kind === 'follows' ? [what] : []),
  ]);
  const named = [...new Set(words.map((name) => resolve(cwd ?? '.', name)))].filter(isFile);
  const made = async (paths: readonly string[], sources: readonly SourceFile[]): Promise<Digested> => {
    const texts = Object.fromEntries(sources.map(({ path, text }) => [path, sha256(text)]));
    const started = Object.fromEntries(
      await Promise.all(paths.map(async (path) => [path, await fileDigest(path)] as const)),
    );
    return {
      digest: canonicalHash({ ...placeOf({ file, cwd }), powers, files: texts, started }),
      parts: { ...started, ...texts },
    };
  };
  yield await made(
    named.filter((path) => !isOutside(path)),
    files,
  );
  if (elsewhere === undefined && !named.some(isOutside)) return;
  yield await made(named, [...files, ...((await elsewhere?.()) ?? [])]);
}

function placeOf({ file, cwd }: { readonly file: string; readonly cwd?: string | undefined }) {
  return { file: existing(file), ...(cwd === undefined ? {} : { cwd: existing(cwd) }) };
}

/** A part of a command-line word may name a file: `--config=x.js`, `sh -c "node x.js"`. */
function pathsIn(word: string): readonly string[] {
  return [word, ...word.split(/[\s='"`;|&()<>]+/)].filter((part) => part !== '');
}

/** Any word of a command can stand here: what the system can't look up, such as a long text, is not the name of a file. */
function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}

async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    // Programs are large: in parts of a megabyte they are read in two thirds of the time.
    await pipeline(createReadStream(path, { highWaterMark: 2 ** 20 }), hash);
    return hash.digest('hex');
  } catch {
    return 'unreadable';
  }
}

/** Whether the user trusts exactly this. */
export async function isTrusted(subject: TrustSubject): Promise<boolean> {
  for await (const { digest } of digestsOf(subject)) if (!isFile(join(stateFolder('trusted'), digest))) return false;
  return true;
}

/** Notes that the user trusts a file as it is. @throws errors of writing the note */
export async function noteTrusted(subject: TrustSubject): Promise<void> {
  const folder = stateFolder('trusted');
  const digests: Digested[] = [];
  for await (const digested of digestsOf(subject)) digests.push(digested);
  for (const [at, { digest, parts }] of digests.entries()) {
    const isPart = subject.isPart === true || at < digests.length - 1;
    const noted = { ...placeOf(subject), since: new Date().toISOString(), parts, ...(isPart && { isPart }) };
    keep(join(folder, digest), JSON.stringify(noted));
  }
}

/** The files of the project that changed since the user's yes to this file; empty if something else did. Undefined: no yes. */
export async function changedSince(subject: TrustSubject): Promise<readonly string[] | undefined> {
  const place = placeOf(subject);
  const last = notes()
    .filter(({ file, cwd }) => file === place.file && cwd === place.cwd)
    .toSorted((a, b) => (a.since < b.since ? -1 : 1))
    .at(-1);
  if (last === undefined) return undefined;
  const isOutside = outsideOf({ cwd: subject.cwd ?? dirname(subject.file), file: subject.file });
  for await (const { parts } of digestsOf(subject)) {
    // Of a file whose parts outside of the project are not read yet, the other parts may be missing, too.
    const paths = new Set([...Object.keys(parts), ...(subject.isPart === true ? [] : Object.keys(last.parts))]);
    return [...paths].filter((one) => !isOutside(one) && parts[one] !== last.parts[one]).toSorted();
  }
  return [];
}

/** All files that the user trusts, as they were then: a file that was changed and trusted again appears twice. */
export function trustedFiles(): readonly TrustedFile[] {
  return notes()
    .filter(({ isPart }) => !isPart)
    .map(({ file, since, digest }) => ({ file, since, digest }))
    .toSorted((a, b) => (a.file === b.file ? (a.since < b.since ? -1 : 1) : a.file < b.file ? -1 : 1));
}

/** Withdraws the trust in a file, which may be gone. Returns the number of removed notes. */
export function forgetTrusted(file: string): number {
  const path = existing(file);
  const noted = notes().filter((one) => one.file === path);
  for (const { digest } of noted) rmSync(join(stateFolder('trusted'), digest), { force: true });
  return noted.length;
}

interface Note extends TrustedFile, Digested, Pick<TrustSubject, 'cwd'> {
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
    const { file, cwd, since, parts, isPart } = noted;
    if (typeof file !== 'string' || typeof since !== 'string' || !isPlainObject(parts)) return undefined;
    const place = typeof cwd === 'string' ? { file, cwd } : { file };
    return { ...place, since, parts: parts as Digested['parts'], isPart: isPart === true };
  } catch {
    return undefined;
  }
}
