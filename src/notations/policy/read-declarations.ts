import type { Json } from '../../base/json.js';
import { present } from '../../base/json.js';
import type { Declarations, DeclaredSend } from '../../plan/declarations.js';
import type { Findings } from '../../text/findings.js';
import type { SourceEntry, SourceNode } from '../../text/nodes.js';
import { describe, entryOf, toJson } from '../../text/nodes.js';
import { readTexts } from './values.js';

/** What reads each declaration. Problem codes: `wrong-type`, `unknown-key`. */
export const readDeclarations: {
  readonly [K in keyof Required<Declarations>]: (entry: SourceEntry, findings: Findings) => Pick<Declarations, K>;
} = {
  hosts: (entry, findings) => present({ hosts: readTexts(entry, findings) }),
  commands: (entry, findings) => ({ commands: itemsOf(entry, findings).flatMap((item) => command(item, findings)) }),
  sends: (entry, findings) => ({ sends: itemsOf(entry, findings).flatMap((item) => send(item, findings)) }),
};

function itemsOf({ key, value }: SourceEntry, findings: Findings): readonly SourceNode[] {
  if (value.kind === 'list') return value.items;
  findings.error('wrong-type', `${key} must be a list, not ${describe(value)}`, value.at, 'write a list');
  return [];
}

function command(item: SourceNode, findings: Findings): readonly (readonly string[])[] {
  const words = item.kind === 'list' ? readTexts({ key: 'a command', value: item, at: item.at }, findings) : undefined;
  if (words !== undefined) return [words];
  if (item.kind !== 'list' || item.items.length === 0)
    findings.error('wrong-type', 'a command must be a list of its words', item.at, 'write [npm, test]');
  return [];
}

function send(item: SourceNode, findings: Findings): readonly DeclaredSend[] {
  const tool = entryOf(item, 'tool')?.value;
  if (item.kind !== 'map' || tool?.kind !== 'scalar' || typeof tool.value !== 'string') {
    const hint = 'write { tool: github/create_comment, fixed: { repo: acme/web }, free: [body] }';
    findings.error('wrong-type', 'a send names its tool', item.at, hint);
    return [];
  }
  for (const { key, at } of item.entries)
    if (!['tool', 'fixed', 'free'].includes(key))
      findings.error('unknown-key', `unknown key "${key}" of a send`, at, 'known keys: tool, fixed, free');
  const fixed = entryOf(item, 'fixed');
  const free = entryOf(item, 'free');
  if (fixed !== undefined && fixed.value.kind !== 'map')
    findings.error('wrong-type', 'fixed must be a map of arguments', fixed.value.at, 'write fixed: { repo: acme/web }');
  return [
    {
      tool: tool.value.trim(),
      ...present({
        fixed: fixed?.value.kind === 'map' ? (toJson(fixed.value) as Readonly<Record<string, Json>>) : undefined,
        free: free === undefined ? undefined : readTexts(free, findings),
      }),
    },
  ];
}
