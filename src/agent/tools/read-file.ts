import { TOOL_LIMITS } from '../../plan/built-in-tools.js';
import type { Tool } from '../tool.js';
import type { Folders } from './paths.js';
import type { Provenance } from './provenance.js';
import { countText } from '../../base/text.js';
import { headOf, readText } from './text.js';
import { requiredText, wholeNumber } from './tool-input.js';

const MAX_LINES = TOOL_LIMITS.readLines;
const MAX_CHARS = 128 * 1024;

/** `read_file`: a text file, whole or in part, cut at 2,000 lines or 128 Ki characters with a note. Refuses binary files. */
export function readFileCode(folders: Folders, { isForeign }: Provenance): Tool['execute'] {
  return async (input, { files }) => {
    const place = await folders.locate(requiredText(input, 'path'));
    const offset = wholeNumber(input, 'offset', { least: 1, most: Number.MAX_SAFE_INTEGER, fallback: 1 });
    const limit = wholeNumber(input, 'limit', { least: 1, most: MAX_LINES, fallback: MAX_LINES });
    const handle = await folders.openFile(place);
    try {
      files?.shows(place.shown, await isForeign(place));
      return cutLines(await readText(handle, place.shown), offset, limit);
    } finally {
      await handle.close();
    }
  };
}

function cutLines(text: string, offset: number, limit: number): string {
  if (text === '') return '[the file is empty]';
  const lines = text.split('\n');
  // A final line break ends the last line and does not begin another.
  if (lines.at(-1) === '') lines.pop();
  if (offset > lines.length) return `[the file has ${countText(lines.length, 'line')}; line ${offset} is past its end]`;
  const chosen = lines.slice(offset - 1, offset - 1 + limit);
  const { count, body } = fit(chosen);
  const last = offset - 1 + count;
  if (offset === 1 && last === lines.length && count === chosen.length) return body;
  const rest = last < lines.length ? `; continue with offset ${last + 1}` : '';
  return `${body}\n[lines ${offset} to ${last} of ${lines.length}${rest}]`;
}

/** Returns as many lines as fit; a first line that is too long alone is cut. */
function fit(lines: readonly string[]): { count: number; body: string } {
  let size = 0;
  let count = 0;
  for (const line of lines) {
    if (size + line.length > MAX_CHARS && count > 0) break;
    size += line.length + 1;
    count += 1;
  }
  const body = lines.slice(0, count).join('\n');
  if (body.length <= MAX_CHARS) return { count, body };
  return { count, body: `${headOf(body, MAX_CHARS)} [... the rest of the line is left out ...]` };
}
