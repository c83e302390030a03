import { dirname } from 'node:path';
import type { Plan } from '../../plan/plan.js';
import { noteReadFrom } from '../../plan/own-plan.js';
import type { Loading } from '../loading.js';
import { unusable } from '../loading.js';
import type { Workflow } from '../../plan/workflow.js';
import type { OpenedFile } from '../opened-file.js';
import { drawStates } from './draw-states.js';
import { keptParts } from './kept-parts.js';
import type { Pack } from './pack.js';
import { promptAgent } from './prompt-agent.js';
import { readWholePack } from './read-pack.js';

/** Loads a pack. Its functions are not there: whoever lets it talk brings them along. */
export async function load({ file, source }: OpenedFile, { packSchema }: Loading): Promise<Workflow> {
  const { pack, problems, sources } = await readWholePack(source.text, {
    file,
    folder: dirname(source.path),
    ...(packSchema && { schema: packSchema }),
  });
  const nothing = unusable(problems, [source, ...sources]);
  if (pack === undefined) return nothing;
  const plan = planOf(pack);
  noteReadFrom(plan, [source.path, ...sources.map(({ path }) => path)]);
  return { ...nothing, plan, drawing: drawStates(pack), kept: keptParts(pack) };
}

function planOf(pack: Pack): Plan {
  return {
    format: 1,
    name: pack.id,
    notation: 'machine',
    inputs: [],
    channels: ['variables', 'artifacts', 'workflow_context', 'said'].map((name) => ({ name, reducer: 'last' })),
    nodes: Object.keys(pack.prompts).map((name, at) => ({
      id: `p${at}`,
      kind: 'agent',
      label: name,
      agent: promptAgent(pack, name, { standIn: () => () => '' }),
      prompt: [],
      output: 'said',
    })),
    edges: [],
    routes: [],
  };
}
