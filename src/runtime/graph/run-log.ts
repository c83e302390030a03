import type { SkeinEvent } from '../../events/event.js';
import { GraphEvents } from './events.js';
import type { Happening, Told } from './events.js';
import type { Violation } from './invariants.js';
import type { GraphEvent } from './result.js';

function noop(): void {
  // Nobody waits yet.
}

/**
 * What happened in a run. It is made into events of a graph when somebody asks for them: most callers look at the state alone, and a node
 * should cost them no more than a function call.
 */
export class RunLog {
  private readonly happenings: Happening[] = [];
  private readonly events: GraphEvent[] = [];
  private readonly maker: GraphEvents;
  private made = 0;
  /** What the steps see that started, in that order. */
  private readonly seen: Readonly<Record<string, unknown>>[] = [];
  private starts = 0;
  private wake: () => void = noop;
  /** Time of the last event of the engine. */
  private last: SkeinEvent | undefined = undefined;
  private first: SkeinEvent | undefined = undefined;
  private stopped = false;

  /** Names of the nodes of the graph that ran, in the order in which they ended. */
  readonly nodesRun: string[] = [];

  constructor(
    runId: string,
    told: Told,
    /** Events of steps are kept. */
    readonly keeps: boolean,
  ) {
    this.maker = new GraphEvents(runId, told);
  }

  /** For the engine. */
  readonly listen = (event: SkeinEvent): void => {
    this.first ??= event;
    this.last = event;
    if (event.type === 'step.ended' && event.parent === '' && event.outcome === 'succeeded' && event.kind !== 'pass')
      this.nodesRun.push(event.node);
    if (!this.keeps && event.path !== '') return;
    this.happenings.push(event);
    this.wake();
  };

  /** For the engine: what the step sees whose start is reported next. */
  readonly starting = (_path: string, state: Readonly<Record<string, unknown>>): void => {
    this.seen.push(state);
  };

  /** For the check, which is called right after the end of a step was reported. */
  readonly violated = (violation: Violation): void => {
    this.happenings.push({ type: 'violation', at: this.last?.at ?? 0, violation });
  };

  /** The engine tells nothing any more. */
  get ended(): boolean {
    return this.stopped || this.last?.type === 'run.ended';
  }

  /** The run could not be started after all. */
  stop(): void {
    this.stopped = true;
    this.wake();
  }

  /** When the run began and ended; undefined for one that never began. */
  get times(): { readonly from: number; readonly to: number } | undefined {
    const { first, last } = this;
    return first === undefined || last === undefined ? undefined : { from: first.at, to: last.at };
  }

  /** All events so far: always the same list. */
  all(): GraphEvent[] {
    for (let next = this.happenings[this.made]; next !== undefined; next = this.happenings[this.made]) {
      this.made += 1;
      const seen = next.type === 'step.started' ? this.seen[this.starts++] : undefined;
      this.events.push(...this.maker.take(next, seen ?? {}));
    }
    return this.events;
  }

  /** Adds what only the end of the run tells. */
  close(at: number, type: 'answer' | 'workflow_end', metadata: GraphEvent['metadata']): void {
    this.all().push(this.maker.last(at, type, metadata));
  }

  /** Resolves when something more has happened. */
  more(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}
