import { nodePathOf } from '../../base/address.js';
import { Attempts } from '../../base/attempts.js';
import { beginsAgain, type SkeinEvent } from '../../events/event.js';
import type { Plan } from '../../plan/plan.js';
import { nodesByPath, type PlacedNode } from '../view/progress.js';

interface Speech {
  /** Names the agent and the step. */
  readonly head: string;
  /** Ends with a line break. */
  readonly text: string;
}

/**
 * The texts of agents, for `skein exec`. The text of each step appears when the step has ended, so that parallel agents never mix. Each
 * text has a line above it that names the agent and the step, unless only one can speak. Text inside a block that may be retried or is
 * supervised waits for the end of the block: only the attempt that counts is reported. Events have the paths of {@link asSeen}.
 *
 * @example
 * const spoken = spokenBy(plan);
 * spoken(event); // '--- Agent: translator (trans#2) ---\n\nGuten Tag\n'
 */
export function spokenBy(plan: Plan): (event: SkeinEvent) => string | undefined {
  const nodes = nodesByPath(plan);
  const speakers = [...nodes.values()].filter(({ node }) => node.kind === 'agent');
  const attempts = new Attempts<Speech>();
  let first = true;
  return (event) => {
    const placed = nodes.get(nodePathOf(event.path));
    const speeches = told(attempts, event, placed, speechOf(event, placed));
    if (speeches.length === 0) return undefined;
    const gap = first ? '' : '\n';
    first = false;
    return gap + speeches.map(({ head, text }) => (speakers.length > 1 ? `${head}\n\n${text}` : text)).join('\n');
  };
}

/** Returns what can be reported at this event. */
function told(
  attempts: Attempts<Speech>,
  event: SkeinEvent,
  placed: PlacedNode | undefined,
  speech: Speech | undefined,
): readonly Speech[] {
  const { type, path, parent } = event;
  if (placed !== undefined && 'plan' in placed.node) {
    const { retry, supervise } = placed.node;
    if (type === 'step.started') attempts.open(path, parent, retry !== undefined || supervise !== undefined);
    const isRefused = type === 'step.ended' && event.outcome !== 'succeeded' && supervise !== undefined;
    if (beginsAgain(event) || isRefused) attempts.again(path);
    if (type === 'step.ended') return attempts.close(path, parent);
  }
  return speech === undefined ? [] : attempts.keep(parent, [speech]);
}

/** The output of an agent. Undefined for any other step, and for an empty output. */
function speechOf(event: SkeinEvent, placed: PlacedNode | undefined): Speech | undefined {
  if (event.type !== 'step.ended' || event.outcome !== 'succeeded' || placed?.node.kind !== 'agent') return undefined;
  const { output, agent } = placed.node;
  const { update = {}, path } = event;
  const value = output === undefined ? update : Object.hasOwn(update, output) ? update[output] : undefined;
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value, null, 2);
  if (text.trim() === '') return undefined;
  const head = `--- Agent: ${agent.name}${agent.name === path ? '' : ` (${path})`} ---`;
  return { head, text: text.endsWith('\n') ? text : `${text}\n` };
}
