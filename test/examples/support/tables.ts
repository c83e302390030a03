import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './run-example.js';

/** The rows of the first table below a heading of a Markdown file, without its head. */
export async function tableBelow(file: string, heading: string, skip = 0): Promise<readonly (readonly string[])[]> {
  const lines = (await readFile(join(ROOT, file), 'utf8')).split('\n');
  const start = lines.indexOf(heading);
  if (start === -1) throw new Error(`${file} has no heading "${heading}"`);
  let seen = -1;
  const rows: string[] = [];
  for (const [at, line] of lines.entries()) {
    if (at <= start) continue;
    if (/^#+ /.test(line)) break;
    if (line.startsWith('| -')) seen += 1;
    else if (seen === skip && line.startsWith('|') && lines[at + 1]?.startsWith('| -') !== true) rows.push(line);
  }
  if (rows.length === 0) throw new Error(`${file} has no table below "${heading}"`);
  return rows.map((row) =>
    row
      .replaceAll('\\|', '\u0000')
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll('\u0000', '|').trim()),
  );
}

/** The words in code marks of a cell. */
export function codeWords(cell: string | undefined): readonly string[] {
  return [...(cell ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
}

/** The code words of the first column of a table. */
export async function keysBelow(file: string, heading: string, skip = 0): Promise<readonly string[]> {
  return (await tableBelow(file, heading, skip)).flatMap((row) => codeWords(row[0]));
}
