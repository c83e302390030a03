import { DataPlace } from '../../base/problem.js';
import { SkeinError } from '../../base/errors.js';
import { Problems, count, fields, json, listOf, milliseconds, record, text, time } from './shapes.js';

/**
 * One transition in a history.
 *
 * @example
 * const last = machine.context().history.at(-1);
 */
export interface StateTransition {
  readonly from: string;
  readonly to: string;
  readonly event: string;
  /** RFC 3339. */
  readonly timestamp: string;
}

/**
 * All artifacts at the time of a transition.
 *
 * @example
 * const first = machine.context().artifact_history?.[0];
 */
export interface ArtifactSnapshot {
  readonly from_state: string;
  /** The state that was entered, after redirects. */
  readonly to_state: string;
  readonly event: string;
  readonly values: Readonly<Record<string, string>>;
  readonly timestamp: string;
}

/**
 * Where a machine is and what it did, as JSON: the state kept between processes, in the format that PromptKit writes. Empty parts are
 * absent, except `history`.
 *
 * @example
 * const saved = JSON.parse(JSON.stringify(machine.context()));
 */
export interface Context {
  readonly current_state: string;
  /** The newest {@link MAX_HISTORY} transitions, oldest first. */
  readonly history: readonly StateTransition[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** How often each state was entered. */
  readonly visit_counts?: Readonly<Record<string, number>>;
  readonly total_tool_calls?: number;
  readonly artifacts?: Readonly<Record<string, string>>;
  /** The newest {@link MAX_HISTORY} snapshots, at most 16 MiB of them, oldest first. */
  readonly artifact_history?: readonly ArtifactSnapshot[];
  /** RFC 3339. */
  readonly started_at: string;
  readonly updated_at: string;
}

/** Keys in `metadata` that only Skein uses; PromptKit does not interpret them, but keeps them. */
export interface OwnMetadata {
  /** Milliseconds for which the machine was alive. */
  readonly 'skein.alive_ms'?: number;
  /** Number of all transitions, if `history` holds fewer. */
  readonly 'skein.transitions'?: number;
  /** Number of all snapshots, if `artifact_history` holds fewer. */
  readonly 'skein.artifact_snapshots'?: number;
}

const transition = fields<StateTransition>(
  { from: text, to: text, event: text, timestamp: time },
  ['from', 'to', 'event', 'timestamp'],
  'open',
);

const snapshot = fields<ArtifactSnapshot>(
  { from_state: text, to_state: text, event: text, values: record(text), timestamp: time },
  ['from_state', 'to_state', 'event', 'values', 'timestamp'],
  'open',
);

const context = fields<Context>(
  {
    current_state: text,
    history: listOf(transition),
    metadata: json,
    visit_counts: record(count),
    total_tool_calls: count,
    artifacts: record(text),
    artifact_history: listOf(snapshot),
    started_at: time,
    updated_at: time,
  },
  ['current_state', 'history', 'started_at', 'updated_at'],
  'open',
);

const own = fields<OwnMetadata>(
  { 'skein.alive_ms': milliseconds, 'skein.transitions': count, 'skein.artifact_snapshots': count },
  [],
  'open',
);

/** A parsed context, its metadata split in two. */
export interface ReadContext {
  readonly data: Context;
  readonly own: OwnMetadata;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** @throws SkeinError `SKEIN_CONTEXT` */
export function readContext(raw: unknown): ReadContext {
  const problems = new Problems();
  const data = context(raw, new DataPlace(''), problems);
  const all = data?.metadata ?? {};
  const ours = own(all, new DataPlace('metadata'), problems);
  if (data === undefined || ours === undefined || problems.found.length > 0) {
    const { messages } = problems;
    throw new SkeinError('SKEIN_CONTEXT', `not the context of a state machine: ${messages.join('; ').trimStart()}`, {
      hint: 'give what context() gave, as JSON',
      details: { wrong: messages },
    });
  }
  return { data, ...divided(all) };
}

/** Splits metadata into Skein's own keys and the rest. */
export function divided(all: Readonly<Record<string, unknown>>): Pick<ReadContext, 'own' | 'metadata'> {
  const ours: Record<string, unknown> = {};
  const others: [string, unknown][] = [];
  for (const [key, value] of Object.entries(all)) {
    if (OWN_KEYS.has(key)) ours[key] = value;
    else others.push([key, value]);
  }
  return { own: ours, metadata: Object.fromEntries(others) };
}

const OWN_KEYS: ReadonlySet<string> = new Set<keyof OwnMetadata>([
  'skein.alive_ms',
  'skein.transitions',
  'skein.artifact_snapshots',
]);
