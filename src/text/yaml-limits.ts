import { Lexer } from 'yaml';

/** Limits of a YAML text, checked before anything is built from it. */
export interface YamlLimits {
  /** Bytes of UTF-8. */
  readonly maxBytes: number;
  readonly maxLines: number;
  /** Levels of nested lists and maps. */
  readonly maxDepth: number;
  /** Keys, values and marks of lists and maps as written: two for a line `key: value`. */
  readonly maxEntries: number;
  /** Uses of anchors (`*name`). */
  readonly maxAliases: number;
  /** Values after all aliases are expanded. */
  readonly maxNodes: number;
}

/** Limits of workflow and agent files, enough for some 6,000 steps. Reading takes linear time, and under a second at these limits. */
export const YAML_LIMITS: YamlLimits = {
  maxBytes: 4_000_000,
  maxLines: 80_000,
  maxDepth: 100,
  maxEntries: 80_000,
  maxAliases: 100,
  maxNodes: 80_000,
};

/** Why a text is refused before parsing, and where (offset in UTF-16 units). */
export interface LimitFinding {
  readonly offset: number;
  readonly message: string;
  readonly hint: string;
}

/**
 * Yields the tokens of a text, without building or recursing, until a limit is exceeded; returns that finding. The depth is an upper bound:
 * each open indentation column and each open bracket counts as a level.
 */
export function* tokensWithin(text: string, limits: YamlLimits): Generator<string, LimitFinding | undefined> {
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.maxBytes) return tooLarge(bytes, limits.maxBytes);
  const tooLong = lineAfter(text, limits.maxLines);
  if (tooLong !== undefined) return tooLong;
  const scan: Scan = {
    offset: 0,
    lineStart: 0,
    contentLine: -1,
    afterColon: false,
    columns: [],
    brackets: 0,
    entries: 0,
    aliases: 0,
  };
  for (const token of new Lexer().lex(text)) {
    // The scanner marks the start of a document or a scalar, and a missing bracket, by tokens that are not in the text.
    if (token !== '\u0002' && token !== '\u001F' && token !== '\u0018') {
      const finding = countToken(scan, token, limits);
      if (finding !== undefined) return finding;
      advance(scan, token);
    }
    yield token;
  }
  return undefined;
}

/** Returns the finding for a text with too many bytes. */
export function tooLarge(bytes: number, maxBytes: number): LimitFinding {
  const message = `${megabytes(bytes)} of text; the limit is ${megabytes(maxBytes)}`;
  return { offset: 0, message, hint: 'pass large data as an input or as a file that an agent reads' };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(bytes < 100_000 ? 3 : 1)} MB`;
}

/** Counts all lines: empty lines and comments cost the scanner as much as others. */
function lineAfter(text: string, maxLines: number): LimitFinding | undefined {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    lines += 1;
    if (lines > maxLines) return { offset: at + 1, message: `more than ${maxLines} lines`, hint: MANY_HINT };
  }
  return undefined;
}

const MANY_HINT = 'split the workflow into several files, or use a step that runs for each item of a list';

interface Scan {
  offset: number;
  lineStart: number;
  /** Start of the last line with content. */
  contentLine: number;
  /** True if nothing followed the last colon. */
  afterColon: boolean;
  /** Columns at which the constructs still open began. */
  columns: number[];
  brackets: number;
  entries: number;
  aliases: number;
}

function countToken(scan: Scan, token: string, limits: YamlLimits): LimitFinding | undefined {
  const { offset } = scan;
  const opens = opensColumn(scan, token);
  if (opens || token === ':') scan.afterColon = token === ':';
  if (opens) scan.entries += 1;
  if (scan.entries > limits.maxEntries) {
    return { offset, message: `more than ${limits.maxEntries} keys, values and list items`, hint: MANY_HINT };
  }
  const first = token[0];
  if (first === '*' && token.length > 1) scan.aliases += 1;
  if (scan.aliases > limits.maxAliases) {
    const hint = 'write the values out instead of using *name';
    return { offset, message: `more than ${limits.maxAliases} aliases`, hint };
  }
  if (token === '[' || token === '{') scan.brackets += 1;
  else if ((token === ']' || token === '}') && scan.brackets > 0) scan.brackets -= 1;
  if (opens) openColumn(scan);
  if (scan.columns.length + scan.brackets <= limits.maxDepth) return undefined;
  const hint = 'no part of a definition needs so many levels';
  return { offset, message: `nested deeper than ${limits.maxDepth} levels`, hint };
}

/** True for content. A colon counts only as the first token of its line or after another colon: then the key before it is missing. */
function opensColumn(scan: Scan, token: string): boolean {
  const first = token[0];
  if (first === ' ' || first === '\t' || first === '\n' || first === '\r' || first === '#') return false;
  return token !== ':' || scan.afterColon || scan.contentLine !== scan.lineStart;
}

function openColumn(scan: Scan): void {
  scan.contentLine = scan.lineStart;
  if (scan.brackets > 0) return;
  const column = scan.offset - scan.lineStart;
  while ((scan.columns.at(-1) ?? -1) >= column) scan.columns.pop();
  scan.columns.push(column);
}

function advance(scan: Scan, token: string): void {
  const lineEnd = token.lastIndexOf('\n');
  if (lineEnd !== -1) scan.lineStart = scan.offset + lineEnd + 1;
  scan.offset += token.length;
}
