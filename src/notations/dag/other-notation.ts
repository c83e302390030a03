import { suggest } from '../../base/suggest.js';
import type { Findings } from '../../text/findings.js';
import { entryOf } from '../../text/nodes.js';
import type { SourceNode } from '../../text/nodes.js';

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
  ['rules', 'a script', 'a script answers in place of a model: skein run WORKFLOW --mock=SCRIPT'],
];

/** Reports (`not-a-dag`) a file without `steps` that looks like something else. Other findings about it would be noise. */
export function reportOtherNotation(root: SourceNode, findings: Findings): boolean {
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
