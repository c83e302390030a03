import { constants } from 'node:fs';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { toErrorData } from '../base/errors.js';
import { addTo } from '../base/collections.js';

/** Pending output of one file. */
type Job = { readonly whole: () => string } | { appended: string };

/** Number of folders written concurrently: Node has four threads for files. */
const AT_ONCE = 8;

/** Maximum number of listed failures. Further ones are only counted. */
const MOST_FAILURES = 50;

/**
 * Writes files below a folder in the background: the files of one folder one after the other, several folders at once. Files directly in
 * the root are written after all earlier requests. A caller never waits or sees an error: failures are collected. A file is replaced as a
 * whole; only {@link append} adds to a file, and a killed process can leave an unfinished last line.
 */
export class FileWriter {
  private readonly jobs = new Map<string, Job>();
  private readonly folders: Set<string>;
  private readonly failures = new Set<string>();
  private readonly lost = new Set<string>();
  private unlisted = 0;
  private working: Promise<void> | undefined = undefined;

  /** `folders` already exist, relative to `root`. Every other folder of a file is created, and must be new. */
  constructor(
    private readonly root: string,
    folders: readonly string[],
  ) {
    this.folders = new Set([root, ...folders.map((folder) => join(root, folder))]);
  }

  /** Replaces a file, after all earlier requests. The text is made at the time of writing; a later request replaces this one. */
  write(file: string, whole: () => string): void {
    this.jobs.delete(file);
    this.jobs.set(file, { whole });
    this.work();
  }

  /** Adds to a file. Nothing is added after a failure, which may have left half a line. */
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
    // The caller finishes first, so that its requests of one turn are written together.
    await Promise.resolve();
    while (this.jobs.size > 0) {
      const folders = this.takeFolders();
      const work = async (): Promise<void> => {
        for (let jobs = folders.pop(); jobs !== undefined; jobs = folders.pop()) await this.writeFolder(jobs);
      };
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, folders.length) }, work));
    }
    // Set in the same turn as the last look at the jobs; otherwise a job that arrives now would wait forever.
    this.working = undefined;
  }

  /** Takes the jobs up to the next file directly in the root, grouped by folder; or that file alone. */
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
    // A later text is pending: this one could mention files that are written between the two.
    if ('whole' in job && this.jobs.has(file)) return;
    if ('whole' in job) await replaceFile(path, job.whole());
    else await appendFile(path, job.appended);
  }
}

/** Writes a file beside its place and moves it there. A link at the place is replaced, not followed. */
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
