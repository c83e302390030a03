import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { printTable } from './measure.js';

/** What may be installed at most, in millions of bytes. */
const GOAL = 60;

/** The sizes of what `npm install skein` puts on a disk, package by package: the tarball, and what the lock file names for users. Gives the goals that were missed. */
export function benchPackage(): string[] {
  const sizes = [{ name: 'skein', bytes: packedBytes() }, ...installedPackages()];
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
  const rows = sizes
    .filter(({ bytes }) => bytes >= 100_000)
    .toSorted((a, b) => b.bytes - a.bytes)
    .map(({ name, bytes }) => [name, (bytes / 1e6).toFixed(1)]);
  const held = total <= GOAL;
  printTable(
    `Install: ${total.toFixed(1)} MB in ${sizes.length} packages (goal <= ${GOAL}, ${held ? 'held' : 'NOT held'})`,
    ['package', 'MB'],
    rows,
  );
  return held ? [] : [`install: ${total.toFixed(1)} MB, goal ${GOAL}`];
}

function packedBytes(): number {
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--silent'], { encoding: 'utf8' }),
  ) as { readonly unpackedSize: number }[];
  return packed?.unpackedSize ?? Number.NaN;
}

/** Packages that only the development of Skein needs, and optional peers, are not installed with it. */
function installedPackages(): { readonly name: string; readonly bytes: number }[] {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    readonly packages: Readonly<Record<string, Readonly<Partial<Record<'dev' | 'devOptional' | 'peer', boolean>>>>>;
  };
  return Object.entries(packages)
    .filter(
      ([path, { dev, devOptional, peer }]) => path !== '' && dev !== true && devOptional !== true && peer !== true,
    )
    .map(([path]) => ({ name: path.replace('node_modules/', ''), bytes: bytesOf(path) }));
}

function bytesOf(path: string): number {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.name !== 'node_modules')
    .map((entry) => join(path, entry.name))
    .reduce((sum, inner) => sum + (statSync(inner).isDirectory() ? bytesOf(inner) : statSync(inner).size), 0);
}
