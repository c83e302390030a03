import { oneLine, printable } from '../view/printable.js';
import type { Style } from '../view/style.js';
import type { LogEntry, Stand } from '../../talking.js';
import { isPlainObject } from '../../base/json.js';
import type { ThreadTurn } from '../../index.js';

const BOUNDS: Readonly<Record<Stand['budget'][number]['limit'], string>> = {
  max_total_visits: 'visits',
  max_tool_calls: 'tool calls',
  max_wall_time_sec: 's',
};

/** Maximum characters of the name of a state or an event. */
const LONGEST = 60;

/** Describes the state of a conversation: `billing · events: Escalate, Resolved · visit 1 of 3 · budget: 4 of 40 visits`. */
export function standLine({ state, events, complete, visits, maxVisits, budget }: Stand, style: Style): string {
  const facts = [
    complete ? 'the conversation is over' : '',
    events.length === 0 ? '' : `events: ${events.map((event) => oneLine(event, LONGEST)).join(', ')}`,
    maxVisits === undefined ? '' : `visit ${visits} of ${maxVisits}`,
    budget.length === 0
      ? ''
      : `budget: ${budget.map(({ limit, current, max }) => `${current} of ${max} ${BOUNDS[limit]}`).join(', ')}`,
  ].filter((fact) => fact !== '');
  return [style.bold(oneLine(state, LONGEST)), ...facts.map((fact) => style.dim(fact))].join(style.dim(' · '));
}

/** Describes a transition: its source, target and event, and the reason for a redirect. */
export function transitionLine(entry: Extract<LogEntry, { readonly to: string }>, style: Style): string {
  const { from, to, event, redirect_reason } = entry;
  const why = redirect_reason === undefined ? '' : `; ${printable(redirect_reason)}`;
  return style.dim(`${oneLine(from, LONGEST)} -> ${oneLine(to, LONGEST)} (${oneLine(event, LONGEST)}${why})`);
}

/** Channels that a conversation with a pack keeps for its machine: `skein context` shows them. */
const OWN: ReadonlySet<string> = new Set(['conversation', 'aside', 'position', 'workflow_context']);

/** The inputs of a turn, by which one is known that has left nothing. */
const INPUTS = ['message', 'event', 'context', 'data', 'start', 'variables'] as const;

/** Returns a turn as people see it: with a pack, the text, the transitions and the variables set; else all values. */
export function toldTurn({
  inputs,
  results,
}: Pick<ThreadTurn, 'inputs' | 'results'>): Pick<ThreadTurn, 'inputs' | 'results'> {
  const isOfPack = isPlainObject(results['position']) || INPUTS.every((name) => Object.hasOwn(inputs, name));
  if (!isOfPack || !Array.isArray(results['log'] ?? [])) return { inputs, results };
  const given = Object.entries(inputs).filter(([, value]) => value !== null && !isEmpty(value));
  const { log = [], ...others } = results;
  const went = (log as readonly LogEntry[]).flatMap((entry) =>
    'to' in entry ? [`${entry.from} -> ${entry.to} (${entry.event})`] : [],
  );
  const kept = Object.entries(others)
    .map(([name, value]) => [name, name === 'artifacts' ? thoseSet(value) : value] as const)
    .filter(([name, value]) => !OWN.has(name) && value !== '' && !isEmpty(value));
  return {
    inputs: Object.fromEntries(given),
    results: { ...(went.length === 0 ? {} : { went: went.join(', ') }), ...Object.fromEntries(kept) },
  };
}

/** Artifacts that were never set hold the empty text. */
function thoseSet(artifacts: unknown): unknown {
  if (!isPlainObject(artifacts)) return artifacts;
  return Object.fromEntries(Object.entries(artifacts).filter(([, value]) => value !== ''));
}

function isEmpty(value: unknown): boolean {
  return isPlainObject(value) && Object.keys(value).length === 0;
}
