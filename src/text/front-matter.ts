import type { Problem } from '../base/problem.js';
import type { SourceNode } from './nodes.js';
import { parseYaml } from './yaml.js';
import { readFields, type Fields } from './shape.js';
import type { Findings } from './findings.js';

/** A text file with data at its head. */
export interface FrontMatter {
  /** The data of the head. Undefined if the head is empty or broken. */
  readonly data: SourceNode | undefined;
  /** The text after the head, without leading line ends; lines end with LF. The whole text if there is no head. */
  readonly body: string;
  /** False if the first line is not `---`. */
  readonly found: boolean;
  readonly problems: readonly Problem[];
}

/**
 * Splits off the YAML between a first line `---` and the next such line. Nothing else is a head: `---js` and the like are text, so front
 * matter can never be code. CRLF and a byte order mark are accepted. Positions refer to the whole file.
 *
 * Problem codes: `front-matter` and those of the YAML reader.
 */
export function parseFrontMatter(text: string, file: string): FrontMatter {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const start = lineAfter(source, 0);
  if (!isFence(source, 0)) return { data: undefined, body: unixLines(source), found: false, problems: [] };
  let from = start;
  while (from < source.length && !isFence(source, from)) from = lineAfter(source, from);
  if (from >= source.length) {
    const problem: Problem = {
      code: 'front-matter',
      severity: 'error',
      message: 'the front matter is not closed',
      at: { file, line: 1, column: 1 },
      hint: 'put a line with --- after it',
    };
    return { data: undefined, body: '', found: true, problems: [problem] };
  }
  const { root, problems } = parseYaml(source.slice(start, from), file, { firstLine: 2 });
  return {
    data: root,
    body: withoutLeadingLines(unixLines(source.slice(lineAfter(source, from)))),
    found: true,
    problems,
  };
}

/** Opens the head of a text file, with its problems reported. The fields are undefined without a readable head. */
export function openFrontMatter(
  text: string,
  file: string,
  findings: Findings,
): { readonly fields: Fields | undefined; readonly body: string } {
  const { data, body, problems } = parseFrontMatter(text, file);
  findings.add(problems);
  return { fields: data && readFields(data, { name: 'the front matter' }, findings), body };
}

/** True if the line that begins at `from` is `---`, with any trailing blanks. */
function isFence(text: string, from: number): boolean {
  if (!text.startsWith('---', from)) return false;
  const end = text.indexOf('\n', from);
  return text.slice(from + 3, end === -1 ? text.length : end).trim() === '';
}

function lineAfter(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end + 1;
}

function unixLines(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

function withoutLeadingLines(text: string): string {
  let from = 0;
  while (text[from] === '\n') from += 1;
  return text.slice(from);
}
