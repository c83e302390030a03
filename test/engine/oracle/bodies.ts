import type {
  CallNode,
  EndNode,
  LoopNode,
  MapNode,
  PlanNode,
  Require,
  SubInputs,
  Plan,
} from '../../../src/plan/plan.js';
import { allHold, rendered, valueAt, type State } from './conditions.js';
import { failureOf, type Ending, type Place, type PlanEnd, type SubRun, type World } from './world.js';

/** Stops a body; nothing is told of it afterwards. */
export type Cancel = () => void;

/** What a body is begun with. */
export interface BodyStart<N extends PlanNode = PlanNode> {
  readonly world: World;
  readonly node: N;
  readonly state: State;
  /** Where the plan instance of the node sits. */
  readonly place: Place;
}

type Done = (ending: Ending) => void;

/** Begins the body of a step; `done` is called once, later for leaf steps. */
export function beginBody(start: BodyStart, done: Done): Cancel {
  const node = start.node;
  switch (node.kind) {
    case 'task':
      return beginTask(start, done);
    case 'call':
      return beginCall({ ...start, node }, done);
    case 'pass':
      done({ ok: true, value: undefined });
      return () => undefined;
    case 'loop':
      return beginLoop({ ...start, node }, done);
    case 'map':
      return beginMap({ ...start, node }, done);
    case 'end':
      done(endingOf(node, start.state));
      return () => undefined;
    case 'agent':
    case 'ask':
    case 'wait':
    case 'set':
      throw new Error(`the oracle does not run nodes of the kind ${node.kind}`);
  }
}

function endingOf({ id, status, reason = [], out = 0 }: EndNode, state: State): PlanEnd {
  const text = rendered(reason, state).trim();
  const message = text === '' ? `the workflow ended at '${id}'` : text;
  return { ok: 'ended', failure: status === 'failed' ? { code: 'SKEIN_ENDED', message } : undefined, out, value: {} };
}

function beginTask({ world, node, state, place }: BodyStart, done: Done): Cancel {
  const body = world.bindings[`${place.prefix}${node.id}`] as (state: State) => unknown;
  let ending: Ending;
  try {
    ending = { ok: true, value: body(state) };
  } catch (error) {
    ending = { ok: false, failure: failureOf(error) };
  }
  const running = { path: `${place.path}${node.id}`, deliver: () => done(ending) };
  world.start(running);
  return () => world.stop(running);
}

function beginCall(start: BodyStart<CallNode>, done: Done): Cancel {
  const { world, node, state } = start;
  const inputs = subInputs(node.plan, node.inputs, state);
  const place = { ...inside(start, node.id, inputs), require: node.require };
  const sub = world.open(node.plan, place, (ending) => {
    done(ending.ok === false ? ending : { ...ending, value: outputsOf(node, ending.value as State) });
  });
  sub.begin();
  return () => sub.cancel();
}

function beginLoop(start: BodyStart<LoopNode>, done: Done): Cancel {
  const { world, node, state, place } = start;
  let current: SubRun | undefined;
  const round = (number: number, carried: State): void => {
    const inputs = { ...subInputs(node.plan, node.inputs, state), ...carried };
    current = world.open(node.plan, inside(start, `${node.id}#${number}`, inputs), (ending) => {
      if (ending.ok !== true) {
        done(ending.ok === false ? ending : { ...ending, value: outputsOf(node, ending.value as State) });
        return;
      }
      const final = ending.value as State;
      const until = world.bindings[`${place.prefix}until:${node.id}`] as (state: State, round: number) => unknown;
      if (allHold(node.until, final, () => until(final, number))) done({ ok: true, value: outputsOf(node, final) });
      else if (number < node.maxRounds) round(number + 1, picked(final, node.carry ?? []));
      else if (node.onMaxRounds === 'continue') done({ ok: true, value: outputsOf(node, final) });
      else done({ ok: false, failure: { code: 'SKEIN_MAX_ROUNDS', message: node.id } });
    });
    current.begin();
  };
  round(1, {});
  return () => current?.cancel();
}

function beginMap(start: BodyStart<MapNode>, done: Done): Cancel {
  const { world, node, state } = start;
  const items = valueAt(node.over, state);
  if (!Array.isArray(items)) {
    done({ ok: false, failure: { code: 'SKEIN_STEP_FAILED', message: `${node.id}: not a list` } });
    return () => undefined;
  }
  if (items.length > node.maxItems) {
    done({ ok: false, failure: { code: 'SKEIN_MAX_ITEMS', message: node.id } });
    return () => undefined;
  }
  const results: unknown[] = items.map(() => null);
  const open = new Set<SubRun>();
  const failures = new Map<number, string>();
  let left = items.length;
  let over = false;
  const allow = (item: string): void => world.allow(start.place, (path) => path.startsWith(item));
  const allows = node.require !== undefined || node.onItemError === 'continue';
  const finish = (): void => {
    const succeeded = items.length - failures.size;
    if (node.require !== undefined && !isEnough(node.require, succeeded, failures.size)) {
      done({ ok: false, failure: { code: 'SKEIN_REQUIRE', message: node.id } });
      return;
    }
    if (node.require !== undefined) for (const item of failures.values()) allow(item);
    done({ ok: true, value: results.filter((_, at) => node.onItemError === 'continue' || !failures.has(at)) });
  };
  const subs = items.map((item: unknown, index) => {
    const inputs = { ...subInputs(node.plan, node.inputs ?? {}, state), [node.item]: item };
    const name =
      node.key === undefined ? String(index) : String(valueAt({ channel: 'item', path: node.key }, { item }));
    const place = inside(start, `${node.id}[${name}]`, inputs);
    const sub: SubRun = world.open(node.plan, place, (ending) => {
      open.delete(sub);
      left -= 1;
      if (over) return;
      if (ending.ok === true) results[index] = (ending.value as State)[node.result] ?? null;
      else if (ending.ok === false && allows) {
        failures.set(index, place.path);
        if (node.require === undefined) allow(place.path);
      } else {
        over = true;
        for (const other of open) other.cancel();
        done(ending.ok === false ? ending : { ...ending, value: {} });
        return;
      }
      if (left === 0) finish();
    });
    return sub;
  });
  for (const sub of subs) open.add(sub);
  for (const sub of subs) if (!over) sub.begin();
  if (items.length === 0) finish();
  return () => {
    for (const sub of open) sub.cancel();
  };
}

function inside({ node, place }: BodyStart, name: string, inputs: Record<string, unknown>): Place {
  const { path, prefix, degrade } = place;
  return { inputs, path: `${path}${name}/`, prefix: `${prefix}${node.id}/`, degrade };
}

/** Inputs of a sub-plan: as declared, or the same-named channels for each of its inputs. */
function subInputs(plan: Plan, inputs: SubInputs | undefined, state: State): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const input of plan.inputs) if (input.default !== undefined) result[input.channel] = input.default;
  const named = plan.inputs.map((input) => [input.channel, { channel: input.channel }] as const);
  for (const [channel, source] of inputs === undefined ? named : Object.entries(inputs)) {
    const value = given(source, state);
    if (value !== undefined) result[channel] = value;
  }
  return result;
}

function given(source: SubInputs[string], state: State): unknown {
  if ('template' in source) return rendered(source.template, state);
  if ('channel' in source) return valueAt(source, state);
  if ('expression' in source) throw new Error('the oracle knows no expressions');
  if ('list' in source) return source.list.map((item) => given(item, state) ?? null);
  if ('value' in source) return source.value;
  const fields = Object.entries(source.object).map(([key, field]) => [key, given(field, state)]);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as State;
}

/** Of a group, as many succeeded as must. */
export function isEnough(require: Require, succeeded: number, failed: number): boolean {
  return require === 'all' ? failed === 0 : succeeded >= require;
}

function outputsOf(node: CallNode | LoopNode, final: State): State {
  const outputs = node.outputs ?? Object.fromEntries((node.writes ?? []).map((name) => [name, name]));
  const update: State = {};
  for (const [outer, inner] of Object.entries(outputs)) if (final[inner] !== undefined) update[outer] = final[inner];
  return update;
}

function picked(state: State, names: readonly string[]): State {
  return Object.fromEntries(names.filter((name) => state[name] !== undefined).map((name) => [name, state[name]]));
}
