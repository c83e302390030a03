import { addTo, madeOnce } from '../base/collections.js';
import type { AgentSpec } from './agent-spec.js';
import { BUILT_IN, takes } from './built-in-tools.js';
import { routeTargets } from './graph-shape.js';
import type { Plan, PlanNode, Route } from './plan.js';
import { readsOutputs, referencesOf, routeReferences, writesUnknown, writtenChannels } from './references.js';
import { selectTools } from './tool-names.js';

/** Who may influence something, as far as known before a run: only the user, files of the project, or untrusted texts. */
export interface Heard {
  readonly level: 'trusted' | 'vetted' | 'untrusted';
  readonly isPrivate: boolean;
}

export interface HeardAt {
  /** Influence on its start: that it runs, and what it reads. */
  readonly before: Heard;
  readonly does: Heard;
  readonly gives: Heard;
}

/** Levels as numbers, with a bit for private data: combining two values joins them. */
const [CLEAN, PROJECT, OTHERS, PRIVATE] = [0, 1, 2, 4];
const LEVELS = ['trusted', 'vetted', 'untrusted'] as const;

function join(a: number, b: number): number {
  return Math.max(a & 3, b & 3) | ((a | b) & PRIVATE);
}

function heardOf(one: number): Heard {
  return { level: LEVELS[one & 3] ?? 'untrusted', isPrivate: (one & PRIVATE) !== 0 };
}

/** Returns who may influence each step, by path, as far as the plan's text shows: an overestimate. Inputs count as the user's. */
export function heardIn(plan: Plan): ReadonlyMap<string, HeardAt> {
  const walk = new Walk();
  do walk.again(plan);
  while (walk.changed);
  return new Map(
    [...walk.found].map(([path, { before, does, gives }]) => [
      path,
      { before: heardOf(before), does: heardOf(does), gives: heardOf(gives) },
    ]),
  );
}

/** The fields of an agent or a tool step that determine what it may read. */
type Tools = Pick<AgentSpec, 'tools' | 'mcpServers' | 'functions' | 'memory' | 'extraDirs' | 'interactive'>;

/** Known influences of one plan: all of it only grows. */
interface ScopeHeard {
  readonly channels: Map<string, number>;
  /** Influences on whether a node runs, by id. */
  readonly decided: Map<string, number>;
  /** The whole state that a node sees, by id: the initial state, and the writes of earlier nodes. */
  readonly seen: Map<string, number>;
  /** The successors of its nodes, by id. */
  readonly next: ReadonlyMap<string, readonly string[]>;
  /** Influences on writes to unnamed channels. */
  anywhere: number;
  /** Influences on everything in the plan. */
  whole: number;
}

class Walk {
  readonly found = new Map<string, Record<keyof HeardAt, number>>();
  changed = false;
  private readonly scopes = new Map<string, ScopeHeard>();
  private memory = CLEAN;

  again(plan: Plan): void {
    this.changed = false;
    this.scope(plan, '', CLEAN);
  }

  // Workflows are nested 50 deep at most (see checkPlan), so recursion is safe here.
  private scope(plan: Plan, prefix: string, control: number): ScopeHeard {
    const scope = this.scopeAt(prefix, plan);
    const first = plan.inputs.reduce((all, { channel }) => join(all, levelOf(scope, channel)), CLEAN);
    for (const node of plan.nodes) {
      this.grow(scope.seen, node.id, first);
      // The last node reads how the others ended.
      if (node.id === plan.finally) this.grow(scope.decided, node.id, scope.whole);
      const { does, gives } = this.node(node, prefix, { scope, control });
      // A schema endorses the result, but not additional writes.
      const written = node.endorse === 'person' || writtenChannels(node).length < 2 ? gives : does;
      const after = join(scope.seen.get(node.id) ?? CLEAN, written);
      for (const to of scope.next.get(node.id) ?? []) this.grow(scope.seen, to, after);
      for (const route of plan.routes) if (route.from === node.id) this.route(route, plan, { scope, gives });
      if (typeof node.onError === 'object') this.grow(scope.decided, node.onError.to, gives);
    }
    return scope;
  }

  private node(
    node: PlanNode,
    prefix: string,
    { scope, control }: { readonly scope: ScopeHeard; readonly control: number },
  ): { readonly does: number; readonly gives: number } {
    const path = prefix + node.id;
    const before = join(join(control, scope.decided.get(node.id) ?? CLEAN), readBy(node, scope));
    const inner = 'plan' in node ? this.inner(node, path, { scope, before }) : CLEAN;
    const own = this.ofNode(node);
    const does = join(join(before, own), inner);
    const gives = node.endorse === undefined ? does : Math.min(does & 3, PROJECT) | (does & PRIVATE);
    if (node.kind === 'agent' && node.agent.memory !== undefined) this.memory = this.more(this.memory, does);
    for (const name of writtenChannels(node))
      this.grow(scope.channels, name, node.endorse === 'person' || name === node.output ? gives : does);
    if (writesUnknown(node)) scope.anywhere = this.more(scope.anywhere, gives);
    scope.whole = this.more(scope.whole, does);
    const known = { before, does, gives };
    this.found.set(path, known);
    return known;
  }

  private inner(
    node: PlanNode & { readonly plan: Plan },
    path: string,
    { scope, before }: { readonly scope: ScopeHeard; readonly before: number },
  ): number {
    const inside = this.scopeAt(`${path}/`, node.plan);
    const inputs = 'inputs' in node ? (node.inputs ?? {}) : {};
    for (const { channel } of node.plan.inputs) {
      const given = Object.hasOwn(inputs, channel) ? before : levelOf(scope, channel);
      this.grow(inside.channels, channel, given);
    }
    if (node.kind === 'map') this.grow(inside.channels, node.item, levelOf(scope, node.over.channel));
    return this.scope(node.plan, `${path}/`, before).whole;
  }

  private route(
    route: Route,
    plan: Plan,
    { scope, gives }: { readonly scope: ScopeHeard; readonly gives: number },
  ): void {
    const read =
      route.cases === undefined
        ? join(scope.seen.get(route.from) ?? CLEAN, gives)
        : levelsOf(scope, routeReferences(route));
    const said = route.choose === 'result' ? gives : read;
    for (const to of targetsOf(route, plan))
      this.grow(scope.decided, to, join(said, scope.decided.get(route.from) ?? CLEAN));
  }

  private ofNode(node: PlanNode): number {
    if (node.kind === 'agent') return this.ofAgent(node.agent);
    if (node.kind === 'wait' && node.event !== undefined) return OTHERS;
    if (node.kind !== 'task') return CLEAN;
    const { tool, callsTool, trustsTool } = node;
    if (callsTool !== undefined && trustsTool !== true) return OTHERS | PRIVATE;
    return tool === undefined ? CLEAN : this.ofAgent({ ...tool, tools: [tool.name] });
  }

  private ofAgent({ tools, mcpServers = {}, functions = [], memory, extraDirs = [], interactive }: Tools): number {
    const { builtIn, servers } = selectTools(tools, Object.keys(mcpServers));
    let all = memory === undefined ? CLEAN : this.memory | PRIVATE;
    if (interactive === true) all |= PRIVATE;
    for (const tool of builtIn.values()) {
      if (takes(tool, 'command')) all = join(all, OTHERS | PRIVATE);
      else if (takes(tool, 'address')) all = join(all, OTHERS);
      else if (BUILT_IN[tool].effect === 'read') all = join(all, PROJECT | PRIVATE);
    }
    if (servers.size > 0 || functions.some(({ trust }) => trust !== 'trusted')) all = join(all, OTHERS | PRIVATE);
    return extraDirs.length > 0 ? join(all, OTHERS | PRIVATE) : all;
  }

  private scopeAt(prefix: string, plan: Plan): ScopeHeard {
    return madeOnce(this.scopes, prefix, () => ({
      channels: new Map(),
      decided: new Map(),
      seen: new Map(),
      anywhere: CLEAN,
      whole: CLEAN,
      next: nextOf(plan),
    }));
  }

  private grow(map: Map<string, number>, key: string, by: number): void {
    map.set(key, this.more(map.get(key) ?? CLEAN, by));
  }

  private more(before: number, by: number): number {
    const after = join(before, by);
    if (after !== before) this.changed = true;
    return after;
  }
}

function nextOf(plan: Plan): ReadonlyMap<string, readonly string[]> {
  const next = new Map<string, string[]>();
  for (const { from, to } of plan.edges) addTo(next, from, to);
  for (const route of plan.routes) for (const to of targetsOf(route, plan)) addTo(next, route.from, to);
  for (const { id, onError, onMaxVisits } of plan.nodes) {
    if (typeof onError === 'object') addTo(next, id, onError.to);
    if (typeof onMaxVisits === 'object' && 'to' in onMaxVisits) addTo(next, id, onMaxVisits.to);
  }
  return next;
}

function targetsOf(route: Route, { nodes }: Plan): readonly string[] {
  return routeTargets(route) ?? nodes.map(({ id }) => id);
}

/** Reads never exceed what the node sees. */
function readBy(node: PlanNode, scope: ScopeHeard): number {
  const seen = scope.seen.get(node.id) ?? CLEAN;
  const readsAll =
    (node.kind === 'task' && node.tool === undefined) ||
    (node.when ?? []).some(({ op }) => op === 'code') ||
    readsOutputs(node);
  const read = readsAll ? seen : levelsOf(scope, referencesOf(node));
  return Math.min(read & 3, seen & 3) | (read & seen & PRIVATE);
}

function levelsOf(scope: ScopeHeard, references: readonly { readonly channel: string }[]): number {
  return references.reduce((all, { channel }) => join(all, levelOf(scope, channel)), CLEAN);
}

function levelOf({ channels, anywhere }: ScopeHeard, channel: string): number {
  return join(channels.get(channel) ?? CLEAN, anywhere);
}
