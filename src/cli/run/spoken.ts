import type { SkeinEvent } from '../../events/event.js';
import type { Plan } from '../../plan/plan.js';
import type { PlacedNode } from '../view/node-path.js';
import { nodePathOf, nodesByPath } from '../view/node-path.js';

/**
 * What agents say, for `skein exec`: the text of each step when it has ended, so that agents that speak at the same time never mix. Each text
 * has a line above it that names the agent and the step, unless there is only one that could speak.
 *
 * @example
 * const spoken = spokenBy(plan);
 * spoken(event); // '--- Agent: translator (trans#2) ---\n\nGuten Tag\n'
 */
export function spokenBy(plan: Plan): (event: SkeinEvent) => string | undefined {
  const nodes = nodesByPath(plan);
  const speakers = [...nodes.values()].filter(({ node }) => node.kind === 'agent');
  let first = true;
  return (event) => {
    const placed = nodes.get(nodePathOf(event.path));
    const text = textOf(event, placed);
    if (text === undefined || placed === undefined) return undefined;
    const gap = first ? '' : '\n';
    first = false;
    const ended = text.endsWith('\n') ? text : `${text}\n`;
    return speakers.length > 1 ? `${gap}${headOf(event.path, placed)}\n\n${ended}` : gap + ended;
  };
}

function headOf(path: string, { node }: PlacedNode): string {
  const agent = node.kind === 'agent' ? node.agent.name : node.id;
  return `--- Agent: ${agent}${agent === path ? '' : ` (${path})`} ---`;
}

/** What an agent gave; undefined for anything else, and for nothing. */
function textOf(event: SkeinEvent, placed: PlacedNode | undefined): string | undefined {
  if (event.type !== 'step.ended' || event.outcome !== 'succeeded' || placed?.node.kind !== 'agent') return undefined;
  const { output } = placed.node;
  const { update = {} } = event;
  const value = output === undefined ? update : Object.hasOwn(update, output) ? update[output] : undefined;
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value, null, 2);
  return text.trim() === '' ? undefined : text;
}
