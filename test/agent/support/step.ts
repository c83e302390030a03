import { setTimeout } from 'node:timers/promises';
import type { ErrorData } from '../../../src/base/errors.js';
import { SkeinError, fromErrorData, toErrorData } from '../../../src/base/errors.js';
import { canonicalHash } from '../../../src/base/hash.js';
import { present } from '../../../src/base/json.js';
import type { StepNote } from '../../../src/events/event.js';
import type { Question, StepIo } from '../../../src/engine/ports/durable.js';
import type { Identity, Past } from '../../../src/engine/ports/recording.js';
import type { CallUnderWay, StepContext } from '../../../src/engine/ports/executor.js';
import { TRUSTED, joined } from '../../../src/guard/label.js';
import { renderTemplate } from '../../../src/lang/template.js';
import type { Template } from '../../../src/lang/values.js';
import type { AgentSpec } from '../../../src/plan/agent-spec.js';
import type { AgentNode } from '../../../src/plan/plan.js';

/** A step for agent tests: effects run at once, sleeps take no time and are written down. */
export interface FakeStep extends StepContext {
  readonly notes: StepNote[];
  /** Model calls that were really made. */
  readonly made: CallUnderWay[];
  /** Names of effects, in the order in which they were started. */
  readonly effects: string[];
  readonly effectKinds: Map<string, string | undefined>;
  readonly sleeps: number[];
  readonly asked: Question[];
  /** Names of questions, in the order in which they were asked. */
  readonly askedAs: string[];
  /** Outcomes by name, as a back end that records would keep them. */
  readonly record: Map<string, Recorded>;
  /** Names of effects that really ran. */
  readonly performed: string[];
  readonly controller: AbortController;
  /** Notes of one kind. */
  of<K extends StepNote['kind']>(kind: K): Extract<StepNote, { kind: K }>[];
}

export interface FakeStepOptions {
  readonly path?: string;
  readonly runId?: string;
  readonly state?: Readonly<Record<string, string>>;
  readonly answer?: (question: Question, name: string) => unknown;
  readonly seed?: number;
  readonly definition?: string;
  /** What an earlier process recorded: used where the identity is the same. */
  readonly replay?: ReadonlyMap<string, Recorded>;
  /** The process dies when an effect of this name starts: it never ends, nor does any after it. */
  readonly dieAt?: string;
}

/** An outcome, with what it depends on. */
export interface Recorded {
  readonly id: string | undefined;
  readonly outcome: { readonly value: unknown } | { readonly error: ErrorData };
  readonly past: Past;
}

/** What a person is asked; without somebody who answers it rejects. */
function person(options: FakeStepOptions, asked: Question[], askedAs: string[]) {
  return (name: string, question: Question): Promise<unknown> => {
    asked.push(question);
    askedAs.push(name);
    const answer = options.answer?.(question, name);
    if (answer !== undefined) return Promise.resolve(answer);
    return Promise.reject(new SkeinError('SKEIN_QUESTION', `waits for an answer to: ${question.text}`));
  };
}

/** A record counts for what has the same digest, which learns what had been heard and written. */
function knownAs(identity: Identity | undefined, known: Recorded | undefined): Recorded | undefined {
  if (known === undefined || known.id !== identity?.digest()) return undefined;
  identity?.reused?.(known.past);
  return known;
}

function pastOf(identity: Identity | undefined): Past {
  return present({ heard: identity?.heard?.(), wrote: identity?.wrote?.() });
}

export function fakeStep(node: AgentNode, options: FakeStepOptions = {}): FakeStep {
  const notes: StepNote[] = [];
  const made: CallUnderWay[] = [];
  const effects: string[] = [];
  const effectKinds = new Map<string, string | undefined>();
  const sleeps: number[] = [];
  const asked: Question[] = [];
  const controller = new AbortController();
  const askedAs: string[] = [];
  const record = new Map<string, Recorded>();
  const performed: string[] = [];
  let draw = options.seed ?? 1;
  let dead = false;
  const runId = options.runId ?? 'run-1';
  const path = options.path ?? node.id;
  const ask = person(options, asked, askedAs);

  async function outcomeOf(name: string, effect: (io: StepIo) => unknown): Promise<Recorded['outcome']> {
    performed.push(name);
    const io: StepIo = {
      idempotencyKey: `${runId}/${path}@${name}`,
      signal: controller.signal,
      ask: (what, question) => ask(`${name}/${what}`, question),
    };
    try {
      const value = await effect(io);
      // Only JSON comes back through the port.
      return { value: value === undefined ? value : JSON.parse(JSON.stringify(value)) };
    } catch (error) {
      return { error: toErrorData(error) };
    }
  }

  return {
    runId,
    path,
    node,
    attempt: 1,
    tools: {},
    influence: influenceOf(),
    hears: () => undefined,
    notes,
    effects,
    effectKinds,
    sleeps,
    asked,
    askedAs,
    record,
    performed,
    controller,
    of: (kind) => notes.filter((note) => note.kind === kind) as never,
    read: (ref) => options.state?.[ref.channel],
    readEnd: (channel) => options.state?.[channel],
    isReduced: () => false,
    watch: () => ({
      state: options.state ?? {},
      reads: () => undefined,
      current: () => '',
      reused: () => undefined,
      lostReads: () => undefined,
    }),
    renderJson: (source) => source,
    render: (template: Template) => renderTemplate(template, (channel) => options.state?.[channel]),
    async effect(name, effect, how) {
      if (effectKinds.has(name)) throw new Error(`the effect name ${name} is used twice`);
      effects.push(name);
      effectKinds.set(name, how?.effect);
      dead ||= name === options.dieAt;
      if (dead) return new Promise<never>(() => undefined);
      const { identity, cleanup = false, timeoutMs } = how ?? {};
      const known = cleanup ? undefined : knownAs(identity, options.replay?.get(name));
      const outcome = known?.outcome ?? (await inTime(outcomeOf(name, effect), timeoutMs));
      const waits = 'error' in outcome && ['SKEIN_QUESTION', 'SKEIN_CANCELLED'].includes(outcome.error.code);
      if (!waits && !dead) record.set(name, known ?? { id: identity?.digest(), outcome, past: pastOf(identity) });
      if (dead) return new Promise<never>(() => undefined);
      if ('error' in outcome) throw fromErrorData(outcome.error);
      return outcome.value as never;
    },
    isTaken: () => false,
    isRecorded: () => false,
    callsOnce: () => undefined,
    made,
    underWay: (call) => {
      made.push(call);
    },
    sleep(_name, ms) {
      sleeps.push(ms);
      return Promise.resolve();
    },
    again: () => undefined,
    backoff(_name, ms) {
      sleeps.push(ms);
      return Promise.resolve();
    },
    ask,
    note: (note) => {
      notes.push(note);
    },
    now: () => Date.UTC(2026, 0, 2, 3, 4, 5),
    worked: () => 0,
    definition: () => options.definition ?? canonicalHash({ ...node }),
    random: () => {
      draw = (draw * 16_807) % 2_147_483_647;
      return draw / 2_147_483_647;
    },
  };
}

export function agentNode(spec: Partial<AgentSpec> = {}, prompt: Template = ['Review the change.']): AgentNode {
  return {
    kind: 'agent',
    id: 'review',
    prompt,
    output: 'steps.review.output',
    agent: { name: 'reviewer', instructions: ['You review code.'], models: ['openai/test-model'], ...spec },
  };
}

/** What hangs is given up at once, where it has a limit. */
async function inTime(running: Promise<Recorded['outcome']>, ms: number | undefined): Promise<Recorded['outcome']> {
  if (ms === undefined) return await running;
  const late = { error: toErrorData(new SkeinError('SKEIN_TIMEOUT', `it took longer than ${ms} ms`)) };
  const stop = new AbortController();
  const waiting = setTimeout(50, late, { signal: stop.signal }).catch(() => late);
  const outcome = await Promise.race([running, waiting]);
  stop.abort();
  return outcome;
}

/** What influences a step on its own. */
function influenceOf(): StepContext['influence'] {
  let all = TRUSTED;
  return {
    label: () => all,
    add: (label) => {
      all = joined(all, label);
    },
  };
}
