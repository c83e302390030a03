import { canonicalJson } from '../base/hash.js';
import { toolKey } from './agent-spec.js';
import { decidingFields } from './fields.js';
import type { PlanNode } from './plan.js';

/** Steps of one level of a plan, and the digests of the functions that they have. */
interface Steps {
  readonly nodes: readonly PlanNode[];
  readonly code: Readonly<Record<string, string>>;
  /** What stands before their ids in the digests. */
  readonly prefix: string;
}

/**
 * Former ids of steps by their new ones: of what was added that one which does just what one that was removed did. Where several do the
 * same nobody can say which is which, and none is named.
 */
export function renamed(removed: Steps, added: Steps): ReadonlyMap<string, string> {
  const [before, after] = [byContent(removed), byContent(added)];
  const former = new Map<string, string>();
  for (const [content, ids] of after) {
    const [was, now] = [before.get(content) ?? [], ids];
    if (was.length === 1 && now.length === 1) former.set(now[0] ?? '', was[0] ?? '');
  }
  return former;
}

function byContent({ nodes, code, prefix }: Steps): ReadonlyMap<string, readonly string[]> {
  const ids = new Map<string, string[]>();
  for (const node of nodes) {
    const content = canonicalJson(contentOf(node, code, prefix));
    const same = ids.get(content);
    if (same === undefined) ids.set(content, [node.id]);
    else same.push(node.id);
  }
  return ids;
}

/** What a step does, without what it is called. */
function contentOf(node: PlanNode, code: Readonly<Record<string, string>>, prefix: string): object {
  const { agent, ...fields } = decidingFields(node);
  const tools = node.kind === 'agent' ? (node.agent.functions ?? []) : [];
  return {
    fields,
    version: 'version' in node ? (node.version ?? '') : '',
    // An agent that is written inside of its step is called like it.
    agent:
      agent === undefined || node.kind !== 'agent' || node.agent.name !== node.id
        ? (agent ?? '')
        : { ...node.agent, name: '' },
    code: [code[prefix + node.id] ?? '', ...tools.map(({ name }) => code[prefix + toolKey(node.id, name)] ?? '')],
    inside:
      'plan' in node ? node.plan.nodes.map((inner) => [inner.id, contentOf(inner, code, `${prefix}${node.id}/`)]) : [],
  };
}
