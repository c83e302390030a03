import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, cleanEnv } from './skein.js';

const execute = promisify(execFile);

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, unknown>>;
}

/** Unpacks the packed tarball in an empty folder, with what it depends on beside it, and nothing else. Gives the folder. */
export async function installPacked(): Promise<string> {
  if (!existsSync(join(ROOT, 'dist/graph.js'))) throw new Error('there is no dist/graph.js: npm run build first');
  const cwd = await realpath(await mkdtemp(join(tmpdir(), 'skein-packed-')));
  await writeFile(join(cwd, 'package.json'), '{ "private": true, "type": "module" }\n');
  const packed = await execute('npm', ['pack', ROOT, '--ignore-scripts', '--silent'], { cwd, env: cleanEnv(cwd) });
  const target = join(cwd, 'node_modules/skein');
  await mkdir(target, { recursive: true });
  await execute('tar', ['xzf', packed.stdout.trim(), '-C', target, '--strip-components=1'], { cwd });
  const { dependencies, optionalDependencies } = await packedManifest(cwd);
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const link = join(cwd, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, 'node_modules', name), link);
  }
  return cwd;
}

/** The package.json of what {@link installPacked} unpacked. */
export async function packedManifest(cwd: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(cwd, 'node_modules/skein/package.json'), 'utf8')) as Manifest;
}
