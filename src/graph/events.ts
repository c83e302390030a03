import { nodeIdOf } from '../base/address.js';
import { sha256 } from '../base/hash.js';
import { present } from '../base/json.js';
import { madeOnce } from '../base/collections.js';
import type { EventBody, SkeinEvent } from '../events/event.js';
import { valueText } from '../lang/value-text.js';
import { nodesById } from '../plan/nodes.js';
import type { Plan, PlanNode } from '../plan/plan.js';
import { errorText } from '../base/errors.js';
import { noteEvent } from './event-notes.js';
import type { Violation } from '../runtime/invariants.js';
import type { GraphEvent } from './result.js';

export interface Told {
  readonly plan: Plan;
  readonly inputs: Readonly<Record<string, unknown>>;
}

/** An engine event or violation before it is turned into graph events. */
export type Happening = SkeinEvent | { readonly type: 'violation'; readonly at: number; readonly violation: Violation };

interface OpenStep {
  readonly node: string;
  readonly at: number;
  readonly plan: PlanNode | undefined;
  readonly nodesRun: string[];
}

/** The parts of an event that differ from other events of the same step. */
type Draft = Pick<GraphEvent, 'type' | 'metadata'> & Partial<GraphEvent>;

/** The engine event of a type. */
type Of<Type extends EventBody['type']> = SkeinEvent & { readonly type: Type };

/** Makes graph events from engine events. They depend only on the events so far, so a replay yields the same ones. */
export class GraphEvents {
  private readonly open = new Map<string, OpenStep>();
  /** How often each type of event happened in a step, beyond the first. */
  private readonly counts = new Map<string, number>();
  private readonly ids = new Map<string, string>();
  /** Steps inside quiet nodes. */
  private readonly hidden = new Set<string>();

  constructor(
    private readonly runId: string,
    private readonly told: Told,
  ) {}

  /** Returns the graph events for an engine event. `seen` is the state that a starting step reads. */
  take(happening: Happening, seen: Readonly<Record<string, unknown>>): GraphEvent[] {
    if (this.isHidden(happening)) return [];
    switch (happening.type) {
      case 'violation':
        return [this.violation(happening.violation, happening.at)];
      case 'run.started': {
        const { plan, inputs } = this.told;
        const metadata = { entry: plan.entry ?? null, initial_state: { ...inputs } };
        return [this.make(happening, { type: 'workflow_start', metadata })];
      }
      case 'run.resumed':
        return [this.make(happening, { type: 'workflow_resume', metadata: {} })];
      case 'run.ended':
        return [];
      case 'run.warning': {
        const { code, message, path } = happening;
        const node = nodeIdOf(path) || undefined;
        return [this.make(happening, present({ type: 'warning', node, metadata: { code, message } }))];
      }
      case 'step.started':
        return this.started(happening, seen);
      case 'step.retrying': {
        const { attempt, delayMs, error, path } = happening;
        const node = this.nameOf(path);
        // Nodes that ran inside the previous attempt do not count.
        this.open.get(path)?.nodesRun.splice(0);
        const metadata = { node, attempt, delay_ms: delayMs, error: errorText(error), code: error.code };
        return [this.make(happening, { type: 'node_retry', node, metadata })];
      }
      case 'step.ended':
        return this.ended(happening);
      case 'step.note':
        return this.note(happening);
    }
  }

  /** True for events inside a quiet node, at any depth. */
  private isHidden(happening: Happening): boolean {
    if (happening.type === 'violation' || happening.path === '') return false;
    const { type, path, parent } = happening;
    if (type === 'step.note') return this.hidden.has(path) || this.open.get(path)?.plan?.quiet === true;
    if (type === 'step.started' && (this.hidden.has(parent) || this.open.get(parent)?.plan?.quiet === true))
      this.hidden.add(path);
    const isHidden = this.hidden.has(path);
    if (type === 'step.ended') this.hidden.delete(path);
    return isHidden;
  }

  /** Makes an event that only the end of the run produces; the engine does not emit it. */
  last(at: number, type: 'answer' | 'workflow_end', metadata: GraphEvent['metadata']): GraphEvent {
    return this.make({ at, path: '', parent: '' }, { type, metadata });
  }

  private started(event: Of<'step.started'>, seen: Readonly<Record<string, unknown>>): GraphEvent[] {
    const { node, path, at, kind, visit } = event;
    const plan = this.planNode(event.parent, node);
    this.open.set(path, { node, at, plan, nodesRun: [] });
    const eventId = this.idOf(path);
    const metadata = withInputs(seen, { node, event_id: eventId, kind, visit });
    const start = this.make(event, { type: 'node_start', node, eventId, metadata });
    if (plan?.kind !== 'call' || plan.quiet === true) return [start];
    const { name, entry } = plan.plan;
    const inside = { type: 'workflow_start', metadata: { workflow: name, entry: entry ?? null } };
    return [start, this.inside(event, path, inside)];
  }

  private ended(event: Of<'step.ended'>): GraphEvent[] {
    const { path, node, outcome, at } = event;
    const open = this.open.get(path);
    this.open.delete(path);
    if (outcome === 'skipped') {
      const metadata = { node, reason: event.reason ?? '' };
      return [this.make(event, { type: 'node_skip', node, metadata })];
    }
    if (open === undefined) return [];
    const eventId = this.idOf(path);
    const times = { elapsed_ms: at - open.at, event_id: eventId };
    const inner = this.innerEnd(event, open);
    if (outcome === 'succeeded') {
      this.open.get(event.parent)?.nodesRun.push(node);
      const { update = {}, to, reason } = event;
      const metadata = { node, update, result: update, ...times, ...present({ to, reason }) };
      const end = this.make(event, { type: 'node_end', node, eventId, metadata });
      if (event.state === undefined) return [...inner, end];
      return [...inner, end, this.make(event, { type: 'state', node, metadata: { node, state: event.state } })];
    }
    const why = { node, reason: event.reason ?? '', ...times };
    if (outcome === 'cancelled') return [...inner, this.make(event, { type: 'node_cancel', node, metadata: why })];
    if (outcome === 'paused') return [...inner, this.make(event, { type: 'node_pause', node, metadata: why })];
    const { error } = event;
    const what =
      error === undefined
        ? { error: outcome }
        : { error: errorText(error), code: error.code, ...present({ hint: error.hint }) };
    const metadata = { node, ...what, attempts: event.attempts, ...times };
    return [...inner, this.make(event, { type: 'error', node, metadata })];
  }

  /** Returns the end of a workflow inside a node, reported before the end of the node. */
  private innerEnd(event: Of<'step.ended'>, { plan, nodesRun }: OpenStep): GraphEvent[] {
    if (plan?.kind !== 'call' || plan.quiet === true) return [];
    const { path, outcome, error, update = {} } = event;
    const success = outcome === 'succeeded';
    const events: GraphEvent[] = [];
    if (success && plan.output !== undefined) {
      const metadata = {
        answer_key: plan.outputs?.[plan.output] ?? plan.output,
        answer: answerText(update[plan.output]),
      };
      events.push(this.inside(event, path, { type: 'answer', metadata }));
    }
    const why = error === undefined ? null : errorText(error);
    const metadata = { workflow: plan.plan.name, success, error: why, nodes_run: nodesRun };
    return [...events, this.inside(event, path, { type: 'workflow_end', metadata })];
  }

  private note(event: Of<'step.note'>): GraphEvent[] {
    const { note, path } = event;
    // Calls inside a function only matter for counting.
    if (note.kind === 'inner.call') return [];
    if (note.kind === 'supervision.corrected') this.open.get(path)?.nodesRun.splice(0);
    const draft = noteEvent(note, path);
    return [this.inside(event, path, { node: this.nameOf(path), ...draft })];
  }

  private violation(violation: Violation, at: number): GraphEvent {
    const { index, node, path, message, policy, predicateError, elapsedMs, nodeCount } = violation;
    const context = {
      after_node: node,
      predicate_error: predicateError,
      elapsed_ms: elapsedMs,
      node_count: nodeCount,
    };
    const told = { kind: 'workflow_invariant', location: `workflow#${index}`, message, context, policy };
    const metadata = { violation: told, index, after_node: node };
    return this.make({ at, path, parent: '' }, { type: 'contract_violation', node, metadata });
  }

  private inside(event: SkeinEvent, path: string, draft: Draft): GraphEvent {
    return this.make({ ...event, parent: path }, draft);
  }

  private make(event: Pick<SkeinEvent, 'at' | 'path' | 'parent' | 'replayed'>, draft: Draft): GraphEvent {
    const { at, path, parent, replayed } = event;
    const inside = parent !== '';
    const {
      type,
      node,
      metadata,
      eventId = this.nextId(path, type),
      source = inside ? this.nameOf(parent) : null,
      parentEventId = inside ? this.idOf(parent) : null,
    } = draft;
    return {
      type,
      eventId,
      runId: draft.runId ?? this.runId,
      at: draft.at ?? at,
      ...(node === undefined ? {} : { node }),
      path: draft.path ?? path,
      source,
      parentEventId,
      metadata,
      ...(replayed === undefined ? {} : { replayed }),
    };
  }

  private idOf(path: string): string {
    return madeOnce(this.ids, path, () => digest([this.runId, path]));
  }

  private nextId(path: string, type: string): string {
    const key = `${path}\n${type}`;
    const count = (this.counts.get(key) ?? 0) + 1;
    this.counts.set(key, count);
    return digest([this.runId, path, type, count]);
  }

  private nameOf(path: string): string {
    return this.open.get(path)?.node ?? nodeIdOf(path);
  }

  private planNode(parent: string, node: string): PlanNode | undefined {
    const around = parent === '' ? undefined : this.open.get(parent)?.plan;
    if (parent === '') return nodesById(this.told.plan).get(node);
    return around !== undefined && 'plan' in around ? nodesById(around.plan).get(node) : undefined;
  }
}

/** Returns a value as the text of an answer. A value without a text form does not fail the run. */
export function answerText(value: unknown): string {
  if (value === null) return '';
  try {
    return valueText(value);
  } catch {
    return typeof value === 'bigint' ? value.toString() : Object.prototype.toString.call(value);
  }
}

/** Adds the whole state that a step reads, copied on first access. */
function withInputs(state: Readonly<Record<string, unknown>>, more: GraphEvent['metadata']): GraphEvent['metadata'] {
  let copy: Readonly<Record<string, unknown>> | undefined;
  return {
    ...more,
    get inputs() {
      return (copy ??= { ...state });
    },
  };
}

function digest(parts: readonly (string | number)[]): string {
  return sha256(JSON.stringify(parts)).slice(0, 32);
}
