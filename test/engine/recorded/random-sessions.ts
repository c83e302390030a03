import { systemClock } from '../../../src/base/clock.js';
import { atOnce } from '../../../src/base/slices.js';
import { RecordedDurable } from '../../../src/engine/durable/recorded/recorded-durable.js';
import { startRun, type RunResult } from '../../../src/engine/run.js';
import type { SkeinEvent } from '../../../src/events/event.js';
import { FamilyReader } from '../../../src/journal/reader.js';
import { beginSession, resumeSession } from '../../../src/journal/session.js';
import type { Store } from '../../../src/journal/store.js';
import { NO_SETTINGS } from '../../../src/plan/fields.js';
import { seededRandom } from '../../../src/testing/index.js';
import type { Scenario } from '../oracle/scenario.js';

const HOLDER = { id: 'h', host: 'h', pid: 1 };

/** One session of a random plan. */
export interface Seen {
  readonly result: RunResult;
  /** What observers were told, without what differs from session to session. */
  readonly log: readonly string[];
  /** The bodies that ran. */
  readonly performed: readonly string[];
  /** What the steps at the ends of plans were told. */
  readonly closed: readonly string[];
}

/**
 * Runs or resumes `r`, or forks it as `fork`; some bodies end at once, the others after some turns of the event loop, drawn from `order`.
 */
export async function session(scenario: Scenario, store: Store, order: string, isFork = false): Promise<Seen> {
  const random = seededRandom(order);
  const performed: string[] = [];
  const bindings: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(scenario.bindings)) {
    if (key.includes(':')) bindings[key] = value;
    else {
      const body = value as (state: unknown) => unknown;
      bindings[key] = (state: unknown, { idempotencyKey }: { idempotencyKey: string }): unknown => {
        performed.push(idempotencyKey.slice(idempotencyKey.indexOf('/') + 1));
        const turns = Math.floor(random() * 5);
        return turns === 0 ? body(state) : later(turns).then(() => body(state));
      };
    }
  }
  const definition = { plan: scenario.plan, code: {}, inputs: scenario.inputs, settings: NO_SETTINGS };
  const reader = new FamilyReader(store, 'r');
  const fork = isFork ? { runId: 'fork', parent: { family: atOnce(reader.read()) } } : { runId: 'r' };
  const opened =
    isFork || store.run('r') === undefined
      ? atOnce(beginSession(store, { ...definition, ...fork, origin: {} }, HOLDER, 1_000_000))
      : atOnce(resumeSession(store, reader, definition, HOLDER, systemClock));
  const durable = new RecordedDurable(opened);
  const log: string[] = [];
  const listeners = [durable.listen, (event: SkeinEvent) => log.push(bare(event))];
  const run = startRun(scenario.plan, { bindings, durable, listeners, inputs: scenario.inputs });
  const result = await run.result;
  durable.close(result);
  return { result, log, performed, closed: scenario.closed.splice(0) };
}

async function later(turns: number): Promise<void> {
  for (let at = 0; at < turns; at++) await new Promise((next) => setImmediate(next));
}

function bare({ at: _at, replayed: _replayed, ...event }: SkeinEvent): string {
  return JSON.stringify(event);
}
