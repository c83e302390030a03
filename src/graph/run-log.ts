import type { CompiledNode } from '../engine/graph/compile.js';
import { successBody, type Success } from '../engine/graph/explain.js';
import { startBody, type Keeper, type ToldScope, type ToldStep } from '../engine/reporter.js';
import type { Version } from '../engine/state/version.js';
import type { SkeinEvent } from '../events/event.js';
import { GraphEvents, type Happening, type Told } from './events.js';
import type { Violation } from '../runtime/invariants.js';
import type { GraphEvent } from './result.js';

interface Kept {
  /** Milliseconds since the first report. */
  readonly ms: number;
  /** Whether the event comes from the record and was already reported. */
  readonly again: boolean;
  readonly path: string;
  readonly compiled: CompiledNode;
  readonly owner: ToldScope;
}

interface KeptStart extends Kept {
  readonly visit: number;
  /** The state that the step reads. */
  readonly input: Version;
}

interface KeptSuccess extends Kept {
  readonly output: unknown;
  readonly more: Success | undefined;
}

/** Records what happened in a run. The graph events are built on demand: most callers read only the state. */
export class RunLog implements Keeper {
  private readonly happenings: (Happening | KeptStart | KeptSuccess)[] = [];
  private readonly events: GraphEvent[] = [];
  private readonly maker: GraphEvents;
  private made = 0;
  /** Lets whoever waits for {@link more} look again. */
  wake: () => void = () => undefined;
  /** Times of the first and last report, in milliseconds since 1970. */
  private first: number | undefined = undefined;
  private last = 0;

  /** Names of the graph's nodes that ran, in the order in which they ended. */
  readonly nodesRun: string[] = [];

  constructor(
    private readonly runId: string,
    told: Told,
    private readonly keeps: boolean,
  ) {
    this.maker = new GraphEvents(runId, told);
  }

  started(at: number, again: boolean, { path, compiled, owner, visit, input }: ToldStep): void {
    const ms = this.since(at);
    if (this.keeps) this.keep({ ms, again, path, compiled, owner, visit, input });
  }

  succeeded(at: number, again: boolean, step: ToldStep, output: unknown, more: Success | undefined): void {
    const ms = this.since(at);
    const { path, compiled, owner } = step;
    if (owner.parent === '' && compiled.node.kind !== 'pass') this.nodesRun.push(compiled.id);
    if (this.keeps) this.keep({ ms, again, path, compiled, owner, output, more });
  }

  readonly told = (event: SkeinEvent): void => {
    this.since(event.at);
    if (this.keeps || event.path === '') this.keep(event);
  };

  private since(at: number): number {
    this.last = at;
    return at - (this.first ??= at);
  }

  private keep(happening: Happening | KeptStart | KeptSuccess): void {
    this.happenings.push(happening);
    this.wake();
  }

  /** For the invariant check, which runs right after a step's end is reported. */
  readonly violated = (violation: Violation): void => {
    this.happenings.push({ type: 'violation', at: this.last, violation });
  };

  /** When the run began and ended; undefined if it never began. */
  get times(): { readonly from: number; readonly to: number } | undefined {
    return this.first === undefined ? undefined : { from: this.first, to: this.last };
  }

  /** Returns all events so far, always in the same array. */
  all(): GraphEvent[] {
    for (let next = this.happenings[this.made]; next !== undefined; next = this.happenings[this.made]) {
      this.made += 1;
      this.events.push(...('type' in next ? this.maker.take(next, {}) : this.ofStep(next)));
    }
    return this.events;
  }

  private ofStep(step: KeptStart | KeptSuccess): GraphEvent[] {
    const { ms, again, path, owner } = step;
    const base = { runId: this.runId, seq: 0, at: (this.first ?? 0) + ms, path, parent: owner.parent };
    const event = again ? { ...base, replayed: true as const } : base;
    if ('input' in step) return this.maker.take({ ...event, ...startBody(step) }, owner.view(step.input));
    return this.maker.take({ ...event, ...successBody(step.compiled, step.output, step.more) }, {});
  }

  /** Adds an event that only the end of the run produces. */
  close(at: number, type: 'answer' | 'workflow_end', metadata: GraphEvent['metadata']): void {
    this.all().push(this.maker.last(at, type, metadata));
  }

  /** Resolves when another event has happened, or at {@link wake}. */
  more(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}
