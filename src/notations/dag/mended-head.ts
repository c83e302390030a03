import { AGENT_FILE, UNSUPPORTED_OF_AGENT_FILES } from './agent-keys.js';

/** Keys of agent files that are read, or whose loss is reported. */
const KNOWN: ReadonlySet<string> = new Set([...Object.keys(AGENT_FILE.keys), ...UNSUPPORTED_OF_AGENT_FILES.keys()]);

const KEY = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/;

/**
 * Repairs the head of an agent file that was written as if each key's value were the rest of its line: such values are quoted, with their
 * continuation lines. Other keys are left out. Line numbers do not change.
 * `withMendedHead('---\ndescription: Use it when: always\n---\n')` returns `'---\ndescription: "Use it when: always"\n---\n'`.
 */
export function withMendedHead(text: string): string {
  const lines = text.split('\n');
  const end = lines.findIndex((line, i) => i > 0 && line.trimEnd() === '---');
  if (end < 0) return text;
  const head = lines.slice(1, end).map((line) => line.replace(/\r$/, ''));
  return [lines[0] ?? '', ...mended(head), ...lines.slice(end)].join('\n');
}

function mended(head: readonly string[]): readonly string[] {
  const result: string[] = [];
  for (let from = 0; from < head.length;) {
    let to = from + 1;
    while (to < head.length && !KEY.test(head[to] ?? '')) to += 1;
    const block = head.slice(from, to);
    const kept = mendedBlock(block);
    result.push(...kept, ...block.slice(kept.length).map(() => ''));
    from = to;
  }
  return result;
}

/** Repairs the lines of one key. */
function mendedBlock(block: readonly string[]): readonly string[] {
  const [, key = '', first = ''] = KEY.exec(block[0] ?? '') ?? [];
  if (!KNOWN.has(key)) return [];
  const value = first.trim();
  if (value === '' || /^[[{|>]/.test(value) || /^(?:"[^"]*"|'[^']*')$/.test(value)) return block;
  const whole = [value, ...block.slice(1).map((line) => line.trim())].join('\n').trimEnd();
  return [`${key}: ${JSON.stringify(whole)}`];
}
