import { basename } from 'node:path';
import { hasErrors } from '../../base/problem.js';
import type { Findings } from '../../text/findings.js';
import { parseFrontMatter, type FrontMatter } from '../../text/front-matter.js';
import type { SourceMap } from '../../text/nodes.js';
import { readFields } from '../../text/shape.js';
import { reportOne, reportUnsupported } from '../../text/unsupported.js';
import { AGENT_FILE, PERMISSION_MODES, UNSUPPORTED_OF_AGENT_FILES } from './agent-keys.js';
import type { AgentTraits } from './definition.js';
import { readTraits } from './read-agent.js';

/** An agent file. The body is the system prompt, verbatim: braces in it belong to other systems and are not references. */
export interface AgentFile extends AgentTraits {
  readonly name: string;
  readonly body: string;
}

/**
 * Reads the text of an agent file (`.agent.md`, `.md`). Keys that only other systems use (`handoffs`, `target` ...) are ignored, and what
 * is lost is reported. A head that is not YAML, usually because of texts with `: `, is read line by line, with a warning. Returns undefined
 * if the text is not an agent file. Problem codes: `front-matter`, `no-front-matter`, `not-supported` and those of the YAML and shape
 * readers.
 */
export function readAgentFile(text: string, file: string, findings: Findings): AgentFile | undefined {
  const head = readHead(text, file);
  findings.add(head.problems);
  const start = { file, line: 1, column: 1 };
  if (!head.found) {
    const hint = 'an agent file begins with a line ---, then name and description, then a line ---';
    findings.error('no-front-matter', 'this is not an agent file: it has no front matter', start, hint);
    return undefined;
  }
  const stem = nameOfFile(file);
  if (head.data === undefined) {
    const none: SourceMap = { kind: 'map', entries: [], at: start };
    const fields = readFields(none, { name: '' }, findings);
    return head.problems.length > 0 || fields === undefined
      ? undefined
      : { name: stem, body: head.body, ...readTraits(fields, 'the agent') };
  }
  const fields = readFields(head.data, { name: 'the front matter', form: AGENT_FILE }, findings);
  if (fields === undefined) return undefined;
  reportUnsupported(head.data, 'the agent', UNSUPPORTED_OF_AGENT_FILES, findings);
  const mode = PERMISSION_MODES.get(fields.text('permissionMode') ?? '');
  if (mode !== undefined) {
    reportOne(
      `permissionMode ${fields.text('permissionMode') ?? ''}`,
      mode,
      fields.placeOf('permissionMode'),
      findings,
    );
  }
  const name = fields.text('name')?.trim() ?? '';
  return { name: name === '' ? stem : name, body: head.body, ...readTraits(fields, 'the agent') };
}

export function nameOfFile(path: string): string {
  return basename(path).replace(/(\.agent)?\.md$/, '');
}

function readHead(text: string, file: string): FrontMatter {
  const head = parseFrontMatter(text, file);
  const first = head.problems.find((problem) => problem.severity === 'error');
  if (first === undefined || !head.found) return head;
  const mended = parseFrontMatter(withMendedHead(text), file);
  if (hasErrors(mended.problems)) return head;
  const message = `the head is not YAML (${first.message}); each key is read with the rest of its line as text`;
  const hint = 'put texts that hold ": " in quotes';
  return { ...mended, problems: [{ ...first, severity: 'warning', code: 'front-matter', message, hint }] };
}

/** Keys of agent files that are read, or whose loss is reported. */
const KNOWN: ReadonlySet<string> = new Set([...Object.keys(AGENT_FILE.keys), ...UNSUPPORTED_OF_AGENT_FILES.keys()]);

const KEY = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/;

/**
 * Repairs the head of an agent file that was written as if each key's value were the rest of its line: such values are quoted, with their
 * continuation lines. Other keys are left out. Line numbers do not change.
 * `withMendedHead('---\ndescription: Use it when: always\n---\n')` returns `'---\ndescription: "Use it when: always"\n---\n'`.
 */
function withMendedHead(text: string): string {
  const lines = text.split('\n');
  const end = lines.findIndex((line, i) => i > 0 && line.trimEnd() === '---');
  if (end < 0) return text;
  const head = lines.slice(1, end).map((line) => line.replace(/\r$/, ''));
  return [lines[0] ?? '', ...mendedLines(head), ...lines.slice(end)].join('\n');
}

function mendedLines(head: readonly string[]): readonly string[] {
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
