import { constants } from 'node:fs';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { toErrorData } from '../base/errors.js';
import { addTo } from '../base/collections.js';

/** What is still to be written to one file. */
type Job = { readonly whole: () => string } | { appended: string };

/** Folders that are written at once: Node has four threads for files. */
const AT_ONCE = 8;

/** More failures than these are only counted. */
const MOST_FAILURES = 50;

/**
 * Writes files below a folder in the background: those of one folder one after the other, some folders at once. Files of the folder itself are
 * written after everything that was asked for before. Whoever asks never waits and never sees an error: failures are collected. A file is replaced as a whole, so a killed process leaves the old or the new one, never half of it; only
 * {@link append} adds to a file, and leaves at worst an unfinished last line.
 */
export class FileWriter {
  private readonly jobs = new Map<string, Job>();
  private readonly folders: Set<string>;
  private readonly failures = new Set<string>();
  private readonly lost = new Set<string>();
  private unlisted = 0;
  private working: Promise<void> | undefined = undefined;

  /** `folders` exist already, relative to `root`; each other one that a file lies in is made, and must be new. */
  constructor(
    private readonly root: string,
    folders: readonly string[],
  ) {
    this.folders = new Set([root, ...folders.map((folder) => join(root, folder))]);
  }

  /** Replaces a file, after everything that was asked for before. The text is made when its turn comes; a later one replaces it. */
  write(file: string, whole: () => string): void {
    this.jobs.delete(file);
    this.jobs.set(file, { whole });
    this.work();
  }

  /** Adds to a file. After a failure nothing is added any more: it may have left half a line. */
  append(file: string, text: string): void {
    if (this.lost.has(file)) return;
    const job = this.jobs.get(file);
    if (job !== undefined && 'appended' in job) job.appended += text;
    else this.jobs.set(file, { appended: text });
    this.work();
  }

  failed(what: string, error: unknown): void {
    if (this.failures.size < MOST_FAILURES) this.failures.add(`${what}: ${toErrorData(error).message}`);
    else this.unlisted += 1;
  }

  /** Whether a write of this file has failed. */
  hasLost(file: string): boolean {
    return this.lost.has(file);
  }

  /** Waits until nothing is left to write. */
  async idle(): Promise<void> {
    while (this.working !== undefined) await this.working;
  }

  get problems(): readonly string[] {
    const more = this.unlisted === 0 ? [] : [`and ${this.unlisted} more`];
    return [...this.failures, ...more];
  }

  private work(): void {
    this.working ??= this.drain();
  }

  private async drain(): Promise<void> {
    // The caller is done first: what it asks for in one go is written at once.
    await Promise.resolve();
    while (this.jobs.size > 0) {
      const folders = this.takeFolders();
      const work = async (): Promise<void> => {
        for (let jobs = folders.pop(); jobs !== undefined; jobs = folders.pop()) await this.writeFolder(jobs);
      };
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, folders.length) }, work));
    }
    // In the same breath as the last look at the jobs, or one that comes now would wait for ever.
    this.working = undefined;
  }

  /** The jobs up to the next file of the folder itself, by the folders below it that their files lie in; or that file alone. */
  private takeFolders(): [string, Job][][] {
    const folders = new Map<string, [string, Job][]>();
    for (const [file, job] of this.jobs) {
      const folder = dirname(file);
      if (folder === '.' && folders.size > 0) break;
      this.jobs.delete(file);
      addTo(folders, folder, [file, job]);
      if (folder === '.') break;
    }
    return [...folders.values()].toReversed();
  }

  private async writeFolder(jobs: readonly (readonly [string, Job])[]): Promise<void> {
    for (const [file, job] of jobs) {
      try {
        await this.perform(file, job);
      } catch (error) {
        this.lost.add(file);
        this.failed(file, error);
      }
    }
  }

  private async perform(file: string, job: Job): Promise<void> {
    const path = join(this.root, file);
    const folder = dirname(path);
    if (!this.folders.has(folder)) {
      await mkdir(folder, { mode: 0o700 });
      this.folders.add(folder);
    }
    // A later text is asked for: this one would speak already of files that are written between the two.
    if ('whole' in job && this.jobs.has(file)) return;
    if ('whole' in job) await replaceFile(path, job.whole());
    else await appendFile(path, job.appended);
  }
}

/** Writes a file beside its place and moves it there. Links at the place itself are replaced, not followed. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const part = join(dirname(path), `.${basename(path)}.part`);
  try {
    await writeFile(part, text, { flag: 'wx', mode: 0o600 });
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    throw error;
  }
}

async function appendFile(path: string, text: string): Promise<void> {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  const handle = await open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}
