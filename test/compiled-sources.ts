import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { transformSync } from 'rolldown/utils';

const ROOT = resolve(import.meta.dirname, '..');
const SOURCES = join(ROOT, 'src');
/** Inside of the project, so that the code finds its packages. */
const COMPILED = join(ROOT, 'node_modules/.cache/skein-tests/src');

/**
 * A plugin by which tests import the source as JavaScript that Node loads itself. Vitest would otherwise pass each file to each worker, and
 * evaluate it in a form in which each use of an import is a call: that takes a third more processor time.
 */
export function compiledSources() {
  let isReady = false;
  return {
    name: 'compiled sources',
    enforce: 'pre' as const,
    resolveId(source: string, importer: string | undefined) {
      const path = sourceOf(source, importer);
      if (path === undefined) return undefined;
      if (!isReady) compileAll();
      isReady = true;
      return { id: compiledOf(path), external: true };
    },
  };
}

/** The file in src/ that is imported; undefined for other imports. */
function sourceOf(source: string, importer: string | undefined): string | undefined {
  const [, name = 'index'] = /^skein(?:\/(.+))?$/.exec(source) ?? [];
  const paths = /^skein(\/|$)/.test(source)
    ? [join(SOURCES, `${name}.ts`), join(SOURCES, name, 'index.ts')]
    : source.startsWith('.') && importer !== undefined
      ? [resolve(dirname(importer), source).replace(/\.js$/, '.ts')]
      : [];
  return paths.find((path) => path.startsWith(`${SOURCES}/`) && existsSync(path));
}

function compiledOf(path: string): string {
  return join(COMPILED, path.slice(SOURCES.length)).replace(/\.ts$/, '.js');
}

function compileAll(): void {
  for (const entry of readdirSync(SOURCES, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const made = compiledOf(path);
    mkdirSync(dirname(made), { recursive: true });
    if (!path.endsWith('.ts')) copyFileSync(path, made);
    else replace(made, compiled(path));
  }
}

function compiled(path: string): string {
  const { code, map, errors } = transformSync(path, readFileSync(path, 'utf8'), { sourcemap: true, target: 'es2023' });
  if (errors.length > 0) throw new Error(`${path}: ${JSON.stringify(errors)}`);
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}\n`;
}

/** A worker of another run that loads the file meanwhile finds it whole. */
function replace(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  const unfinished = `${path}.${randomUUID()}`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, path);
}
