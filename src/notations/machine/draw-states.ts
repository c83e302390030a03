import type { Drawing, DrawnEdge, DrawnItem } from '../../plan/drawing.js';
import { countText } from '../../base/text.js';
import type { State } from '../../machine/pure/spec.js';
import { budgetText } from '../../plan/budget.js';
import { heardIn } from '../../plan/heard.js';
import type { Plan } from '../../plan/plan.js';
import { securityText } from '../../plan/security.js';
import { supervisedText } from '../../plan/supervision.js';
import type { Pack } from './pack.js';
import { stateNodes } from './plan/standing.js';
import { stateSettings } from './settings.js';
import { stateSupervision } from './supervising.js';

/** Draws a pack: its states with their events, or its prompts. With its plan, what untrusted texts may influence is marked. */
export function drawStates(pack: Pack, plan?: Plan): Drawing {
  const { id, prompts, workflow } = pack;
  const heard = plan === undefined ? undefined : heardIn(plan);
  const marked = (path: string): Marked => (heard?.get(path)?.gives.level === 'untrusted' ? { untrusted: true } : {});
  if (workflow === undefined) {
    const items = Object.keys(prompts).map((name, at) => ({
      ...boxOf(`p${at}`, 'agent', [name]),
      ...marked(`prompt${at}`),
    }));
    return { name: id, items, edges: [] };
  }
  const states = Object.entries(workflow.states);
  const nodes = stateNodes(workflow).speaks;
  const keys = new Map(states.map(([name], at) => [name, `s${at}`]));
  const items = states.map(([name, state]) => {
    const kind = state.composition === undefined ? 'agent' : 'call';
    const { supervise } = stateSupervision(pack, name, kind);
    const { budget, security } = stateSettings(pack, name);
    const lines = [
      ...linesOf(name, state),
      ...(supervise === undefined ? [] : [supervisedText(supervise)]),
      ...(budget === undefined ? [] : [`budget ${budgetText(budget)}`]),
      ...(security === undefined ? [] : [`security ${securityText(security)}`]),
    ];
    const box = boxOf(keys.get(name) ?? '', kind, lines);
    return { ...box, entry: name === workflow.entry, exit: isEnd(state), ...marked(nodes.get(name) ?? '') };
  });
  const edges = states.flatMap(([name, state]) =>
    edgesOf(keys.get(name) ?? '', state, keys).map((edge) => ({ ...edge, ...marked(nodes.get(name) ?? '') })),
  );
  return { name: id, items, edges };
}

interface Marked {
  readonly untrusted?: true;
}

function boxOf(key: string, shape: DrawnItem['shape'], lines: readonly string[]): DrawnItem {
  return { key, shape, lines, entry: false, exit: false, inner: undefined };
}

function isEnd({ terminal, on_event = {} }: State): boolean {
  return terminal === true || Object.keys(on_event).length === 0;
}

function linesOf(name: string, state: State): readonly string[] {
  const { prompt_task, composition, orchestration = 'internal', persistence, max_visits = 0 } = state;
  const speaker = composition === undefined ? prompt_task : `composition ${composition}`;
  const marks = [
    ...(isEnd(state) ? ['terminal'] : []),
    ...(orchestration === 'external' || orchestration === 'hybrid' ? [orchestration] : []),
    ...(persistence === 'transient' ? [persistence] : []),
    ...(max_visits > 0 ? [`at most ${countText(max_visits, 'visit')}`] : []),
  ];
  return [
    name,
    ...(speaker === undefined || speaker === name ? [] : [speaker]),
    ...(marks.length === 0 ? [] : [`(${marks.join(', ')})`]),
  ];
}

/** Draws the transitions of a state. Events that lead to the same state share an arrow. */
function edgesOf(from: string, state: State, keys: ReadonlyMap<string, string>): readonly DrawnEdge[] {
  const events = new Map<string, string[]>();
  // A terminal state accepts no events, even if it lists some.
  for (const [event, target] of state.terminal === true ? [] : Object.entries(state.on_event ?? {}))
    events.set(target, [...(events.get(target) ?? []), event]);
  const ways = [...events].map(([target, names]) => ({ target, label: names.join(', '), dashed: false }));
  const { on_max_visits: redirect = '', max_visits = 0 } = state;
  if (redirect !== '') ways.push({ target: redirect, label: `after ${max_visits} visits`, dashed: true });
  return ways.flatMap(({ target, ...way }) => {
    const to = keys.get(target);
    return to === undefined ? [] : [{ from, to, ...way }];
  });
}
