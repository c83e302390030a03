import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
const SOURCES = readdirSync(join(ROOT, 'src'), { recursive: true })
  .map(String)
  .filter((name) => name.endsWith('.ts'));

/** The second column of "Where do I change X", row by row. */
const ROWS = (/^## Where do I change X\n([\s\S]*?)^## /m.exec(PAGE)?.[1] ?? '')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| to change'))
  .map((line) => line.split(' | ').slice(1).join(' | '));

/** Files and folders that a row names, in order; what else stands between backquotes are names of code. */
function pathsIn(row: string): readonly string[] {
  const names = [...row.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
  return names.filter((name) => /^[\w*./-]+(?:\.ts|\.json|\/)$/.test(name) || /^test\/\w+$/.test(name));
}

const ENTRIES = [
  ...readdirSync(ROOT),
  ...['src', 'test', 'examples'].flatMap((top) =>
    readdirSync(join(ROOT, top), { recursive: true }).map((name) => `${top}/${String(name)}`),
  ),
];

/** What begins with this path, with stars in it or none, and `src` left out; undefined for nothing. */
function found(path: string): string | undefined {
  const pattern = path
    .replace(/\/$/, '')
    .replaceAll('.', String.raw`\.`)
    .replaceAll(/\*\*\/|\*/g, (stars) => (stars === '*' ? '[^/]*' : '(?:.*/)?'));
  const entry = new RegExp(`^(?:src/)?${pattern}$`);
  return ENTRIES.find((name) => entry.test(name));
}

/** The paths of a row that lead nowhere. One that does not lie at the top is in a folder that the row names before it, or in the room around that. */
function lostIn(row: string): readonly string[] {
  const folders: string[] = [];
  return pathsIn(row).filter((path) => {
    const around = folders.flatMap((folder) => [folder, dirname(folder), dirname(dirname(folder))]);
    const place = [path, ...around.map((folder) => join(folder, path))].map(found).find((one) => one !== undefined);
    if (place !== undefined) folders.push(/\.\w+$/.test(place) ? dirname(place) : place);
    return place === undefined;
  });
}

describe('ARCHITECTURE.md', () => {
  test('names files and folders that exist', () => {
    expect(ROWS.length).toBeGreaterThan(90);
    expect(ROWS.flatMap(pathsIn).length).toBeGreaterThan(200);
    expect(ROWS.flatMap((row) => lostIn(row).map((path) => `${path} in: ${row.trim()}`))).toEqual([]);
  });

  test('says of every room of src what is changed there', () => {
    const rooms = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const named = new Set(ROWS.flatMap(pathsIn).map((path) => path.replace(/^src\//, '').split('/')[0]));
    expect(rooms.map(({ name }) => name).filter((name) => !named.has(name))).toEqual([]);
  });

  test('names the rooms of the engine', () => {
    const [, said = ''] = /^The engine has four rooms: ([\s\S]*?)\n\n/m.exec(PAGE) ?? [];
    const rooms = readdirSync(join(ROOT, 'src/engine'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect([...said.matchAll(/`(\w+)`/g)].map(([, name = '']) => name).toSorted()).toEqual(
      rooms.map(({ name }) => name).toSorted(),
    );
  });
});

describe('a file of src', () => {
  const lines = SOURCES.map(
    (name) => [name, readFileSync(join(ROOT, 'src', name), 'utf8').split('\n').length - 1] as const,
  );

  test('has 350 lines at most', () => {
    expect(lines.length).toBeGreaterThan(700);
    expect(lines.filter(([, count]) => count > 350)).toEqual([]);
  });

  test('seldom has fewer than 40', () => {
    expect(lines.filter(([, count]) => count < 40).length).toBeLessThan(36);
  });
});
