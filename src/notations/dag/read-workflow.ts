import { suggest } from '../../base/suggest.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Findings } from '../../text/findings.js';
import { entryOf, isNothing, type SourceEntry, type SourceNode } from '../../text/nodes.js';
import { readFields, type Fields } from '../../text/shape.js';
import { readBudgetKey } from '../budget-key.js';
import { readDeclarations } from '../declarations-key.js';
import { readInputs } from '../inputs-key.js';
import { readSecurityKey } from '../security-key.js';
import { readSupervise } from '../supervise-key.js';
import type { AgentDef, Definition } from './definition.js';
import { AGENT, INLINE, WORKFLOW } from './keys.js';
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
    if (isNothing(entry.value) && next !== undefined && AGENT_KEYS.includes(next.key)) {
      const message = `agent ${quoteShort(entry.key)} is empty, and ${quoteShort(next.key)} is on the same level`;
      findings.error('bad-agent', message, next.at, `indent ${next.key} deeper than ${entry.key}`);
      return unread(entry);
    }
    const before = entries[index - 1];
    if (before !== undefined && isNothing(before.value) && AGENT_KEYS.includes(entry.key)) return unread(entry);
    return readAgent(entry, findings);
  });
}

const AGENT_KEYS: readonly string[] = Object.keys(AGENT.keys);

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

/** Top-level keys of other kinds of files, most significant first. */
const MARKS: readonly (readonly [key: string, kind: string, hint?: string])[] = [
  ['prompts', 'a PromptPack'],
  ['states', 'a state machine'],
  ['workflow', 'a pipeline workflow'],
  ['nodes', 'a graph'],
  ['edges', 'a graph'],
  ['jobs', 'a CI workflow'],
  ['on', 'a CI workflow'],
  ['models', 'a team of agents'],
  ['agents', 'a team of agents'],
  ['$schema', 'some other file'],
  ['openapi', 'an API description'],
  ['services', 'a service description'],
  ['rules', 'a script', 'a script answers instead of a model: skein run WORKFLOW --mock=SCRIPT'],
];

/** Reports (`not-a-dag`) a file without `steps` that looks like something else. Other findings about it would be noise. */
function reportOtherNotation(root: SourceNode, findings: Findings): boolean {
  const hint = 'a DAG workflow has the keys name and steps';
  if (root.kind !== 'map') {
    const what = root.kind === 'list' ? 'a list' : 'a plain text';
    findings.error('not-a-dag', `this is not a DAG workflow: the file is ${what}`, root.at, hint);
    return true;
  }
  const keys = root.entries.map((entry) => entry.key);
  if (keys.some((key) => suggest(key, ['steps']) !== undefined) || keys.includes('steps')) return false;
  const found = MARKS.find(([key]) => {
    // A DAG workflow whose steps are missing has agents, too.
    if (key === 'agents' && (entryOf(root, 'name') !== undefined || entryOf(root, 'config') !== undefined))
      return false;
    return entryOf(root, key) !== undefined;
  });
  if (found === undefined) return false;
  const [key, kind, use = hint] = found;
  if (key === 'workflow' && entryOf(root, 'name') !== undefined) {
    const at = entryOf(root, key)?.at ?? root.at;
    findings.error('unknown-key', 'the steps of this workflow are under "workflow"', at, 'did you mean "steps"?');
    return true;
  }
  const message = `this is not a DAG workflow: without steps and with ${key} it looks like ${kind}`;
  findings.error('not-a-dag', message, entryOf(root, key)?.at ?? root.at, use);
  return true;
}
