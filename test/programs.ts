import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { build } from 'rolldown';

const ROOT = resolve(import.meta.dirname, '..');
/** Inside of the project, so that programs find its packages. */
const FOLDER = join(ROOT, 'node_modules/.cache/skein-tests');

interface Manifest {
  readonly dependencies: object;
  readonly peerDependencies: object;
  readonly optionalDependencies: object;
}

/** Packages that the source loads when they are needed; programs seldom do. */
const { dependencies, peerDependencies, optionalDependencies } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
) as Manifest;
const ON_DEMAND = Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies });

const made = new Map<string, Promise<string>>();

/**
 * A program of the tests, given its source, as JavaScript with what it imports: tests start it hundreds of times, and from its sources, or
 * through a loader that compiles, each start would take several times as long. What it loads on demand stands in files of its own.
 */
export function programOf(source: string): Promise<string> {
  const known = made.get(source) ?? bundled(source);
  made.set(source, known);
  return known;
}

async function bundled(source: string): Promise<string> {
  const { output } = await build({
    input: source,
    platform: 'node',
    resolve: { mainFields: ['module', 'main'], conditionNames: ['import', 'default'] },
    external: (id, importer) =>
      (importer?.startsWith(join(ROOT, 'src')) ?? false) &&
      ON_DEMAND.some((name) => id === name || id.startsWith(`${name}/`)),
    output: { format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
    write: false,
    logLevel: 'warn',
  });
  const folder = join(FOLDER, basename(source, '.ts'));
  mkdirSync(folder, { recursive: true });
  // A process that starts meanwhile finds whole files: these or, with the same text, those of another worker. The program itself comes last.
  for (const part of output.toReversed()) {
    if (part.type !== 'chunk') continue;
    const unfinished = join(folder, randomUUID());
    writeFileSync(unfinished, part.code);
    renameSync(unfinished, join(folder, part.fileName));
  }
  return join(folder, output[0].fileName);
}
