import { basename } from 'node:path';
import type { Findings } from '../source/findings.js';
import { parseFrontMatter } from '../source/front-matter.js';
import { readFields } from '../source/shape.js';
import type { AgentTraits } from './definition.js';
import { readTraits } from './read-agent.js';

/** An agent file. The body is the system prompt as it stands: braces in it belong to other systems and mean nothing here. */
export interface AgentFile extends AgentTraits {
  readonly name: string;
  readonly body: string;
}

/**
 * Reads the text of an agent file (`.agent.md`, `.md`). Keys that mean something only to other systems (`handoffs`, `target` ...)
 * are left alone; `hooks` are never run. Undefined when it is no agent file. Problem codes: `front-matter`, `no-front-matter` and
 * those of the YAML and shape readers.
 *
 * @example
 * const agent = readAgentFile(text, '.github/agents/critic.agent.md', findings);
 */
export function readAgentFile(text: string, file: string, findings: Findings): AgentFile | undefined {
  const head = parseFrontMatter(text, file);
  findings.add(head.problems);
  const start = { file, line: 1, column: 1 };
  if (!head.found) {
    const hint = 'an agent file begins with a line ---, then name and description, then a line ---';
    findings.error('no-front-matter', 'this is no agent file: it has no front matter', start, hint);
    return undefined;
  }
  const stem = basename(file).replace(/(\.agent)?\.md$/, '');
  if (head.data === undefined) {
    const none = { description: undefined, models: [], tools: undefined, approve: undefined, mcpServers: undefined };
    return head.problems.length > 0 ? undefined : { name: stem, body: head.body, ...none };
  }
  const fields = readFields(head.data, { name: 'the front matter' }, findings);
  if (fields === undefined) return undefined;
  if (fields.has('hooks')) {
    findings.warning('no-effect', 'hooks of agent files are never run', fields.placeOf('hooks'), 'remove the key');
  }
  const name = fields.text('name')?.trim() ?? '';
  return { name: name === '' ? stem : name, body: head.body, ...readTraits(fields, 'the agent', findings) };
}
