import { memoryStore, run } from '../../../src/index.js';
import type { RunOptions, RunResult, SkeinEvent, Store } from '../../../src/index.js';
import type { Plan, PlanNode } from '../../../src/plan/plan.js';
import { seededRandom } from '../../../src/testing/index.js';
import { bodyOf, type WriteKind } from '../oracle/random-bodies.js';
import type { RawNode, RawPlan } from '../oracle/random-plan.js';
import type { Scenario, Sees } from '../oracle/scenario.js';

/** Plans of which the rounds multiply are left: a run may start so many steps. */
const MOST_STEPS = 2_000;

/** What happens to a recorded run after its first session. */
export interface Later {
  /** How much of the record is left when the process dies: of the run, of its fork. */
  readonly left: readonly [run: number, fork: number];
  /** What the fork sets, by key. */
  readonly set: Readonly<Record<string, unknown>>;
  /** Steps that the fork runs again. */
  readonly forget: readonly string[];
}

/** A session of a run that came to its end. */
export interface Told {
  readonly what: 'run' | 'resume under an edit' | 'fork' | 'resume of the fork' | 'fork of the fork';
  readonly result: RunResult;
  /** What was set, and in which steps it stands. */
  readonly set: string;
}

/** Whether a run ends at all is not one of its values. */
const ENDED: ReadonlySet<string> = new Set(['succeeded', 'degraded']);

/**
 * A run and what comes after it: its process dies, it goes on with an edited workflow, is forked with other values; the fork dies and goes on, and is
 * forked under the workflow of the beginning.
 */
export async function historyOf(first: Scenario, edited: Scenario, seed: unknown, later: Later): Promise<Told[]> {
  const store = memoryStore();
  const told: Told[] = [];
  const session = async (what: Told['what'], scenario: Scenario, options: RunOptions): Promise<boolean> => {
    const result = await playedOut(scenario, { ...options, store });
    if (!ENDED.has(result.outcome)) return false;
    told.push({ what, result, set: setIn(store, result.runId) });
    return true;
  };
  const { set, forget } = later;
  const inputs = { ...first.inputs, seed };
  if (!(await session('run', first, { runId: 'r', inputs, untrusted: ['seed'] }))) return told;
  cutOff(store, 'r', later.left[0]);
  if (!(await session('resume under an edit', edited, { resume: 'r' }))) return told;
  const known = forget.filter((id) => edited.plan.nodes.some((node) => node.id === id));
  if (!(await session('fork', edited, { runId: 'f', fork: { run: 'r', set, forget: known } }))) return told;
  cutOff(store, 'f', later.left[1]);
  if (!(await session('resume of the fork', edited, { resume: 'f' }))) return told;
  await session('fork of the fork', first, { runId: 'g', fork: { run: 'f' } });
  return told;
}

async function playedOut({ plan, bindings }: Scenario, options: RunOptions): Promise<RunResult> {
  let steps = 0;
  const count = ({ type }: SkeinEvent): void => {
    if (type === 'step.started') steps += 1;
    if (steps > MOST_STEPS) handle.cancel();
  };
  const handle = run({ plan, bindings }, { ...options, listeners: [count] });
  return await handle.result;
}

/** The process dies: a beginning of the journal is left. Its first batch says what the run is. */
function cutOff(store: Store, runId: string, share: number): void {
  const holder = { id: 'next', host: 'here', pid: 1 };
  const lease = store.lease(runId, holder, 0);
  store.cut(lease, 1 + Math.floor(share * store.read(runId).length));
  store.release(lease, { outcome: 'interrupted', endedAt: 0 });
}

function setIn(store: Store, runId: string): string {
  const begin = JSON.parse(store.read(runId, 0, 1)[0]?.text.split('\n')[0] ?? '{}') as { readonly set?: unknown };
  return JSON.stringify(begin.set ?? null);
}

const SPINE = ['s0', 's1', 's2'] as const;
const FOLDED: Readonly<Record<string, WriteKind>> = { log: 'entry', lines: 'entries', sum: 'number', dict: 'dict' };

/**
 * A scenario behind three steps in a row that write what reducers fold: each of them begins an epoch, so that what comes after reads accumulators of which
 * the contributions are forgotten.
 */
export function behindEpochs(scenario: Scenario, sees: Sees): Scenario {
  const { plan } = scenario;
  const bindings: Record<string, unknown> = { ...scenario.bindings };
  const names = plan.channels.map(({ name }) => name);
  for (const id of SPINE) {
    const reads = names.filter((name) => sees(id, name));
    bindings[id] = bodyOf({ id, reads, writes: FOLDED, failsOneIn: 0 });
  }
  const spine = SPINE.map((id): PlanNode => ({ kind: 'task', id }));
  const inARow = SPINE.slice(1).map((to, at) => ({ from: SPINE[at] ?? '', to }));
  const edges = [...inARow, ...rootsOf(plan).map((to) => ({ from: 's2', to })), ...plan.edges];
  return { ...scenario, bindings, plan: { ...plan, nodes: [...spine, ...plan.nodes], edges } };
}

/** What starts by itself. */
function rootsOf({ nodes, edges, routes }: Plan): readonly string[] {
  const led = new Set([
    ...edges.map(({ to }) => to),
    ...routes.flatMap(({ targets, mentions }) => targets ?? mentions ?? []),
  ]);
  for (const { onError, onMaxVisits } of nodes)
    for (const one of [onError, onMaxVisits]) if (typeof one === 'object' && 'to' in one) led.add(one.to);
  return nodes.flatMap(({ id }) => (led.has(id) ? [] : [id]));
}

/** The plan with other versions of some of its functions. */
export function withVersions(plan: Plan, isEdited: (key: string) => boolean, prefix = ''): Plan {
  const nodes = plan.nodes.map((node): PlanNode => {
    const key = prefix + node.id;
    if ('plan' in node) return { ...node, plan: withVersions(node.plan, isEdited, `${key}/`) };
    return node.kind === 'task' && isEdited(key) ? { ...node, version: '2' } : node;
  });
  return { ...plan, nodes };
}

/** A value that a person could set for a channel; undefined for those that nobody would. */
export function settable(channel: string, mask: number): unknown {
  if (channel === 'seed' || channel === 'items' || channel.startsWith('count')) return undefined;
  const text = Math.floor(seededRandom(`${mask} ${channel}`)() * 36 ** 5).toString(36);
  const folded: Readonly<Record<string, unknown>> = { log: [text], lines: [text], sum: 7, dict: { set: text } };
  return folded[channel] ?? text;
}

/** The same plan without what decides where a run goes: there no label of a value is part of any other unless it was read, or folded. */
export function undecided(raw: RawPlan): RawPlan {
  return { ...raw, nodes: raw.nodes.map(undecidedNode) };
}

function undecidedNode(raw: RawNode): RawNode {
  const kind = raw.kind === 'loop' ? 'call' : raw.kind;
  const plain = { route: 'none', back: 0, maxVisits: 'none', failsOneIn: 0, when: 'none', exit: false } as const;
  return { ...raw, kind, ...plain, sub: raw.sub.map(undecidedNode) };
}
