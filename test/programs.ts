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
 * A program of the tests, given its source, as one file of JavaScript with what it imports: tests start it hundreds of times,
 * and from its sources, or through a loader that compiles, each start would take several times as long.
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
    output: { format: 'esm', codeSplitting: false },
    write: false,
    logLevel: 'warn',
  });
  const file = join(FOLDER, `${basename(source, '.ts')}.mjs`);
  mkdirSync(FOLDER, { recursive: true });
  // A process that starts meanwhile finds the whole file: this one or, with the same text, that of another worker.
  const unfinished = `${file}.${randomUUID()}`;
  writeFileSync(unfinished, output[0].code);
  renameSync(unfinished, file);
  return file;
}
