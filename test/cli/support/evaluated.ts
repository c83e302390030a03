import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { MAIN, makeProject, ROOT, skein, start } from './skein.js';
import type { Ended } from './skein.js';

/** A file that a process evaluated, as the coverage of V8 tells it. */
interface Script {
  readonly file: string;
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly { readonly count: number }[];
  }[];
}

/** What was started already: tests that look at different things of the same start share it. */
const started = new Map<string, Promise<readonly Script[]>>();

function once(key: unknown, scripts: () => Promise<readonly Script[]>): Promise<readonly Script[]> {
  const text = JSON.stringify(key);
  const known = started.get(text) ?? scripts();
  started.set(text, known);
  return known;
}

/** The files that a command evaluates in a project of these files, and how often their functions are called. The command must succeed. */
export async function counted(
  words: readonly string[],
  files: Readonly<Record<string, string>>,
): Promise<readonly Script[]> {
  const scripts = await once([words, files], async () => {
    const cwd = await makeProject(files);
    return await scriptsOf(cwd, (env) => skein(words, { cwd, env }));
  });
  expect(scripts.map(({ file }) => file)).toContain(MAIN);
  return scripts;
}

/** The modules that a command evaluates: of a file that was built, those that were built into it. Paths from the root, such as `src/cli/main.ts`. */
export async function evaluated(
  words: readonly string[],
  files: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  return modulesOf(await counted(words, files));
}

/** The modules that the code of a user evaluates, which imports the package as it was built. */
export async function imported(code: string): Promise<readonly string[]> {
  return modulesOf(await importedScripts(code));
}

/** The files of the build that the code of a user opens. */
export async function opened(code: string): Promise<readonly string[]> {
  const files = (await importedScripts(code)).map(({ file }) => relative(ROOT, file));
  return [...new Set(files)].filter((file) => file.startsWith('dist'));
}

async function importedScripts(code: string): Promise<readonly Script[]> {
  const program = [process.execPath, '--input-type=module', '-e', code] as const;
  // Only from inside of the package does its own name mean what was built.
  return await once(code, async () => {
    return await scriptsOf(await makeProject(), (env) => start(program, { cwd: ROOT, env }).ended);
  });
}

async function scriptsOf(
  cwd: string,
  run: (env: Readonly<Record<string, string>>) => Promise<Ended>,
): Promise<readonly Script[]> {
  const folder = join(cwd, 'counts');
  await mkdir(folder, { recursive: true });
  const end = await run({ NODE_V8_COVERAGE: folder });
  expect(end, end.stderr).toMatchObject({ code: 0 });
  const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
  return texts
    .flatMap((text) => (JSON.parse(text) as { result: (Script & { readonly url: string })[] }).result)
    .filter(({ url }) => url.startsWith('file:'))
    .map((script) => ({ ...script, file: fileURLToPath(script.url) }));
}

async function modulesOf(scripts: readonly Script[]): Promise<readonly string[]> {
  const files = new Set(scripts.map(({ file }) => file));
  const modules = (await Promise.all([...files].map(modulesIn))).flat();
  return [...new Set(modules.map((path) => relative(ROOT, path)))].toSorted();
}

async function modulesIn(file: string): Promise<readonly string[]> {
  if (!existsSync(`${file}.map`)) return [file];
  const { sources } = JSON.parse(await readFile(`${file}.map`, 'utf8')) as { readonly sources: readonly string[] };
  return sources.map((source) => resolve(dirname(file), source));
}
