import type { Findings } from '../../text/findings.js';
import type { SourceEntry, SourceNode } from '../../text/nodes.js';
import { readFields } from '../../text/shape.js';
import type { Fields } from '../../text/shape.js';
import { quoteShort } from '../../lang/value-text.js';
import { readBudgetKey } from '../budget-key.js';
import { readSecurityKey } from '../security-key.js';
import { readDeclarations } from '../declarations-key.js';
import { readInputs } from '../inputs-key.js';
import { readSupervise } from '../supervise-key.js';
import type { AgentDef, Definition } from './definition.js';
import { AGENT, INLINE, WORKFLOW } from './keys.js';
import { reportOtherNotation } from './other-notation.js';
import { readServers, readTraits } from './read-agent.js';
import { readConfig, readOutput } from './read-config.js';
import { readSteps } from './read-steps.js';

const LONGEST_NAME = WORKFLOW.keys.name.longest ?? Infinity;

/**
 * Reads a whole workflow file. Returns undefined if the file is not a DAG workflow.
 * Problem codes: `not-a-dag`, `missing-name`, `bad-name`, `bad-agent`, and those of the sections.
 */
export function readWorkflow(node: SourceNode, findings: Findings): Definition | undefined {
  if (reportOtherNotation(node, findings)) return undefined;
  const root = readFields(node, { name: '', form: WORKFLOW }, findings);
  if (root === undefined) return undefined;
  const inputs = readInputs(root);
  return {
    name: readName(root),
    description: root.text('description'),
    inputs,
    config: readConfig(root),
    supervise: readSupervise(root),
    budget: readBudgetKey(root, 'file'),
    security: readSecurityKey(root),
    declared: readDeclarations(
      root,
      inputs.map(({ name }) => name),
    ),
    agents: readAgents(root),
    mcpServers: readServers(root, 'the workflow') ?? {},
    skills: root.texts('skills') ?? [],
    steps: readSteps(root),
    output: readOutput(root),
  };
}

function readName(root: Fields): string {
  const name = root.text('name')?.trim() ?? '';
  const node = root.node('name');
  if (name === '' && (node === undefined || node.kind === 'scalar')) {
    root.error('missing-name', 'name', 'the workflow has no name', 'add "name: NAME" as the first line');
  } else if (name.length > LONGEST_NAME || /\p{Cc}/u.test(name)) {
    const hint = `use one line of at most ${LONGEST_NAME} characters`;
    root.error('bad-name', 'name', 'the name of the workflow is too long or has control characters', hint);
  }
  return name;
}

function readAgents(root: Fields): readonly AgentDef[] | undefined {
  const { findings } = root;
  const entries = root.entries('agents');
  // An unreadable section differs from an absent one: agents must not be searched for elsewhere then.
  if (entries === undefined) return root.has('agents') ? [] : undefined;
  if (entries.length === 0) return undefined;
  return entries.map((entry, index) => {
    const next = entries[index + 1];
    if (isEmpty(entry.value) && next !== undefined && AGENT_KEYS.includes(next.key)) {
      const message = `agent ${quoteShort(entry.key)} is empty, and ${quoteShort(next.key)} is on the same level`;
      findings.error('bad-agent', message, next.at, `indent ${next.key} deeper than ${entry.key}`);
      return unread(entry);
    }
    const before = entries[index - 1];
    if (before !== undefined && isEmpty(before.value) && AGENT_KEYS.includes(entry.key)) return unread(entry);
    return readAgent(entry, findings);
  });
}

const AGENT_KEYS: readonly string[] = Object.keys(AGENT.keys);

function isEmpty(node: SourceNode): boolean {
  return node.kind === 'scalar' && node.value === null;
}

/** Returns an empty entry for an agent whose mistake was reported. */
function unread({ key: name, at }: SourceEntry): AgentDef {
  return { name, at, file: undefined, inline: undefined };
}

function readAgent(entry: SourceEntry, findings: Findings): AgentDef {
  const { key: name, at } = entry;
  const label = `agent ${quoteShort(name)}`;
  const fields = readFields(entry.value, { name: label, form: AGENT }, findings);
  const inline = fields?.fields('inline', INLINE);
  const file = fields?.given('file');
  if (fields !== undefined && !fields.has('file') && !fields.has('inline')) {
    const hint = 'add "file: PATH", or "inline:" with a prompt';
    findings.error('bad-agent', `${label} has neither file nor inline`, fields.at, hint);
  }
  if (file !== undefined && inline !== undefined) {
    const message = `inline of ${label} has no effect when file is set`;
    findings.warning('no-effect', message, inline.at, 'remove one of the two');
  }
  return {
    name,
    at,
    file,
    inline: inline === undefined ? undefined : { ...readTraits(inline, label), prompt: inline.scalar('prompt') },
  };
}
