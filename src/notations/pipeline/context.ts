import { quoteShort } from '../../lang/value-text.js';
import type { OutputsBlock } from '../../lang/values.js';
import type { Findings } from '../../text/findings.js';
import type { SourceScalar } from '../../text/nodes.js';
import { around } from './blocks.js';
import type { Block, Placed } from './blocks.js';
import type { ContextDef } from './keys.js';
import { listed } from './flow.js';

/** Returns a function for the blocks of outputs that a step shows. Ids are looked up around the step; an unknown id is reported once. */
export function createContexts(
  ofFile: ContextDef | undefined,
  findings: Findings,
): (reader: Placed) => readonly OutputsBlock[] {
  const reported = new Set<SourceScalar>();
  return (reader) => {
    const context = contextOf(reader, ofFile) ?? 'all';
    if (context === 'all') return [{ outputs: 'prior' }];
    if (context === 'none') return [];
    const blocks = [...around(reader)].map(({ block }) => block);
    const only = context.flatMap((id) => {
      const found = blocks.map((block) => block.byId.get(id.text)).find((placed) => placed !== undefined);
      if (found === undefined && !reported.has(id)) report(id, reader, blocks, findings);
      if (found === undefined) reported.add(id);
      return (found?.outputs ?? []).map(({ channel }) => channel);
    });
    return [{ outputs: 'prior', only: [...new Set(only)] }];
  };
}

function contextOf(reader: Placed, ofFile: ContextDef | undefined): ContextDef | undefined {
  for (const { step } of around(reader))
    if ((step.type === 'agent' || step.type === 'sequence') && step.context !== undefined) return step.context;
  return ofFile;
}

function report(id: SourceScalar, reader: Placed, blocks: readonly Block[], findings: Findings): void {
  const ids = blocks.flatMap((block) => [...block.byId.keys()]);
  const hint = findings.near(id.text, ids) ?? `steps are: ${listed(ids)}`;
  const message = `context of ${reader.step.label} names the step ${quoteShort(id.text)}, which does not exist`;
  findings.error('unknown-step', message, id.at, hint);
}
