import { formatAddress, parseAddress, type Place } from '../base/address.js';
import type { PlanNode } from '../plan/plan.js';
import type { StepTrace } from './overview-trace.js';
import type { SessionOverview } from './run-overview.js';

/** When a step began, and how long it took in all sessions. */
export type Timing = Pick<StepTrace, 'startedAt' | 'ms'>;

interface Reading {
  readonly sessions: readonly SessionOverview[];
  readonly nodeAt: (path: string) => PlanNode | undefined;
}

/**
 * Returns the times of steps. No record tells when a step that only contains others began: it took from the begin of the first step inside of
 * it to its end, without the time between sessions.
 */
export function timesOf(traces: Iterable<StepTrace>, { sessions, nodeAt }: Reading): (trace: StepTrace) => Timing {
  const all = [...traces];
  const isBlock = ({ path }: StepTrace): boolean => 'plan' in (nodeAt(path) ?? {});
  const blocks = new Map(all.filter(isBlock).map((trace) => [trace.path, { from: Infinity, to: -Infinity }]));
  if (blocks.size === 0) return own;
  const isLoop = (ids: string): boolean => nodeAt(ids)?.kind === 'loop';
  for (const trace of all) {
    const around = blocksAround(parseAddress(trace.path, isLoop)?.places ?? []);
    for (const [depth, path] of around.entries()) {
      const span = blocks.get(path);
      if (span === undefined) continue;
      span.from = Math.min(span.from, trace.begunIn(depth));
      span.to = Math.max(span.to, trace.endedAt ?? trace.startedAt);
    }
  }
  return (trace) => {
    const span = blocks.get(trace.path);
    if (span === undefined) return own(trace);
    const startedAt = Math.min(span.from, trace.endedAt ?? trace.startedAt);
    return { startedAt, ms: worked(sessions, startedAt, trace.endedAt ?? Math.max(span.to, startedAt)) };
  };
}

function own({ startedAt, ms }: StepTrace): Timing {
  return { startedAt, ms };
}

/** The paths of the steps around one, outermost first. */
function blocksAround(places: readonly Place[]): readonly string[] {
  return places
    .slice(0, -1)
    .map(({ id, visit, attempt }, at) => formatAddress({ places: [...places.slice(0, at), { id, visit, attempt }] }));
}

/** The part of a span in which a process ran the run. */
function worked(sessions: readonly SessionOverview[], from: number, to: number): number {
  const parts = sessions.map(({ beganAt, endedAt = to }) => Math.min(to, endedAt) - Math.max(from, beganAt));
  return parts.reduce((sum, part) => sum + Math.max(0, part), 0);
}
