import { nodePathOf } from '../base/address.js';
import { passTo } from '../base/at-once.js';
import type { ErrorData } from '../base/errors.js';
import { ownValue, present } from '../base/json.js';
import type { EventBase, Listener, SkeinEvent, StepNote } from '../events/event.js';
import type { Spending } from '../events/spending.js';
import { StepTallies } from '../events/call-fold.js';
import { renderTemplate } from '../lang/template.js';
import { valueText } from '../lang/value-text.js';
import type { Plan, PlanNode } from '../plan/plan.js';
import { placesOf, type TreePlace } from './event-places.js';

/** The severity of an event. */
export type TreeLevel = 'info' | 'warn' | 'error';

export type TreeHappening =
  | { readonly name: 'workflow.started'; readonly workflow: string }
  | (Paid & { readonly name: 'workflow.ended'; readonly workflow: string; readonly failure?: ErrorData })
  /** The tree or its runtime has problems, so the run does not start. */
  | { readonly name: 'preflight.failed'; readonly workflow: string; readonly failure: ErrorData }
  /** A convergence is also a goal. */
  | { readonly name: 'goal.started'; readonly goal: string; readonly description: string }
  | (Paid & { readonly name: 'goal.ended'; readonly goal: string; readonly output: string })
  | { readonly name: 'subagent.spawned'; readonly goal: string; readonly agent: string }
  | (Paid & {
      readonly name: 'subagent.completed';
      readonly goal: string;
      readonly agent: string;
      readonly output: string;
      readonly failure?: ErrorData;
    })
  | {
      readonly name: 'convergence.cap_reached';
      readonly convergence: string;
      readonly cap: number;
      readonly lastOutput: string;
    }
  | { readonly name: 'output.unparsed'; readonly goal: string; readonly message: string }
  | Told<ToldNote>;

/** The spending of something that ended, including everything inside it. */
interface Paid {
  /** Calls, tokens and dollars of this session. */
  readonly spent: Spending;
}

/** The notes of a convergence's loop and of a step's supervision. */
type ToldNote = Exclude<
  Extract<StepNote, { readonly kind: `loop.${string}` | `supervision.${string}` | `approval.${string}` }>,
  { readonly kind: 'loop.capped' }
>;

/** A note as an event, with the note's fields. */
type Told<N> = N extends ToldNote ? Omit<N, 'kind'> & { readonly name: N['kind']; readonly goal: string } : never;

/** One event of a tree. */
export type TreeEvent = TreeHappening & {
  readonly level: TreeLevel;
  /** Empty for events before a run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Address of the step. Empty for the run itself. */
  readonly path: string;
};

/** Receives the events of a tree. */
export type TreeListener = (event: TreeEvent) => unknown;

/** Turns events of a run into those of its tree, by the roles of nodes, without repeats of a replay. `inputs`: those of the run. */
export function treeEvents(plan: Plan, inputs: () => Readonly<Record<string, unknown>>, tell: TreeListener): Listener {
  const events = new TreeEvents(plan, inputs);
  let isBroken = false;
  const failed = (): void => void (isBroken = true);
  return (event) => {
    const found = events.take(event);
    if (event.replayed === true) return;
    const { runId, at, path } = event;
    for (const happening of found) {
      if (!isBroken) passTo(tell, { ...happening, level: levelOf(happening), runId, at, path }, failed);
    }
  };
}

/** Returns the event of a run that did not start. */
export function preflightFailed(workflow: string, failure: ErrorData, at: number): TreeEvent {
  return { name: 'preflight.failed', workflow, failure, level: 'error', runId: '', at, path: '' };
}

/** Text fields that are sent in full. */
const NAMES: ReadonlySet<string> = new Set([
  'workflow',
  'goal',
  'description',
  'agent',
  'convergence',
  'verdict',
  'by',
]);

/**
 * Returns the attributes of an event for a telemetry sink: names, numbers, the length of an output, and the spending.
 *
 * @example
 * const lines: string[] = [];
 * const telemetry = (event: TreeEvent) => lines.push(`${event.name} ${JSON.stringify(attributesOf(event))}`);
 * await workflow('flow').add(sequence('main').steps(goal('greet', 'Say hello.'))).execute({ model: 'mock/echo', telemetry });
 * console.log(lines.at(-1)); // workflow.ended {"workflow":"flow","model_calls":1, ...}
 */
export function attributesOf(event: TreeEvent): Readonly<Record<string, string | number | boolean>> {
  const { name: _name, level: _level, runId: _run, at: _at, path: _path, ...fields } = event;
  const attributes: Record<string, string | number | boolean> = {};
  for (const [key, value] of Object.entries(fields)) {
    if (typeof value === 'number' || typeof value === 'boolean') attributes[key] = value;
    else if (typeof value === 'string' && NAMES.has(key)) attributes[key] = value;
    else if (typeof value === 'string' && key === 'output') attributes['output_len'] = value.length;
  }
  if ('spent' in event) Object.assign(attributes, spentAttributes(event.spent));
  return attributes;
}

function spentAttributes({ modelCalls, usage, usd, unpricedCalls }: Spending): Readonly<Record<string, number>> {
  const { inputTokens: input_tokens, outputTokens: output_tokens } = usage;
  const unpriced = unpricedCalls === 0 ? {} : { unpriced_calls: unpricedCalls };
  return { model_calls: modelCalls, input_tokens, output_tokens, cost_usd: usd, ...unpriced };
}

const WARNINGS: ReadonlySet<string> = new Set([
  'convergence.cap_reached',
  'output.unparsed',
  'loop.repeated',
  'loop.oscillating',
  'supervision.corrected',
]);

function levelOf(happening: TreeHappening): TreeLevel {
  if ('failure' in happening && happening.failure !== undefined) return 'error';
  return WARNINGS.has(happening.name) ? 'warn' : 'info';
}

type StepEnded = Extract<SkeinEvent, { readonly type: 'step.ended' }>;

const FAILED: ReadonlySet<string> = new Set(['failed', 'timed_out', 'cancelled', 'out_of_budget']);

/** Tracks the state of a run: values that descriptions refer to, and convergences at their cap. */
class TreeEvents {
  private readonly places: ReadonlyMap<string, TreePlace>;
  /** The latest values of the channels that descriptions refer to. */
  private readonly values = new Map<string, unknown>();
  private readonly named: ReadonlySet<string>;
  /** The cap that a convergence reached, by the path of its step. */
  private readonly capped = new Map<string, number>();
  private readonly tallies = new StepTallies();

  constructor(
    private readonly plan: Plan,
    private readonly inputs: () => Readonly<Record<string, unknown>>,
  ) {
    this.places = placesOf(plan);
    const pieces = [...this.places.values()].flatMap(({ node }) => node.about ?? []);
    this.named = new Set(
      pieces.flatMap((piece) => (typeof piece === 'object' && 'channel' in piece ? piece.channel : [])),
    );
  }

  take(event: SkeinEvent): readonly TreeHappening[] {
    const { name: workflow } = this.plan;
    const spent = this.tallies.take(event);
    switch (event.type) {
      case 'run.started':
        return [{ name: 'workflow.started', workflow }];
      case 'run.ended':
        // A paused run continues once it is answered.
        if (event.outcome === 'paused') return [];
        return [{ name: 'workflow.ended', workflow, spent: event.spent, ...present({ failure: event.error }) }];
      case 'step.started':
        return this.started(event);
      case 'step.ended':
        return this.ended(event, spent);
      case 'step.note':
        return this.note(event, event.note);
      case 'step.retrying':
      case 'run.warning':
      case 'run.resumed':
        return [];
    }
  }

  private started({ path }: EventBase): readonly TreeHappening[] {
    const place = this.places.get(nodePathOf(path));
    if (place === undefined) return [];
    const { node, name, parent } = place;
    const spawned = parent === undefined ? [] : [{ name: 'subagent.spawned', goal: parent, agent: name } as const];
    return isGoal(node) ? [...spawned, { name: 'goal.started', goal: name, description: this.textOf(node) }] : spawned;
  }

  private ended(event: StepEnded, spent: Spending): readonly TreeHappening[] {
    const { path, outcome, update = {} } = event;
    for (const [channel, value] of Object.entries(update)) if (this.named.has(channel)) this.values.set(channel, value);
    const place = this.places.get(nodePathOf(path));
    if (place === undefined) return [];
    const { node, name, parent } = place;
    const found: TreeHappening[] = [];
    const output = textIn(update, place.channel);
    const cap = this.capped.get(path);
    this.capped.delete(path);
    if (outcome === 'succeeded' && cap !== undefined)
      found.push({ name: 'convergence.cap_reached', convergence: name, cap, lastOutput: output });
    if (outcome === 'succeeded' && isGoal(node)) found.push({ name: 'goal.ended', goal: name, output, spent });
    const isOver = outcome === 'succeeded' || FAILED.has(outcome);
    if (parent !== undefined && isOver) {
      const failure = outcome === 'succeeded' ? undefined : (event.error ?? stoppedBy(event));
      found.push({
        name: 'subagent.completed',
        goal: parent,
        agent: name,
        output,
        spent,
        ...present({ failure }),
      });
    }
    return found;
  }

  private note({ path }: EventBase, note: StepNote): readonly TreeHappening[] {
    const place = this.placeAround(nodePathOf(path));
    if (place === undefined) return [];
    const { goal } = place;
    if (note.kind === 'warning')
      return note.code === 'output.unparsed' ? [{ name: note.code, goal, message: note.message }] : [];
    if (note.kind === 'loop.capped') {
      this.capped.set(path, note.rounds);
      return [];
    }
    if (note.kind === 'loop.round' && note.round === 1) this.capped.delete(path);
    if (!isTold(note)) return [];
    const { kind, ...fields } = note;
    return [{ name: kind, goal, ...fields } as Told<ToldNote>];
  }

  /** Returns the place of a step, or of the closest enclosing step with a role. */
  private placeAround(path: string): TreePlace | undefined {
    for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
      const place = this.places.get(at);
      if (place !== undefined) return place;
    }
    return undefined;
  }

  private textOf({ about = [] }: PlanNode): string {
    const given = this.inputs();
    const input = (channel: string): unknown => {
      const declared = this.plan.inputs.find((one) => one.channel === channel);
      return declared === undefined ? undefined : (ownValue(given, declared.name) ?? declared.default);
    };
    try {
      return renderTemplate(about, (channel) => this.values.get(channel) ?? input(channel));
    } catch {
      return '';
    }
  }
}

function isGoal({ role }: PlanNode): boolean {
  return role === 'goal' || role === 'convergence';
}

function isTold(note: StepNote): note is ToldNote {
  return /^(?:loop|supervision|approval)\./.test(note.kind) && note.kind !== 'loop.capped';
}

function textIn(update: Readonly<Record<string, unknown>>, channel: string | undefined): string {
  return channel !== undefined && Object.hasOwn(update, channel) ? valueText(update[channel]) : '';
}

function stoppedBy({ outcome, reason = 'the step did not end' }: StepEnded): ErrorData {
  return { code: outcome === 'timed_out' ? 'SKEIN_TIMEOUT' : 'SKEIN_CANCELLED', message: reason };
}
