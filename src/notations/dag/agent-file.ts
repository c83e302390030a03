import { basename } from 'node:path';
import { hasErrors } from '../../base/problem.js';
import type { Findings } from '../../text/findings.js';
import { parseFrontMatter } from '../../text/front-matter.js';
import type { FrontMatter } from '../../text/front-matter.js';
import type { SourceMap } from '../../text/nodes.js';
import { readFields } from '../../text/shape.js';
import { AGENT_FILE, PERMISSION_MODES, UNSUPPORTED_OF_AGENT_FILES } from './agent-keys.js';
import type { AgentTraits } from './definition.js';
import { reportOne, reportUnsupported } from '../../text/unsupported.js';
import { withMendedHead } from './mended-head.js';
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

/** Returns the default name of the agent in a file. */
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
