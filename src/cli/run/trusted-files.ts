import { createHash } from 'node:crypto';
import {
  createReadStream,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { canonicalHash, sha256 } from '../../base/hash.js';
import { isPlainObject } from '../../base/json.js';
import type { Power } from '../../plan.js';
import type { SourceFile } from '../../plan/workflow.js';
import { stateFolder } from './state-folder.js';

/** What a user is asked to trust: a file with all that it is made of and all that it can do. */
export interface TrustSubject {
  /** Absolute. */
  readonly file: string;
  /** The working directory; absent: it decides nothing. */
  readonly cwd?: string;
  readonly powers: readonly Power[];
  readonly files: readonly SourceFile[];
}

/** A file that the user trusts. */
export interface TrustedFile {
  readonly file: string;
  /** ISO time. */
  readonly since: string;
  readonly digest: string;
}

const DIGEST = /^[\da-f]{64}$/;

/**
 * What a yes of the user is bound to: the file where it is, its powers, the texts of all its files, the files that its commands name, its scripts. When
 * one byte of these changes it is another one.
 */
export async function trustDigest({ file, cwd, powers, files }: TrustSubject): Promise<string> {
  const named = powers.flatMap(({ kind, what, argv = [] }) => [
    ...argv.flatMap(pathsIn),
    ...(kind === 'follows' ? [what] : []),
  ]);
  const started = new Map<string, string>();
  for (const path of new Set(named.map((name) => resolve(cwd ?? '.', name)))) {
    const digest = await fileDigest(path);
    if (digest !== undefined) started.set(path, digest);
  }
  return canonicalHash({
    file: existing(file),
    cwd: cwd === undefined ? undefined : existing(cwd),
    powers,
    files: Object.fromEntries(files.map(({ path, text }) => [path, sha256(text)])),
    started: Object.fromEntries(started),
  });
}

/** A word of a command line may name a file by a part of it: `--config=x.js`, `sh -c "node x.js"`. */
function pathsIn(word: string): readonly string[] {
  return [word, ...word.split(/[\s='"`;|&()<>]+/)].filter((part) => part !== '');
}

async function fileDigest(path: string): Promise<string | undefined> {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(path), hash);
    return hash.digest('hex');
  } catch {
    return 'unreadable';
  }
}

/** Whether the user trusts exactly this. */
export function isTrusted(digest: string): boolean {
  return statSync(join(stateFolder('trusted'), digest), { throwIfNoEntry: false })?.isFile() === true;
}

/** Notes that the user trusts a file as it is. @throws what keeps a file from being written */
export function noteTrusted(file: string, digest: string): void {
  const folder = stateFolder('trusted');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const noted = { file: existing(file), since: new Date().toISOString() };
  writeFileSync(join(folder, digest), `${JSON.stringify(noted)}\n`, { mode: 0o600 });
}

/** All files that the user trusts, each as it was then: a file that was changed and trusted again is there twice. */
export function trustedFiles(): readonly TrustedFile[] {
  const folder = stateFolder('trusted');
  return namesIn(folder)
    .flatMap((digest) => {
      const noted = readNote(join(folder, digest));
      return noted === undefined ? [] : [{ ...noted, digest }];
    })
    .toSorted((a, b) => (a.file === b.file ? (a.since < b.since ? -1 : 1) : a.file < b.file ? -1 : 1));
}

/** Takes back what the user said of a file, which may be gone. Says how many notes there were. */
export function forgetTrusted(file: string): number {
  const path = existing(file);
  const noted = trustedFiles().filter((one) => one.file === path);
  for (const { digest } of noted) rmSync(join(stateFolder('trusted'), digest), { force: true });
  return noted.length;
}

/** Where a file really is, as long as it is there. */
function existing(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file);
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => DIGEST.test(name));
  } catch {
    return [];
  }
}

function readNote(path: string): { readonly file: string; readonly since: string } | undefined {
  try {
    const noted: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isPlainObject(noted)) return undefined;
    const { file, since } = noted;
    return typeof file === 'string' && typeof since === 'string' ? { file, since } : undefined;
  } catch {
    return undefined;
  }
}
