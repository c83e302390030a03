import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';

export const ROOT = resolve(import.meta.dirname, '../../..');
export const MAIN = join(ROOT, 'dist/cli/main.js');

/** How the program is started. Its environment has no keys, no colours to inherit and a home of its own. */
export interface StartOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What it reads from stdin; absent: stdin is at its end. */
  readonly input?: string | Buffer;
  /** The user has not said yes to any file. Absent: to all of them. */
  readonly asks?: boolean;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program that runs, with what it has written so far. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Settles when stdout and stderr together contain the text; rejects when the program ends without it. */
  seen(text: string): Promise<void>;
}

export function cleanEnv(cwd: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: join(cwd, 'home'), SKEIN_NO_PROBE: '1', ...more };
}

/** Starts any program and follows what it writes. */
export function start(argv: readonly [string, ...string[]], options: StartOptions): Running {
  const [program, ...args] = argv;
  const child = spawn(program, args, { cwd: options.cwd, env: cleanEnv(options.cwd, options.env) });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let stdout = '';
  let stderr = '';
  const watchers = new Set<() => void>();
  const tell = (): void => {
    for (const watcher of watchers) watcher();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    tell();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    tell();
  });
  child.stdin.on('error', () => undefined);
  if (options.input !== undefined) child.stdin.end(options.input);
  const ended = new Promise<Ended>((done, fail) => {
    child.on('error', fail);
    child.on('close', (code, signal) => done({ code, signal, stdout, stderr }));
  });
  return {
    child,
    ended,
    seen(text) {
      return new Promise((found, missed) => {
        const look = (): void => {
          if (!(stdout + stderr).includes(text)) return;
          watchers.delete(look);
          found();
        };
        watchers.add(look);
        look();
        void ended.then((end) => missed(new Error(`never saw ${text} in:\n${end.stdout}\n${end.stderr}`)));
      });
    },
  };
}

/** Starts the program that was built. */
export function startSkein(args: readonly string[], options: StartOptions): Running {
  if (!existsSync(MAIN)) throw new Error('there is no dist/cli/main.js: npm run build first');
  return start([process.execPath, MAIN, ...trusting(args, options)], options);
}

/** Commands that need a yes of the user to what a file can do. */
const TRUSTING = new Set(['run', 'exec', 'resume', 'fork', 'event', 'validate', 'plan', 'graph', 'convert']);

/** The words with `--trust`: what files can do is not what most tests are about. */
export function trusting(args: readonly string[], { asks = false }: Pick<StartOptions, 'asks'>): readonly string[] {
  const [command = '', ...rest] = args;
  return asks || !TRUSTING.has(command) ? args : [command, '--trust', ...rest];
}

/** Runs it to its end. */
export function skein(args: readonly string[], options: StartOptions): Promise<Ended> {
  return startSkein(args, { input: '', ...options }).ended;
}

/** A directory with files that is removed when the test has ended. */
export async function makeProject(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'skein-cli-')));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 3 }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text);
  }
  return directory;
}

/** Every file and folder below a directory, in order. */
export async function filesIn(directory: string): Promise<readonly string[]> {
  return (await readdir(directory, { recursive: true })).toSorted();
}

/** Names of the run folders of a project. */
export async function runFolders(cwd: string): Promise<readonly string[]> {
  const entries = await readdir(join(cwd, '.workflow-runs'), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

/** The files of the only run folder of a project, by their path inside of it. */
export async function runFolder(cwd: string): Promise<ReadonlyMap<string, string>> {
  const base = join(cwd, '.workflow-runs');
  const [name = '', ...more] = await runFolders(cwd);
  if (name === '' || more.length > 0) throw new Error(`expected one run folder, not ${[name, ...more].join()}`);
  const folder = join(base, name);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    await Promise.all(
      files.map(async (file) => [file.slice(folder.length + 1), await readFile(file, 'utf8')] as const),
    ),
  );
}

/** The outputs of a JSON document on stdout. */
export function documentOf(end: Ended): Record<string, unknown> & { readonly steps: Record<string, StepDocument> } {
  return JSON.parse(end.stdout) as Record<string, unknown> & { readonly steps: Record<string, StepDocument> };
}

export interface StepDocument {
  readonly status: string;
  readonly output?: unknown;
  readonly reason?: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly attempts: number;
}

/** Two steps, the second one after the first. */
export const CHAIN = `name: chain
inputs:
  topic: { description: what it is about, default: looms }
agents:
  writer: { inline: { prompt: You write., tools: [] } }
steps:
  - { id: facts, agent: writer, prompt: "Facts about {{inputs.topic}}" }
  - { id: text, agent: writer, depends_on: [facts], prompt: "Text from {{steps.facts.output}}" }
`;
