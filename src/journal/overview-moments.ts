import type { ErrorData } from '../base/errors.js';
import { formatDuration } from '../base/duration.js';
import { isPlainObject, present, type JsonObject } from '../base/json.js';
import { formatCensus } from '../events/census.js';
import { cachedText, callCostText } from '../events/cost-text.js';
import type { Cost, Spent, Usage } from '../events/event.js';
import { spentOf } from '../events/spending.js';
import { guardText, loopText, type GuardNote, type LoopNote } from '../events/step-notes.js';
import { supervisionText, type SupervisionNote } from '../events/supervision.js';
import { innerCallIn, spentOfCutOff, type RecordedTurn } from './overview-trace.js';
import type { EndRecord } from './record.js';
import {
  endorserText,
  type DecidedCall,
  type Endorsement,
  type GuardedCallFacts,
  type TrustFacts,
} from '../events/trust.js';

/** The topic of a moment. */
export type MomentKind =
  'session' | 'step' | 'retry' | 'warning' | 'model' | 'tool' | 'pause' | 'answer' | 'supervision' | 'guard';

/** Something that happened in a run, as one line of text. */
export interface RunMoment {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly kind: MomentKind;
  /** Path of the step; empty for the run itself. */
  readonly path: string;
  /** The line of text. Contains texts of models, tools and people unchanged. */
  readonly text: string;
  readonly ms?: number;
  readonly usage?: Usage;
  /** Cost of a model call. Absent if its price is unknown. */
  readonly cost?: Cost;
}

export type TellMoment = (moment: RunMoment) => void;

export function sessionText({ outcome, census, error }: EndRecord): string {
  const why = error === undefined ? '' : `: ${error.code}: ${error.message}`;
  return `the session ended ${outcome}: ${formatCensus(census)}${why}`;
}

export function modelText(turn: RecordedTurn | undefined, error: ErrorData | undefined): string {
  if (turn === undefined) {
    return `a model call failed${spentText(error && spentOf(error))}: ${error?.message ?? 'its record has no turn'}`;
  }
  const calls = turn.tools.length === 0 ? '' : `, calls ${turn.tools.join(', ')}`;
  const { usage, cost } = turn;
  return [
    `${turn.model}: ${usage.inputTokens} tokens in`,
    `${usage.outputTokens} out`,
    cachedText(usage),
    callCostText(cost),
  ]
    .filter((part) => part !== '')
    .join(', ')
    .concat(calls);
}

/** The cost of a call without an answer; empty if it cost nothing. */
function spentText(spent: Spent | undefined): string {
  return spent === undefined ? '' : `, ${callCostText(spent.cost)}`;
}

/** The content of a logged event; its time and step come from its log line. */
type Said = Omit<RunMoment, 'at' | 'path'>;

/** The text for a call in progress when the process died. */
export function lostText({ cost }: Spent): Pick<RunMoment, 'text' | 'cost'> {
  return { text: `a model call was under way when the process died, ${callCostText(cost)}`, ...present({ cost }) };
}

/** The content of a logged event; undefined if there is nothing to report. */
export function noteText(body: Readonly<Record<string, unknown>>): Said | undefined {
  switch (body['type']) {
    case 'step.ended': {
      const why = errorText(body['error']) ?? textIn(body['reason']);
      return { kind: 'step', text: why === undefined ? word(body['outcome']) : `${word(body['outcome'])}: ${why}` };
    }
    case 'step.retrying': {
      const attempt = `tries again (attempt ${String(body['attempt'])})`;
      return { kind: 'retry', text: `${attempt} in ${delay(body['delayMs'])}: ${errorText(body['error']) ?? ''}` };
    }
    case 'run.warning':
      return { kind: 'warning', text: String(body['message']) };
    case 'step.note':
      return isPlainObject(body['note']) ? stepNoteText(body['note']) : undefined;
    default:
      return undefined;
  }
}

function stepNoteText(note: Readonly<Record<string, unknown>>): Said | undefined {
  const why = errorText(note['error']) ?? '';
  switch (note['kind']) {
    case 'model.retrying':
      return { kind: 'retry', text: `${String(note['model'])} is asked again in ${delay(note['delayMs'])}: ${why}` };
    case 'model.fallback':
      return { kind: 'retry', text: `continues with ${String(note['to'])} instead of ${String(note['from'])}: ${why}` };
    case 'model.failed':
    case 'inner.call':
      return callMoment(note);
    case 'model.admitted':
      return { kind: 'model', text: `${String(note['model'])}: waited ${delay(note['waitedMs'])} for its turn` };
    case 'warning':
      return { kind: 'warning', text: String(note['message']) };
    case 'guard.decided':
    case 'guard.endorsed':
      return trustMoment(note);
    case 'loop.round':
      return { kind: 'step', text: loopText(note as unknown as LoopNote) };
    case 'guard.verdict':
      return { kind: 'guard', text: guardText(note as unknown as GuardNote) };
    case 'supervision.commit':
    case 'supervision.post':
    case 'supervision.reconcile':
    case 'supervision.verdict':
    case 'supervision.corrected':
    case 'supervision.accepted':
      return { kind: 'supervision', text: supervisionText(note as unknown as SupervisionNote) };
    default:
      return undefined;
  }
}

function trustMoment(note: Readonly<Record<string, unknown>>): Said {
  if (note['kind'] === 'guard.endorsed')
    return { kind: 'guard', text: `endorsed ${endorserText(note as unknown as Endorsement)}` };
  const decided = note['decision'] === 'deny' ? 'refuses' : 'asks about';
  return { kind: 'warning', text: `the guard ${decided} ${String(note['tool'])}: ${String(note['rule'])}` };
}

/** A call without a record of its own: its step ended first, or a run inside its function made it. */
function callMoment(note: Readonly<Record<string, unknown>>): Said {
  const inner = innerCallIn(note);
  if (inner === undefined) {
    const spent = spentOfCutOff(note);
    const text = `${String(note['model'])} was still answering when the step ended, ${callCostText(spent?.cost)}`;
    return { kind: 'model', text, ...present({ usage: spent?.usage, cost: spent?.cost }) };
  }
  const { model = 'a model', usage, cost } = inner;
  const text = `${model}, called by a run inside: ${usage.inputTokens} tokens in, ${usage.outputTokens} out, ${callCostText(cost)}`;
  return { kind: 'model', text, usage, ...present({ cost }) };
}

function errorText(error: unknown): string | undefined {
  if (!isPlainObject(error)) return undefined;
  return textIn(error['message']);
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function word(outcome: unknown): string {
  return String(outcome).replaceAll('_', ' ');
}

function delay(ms: unknown): string {
  return formatDuration(typeof ms === 'number' ? ms : 0);
}

type EndorsedFacts = Omit<Endorsement, 'at' | 'path' | 'by'>;

/** The guard's reports in a run: calls that it did not simply allow, and the labels of steps. */
export class DecidedCalls {
  readonly list: DecidedCall[] = [];
  /** What influenced each step; a step without an entry was influenced only by the user. */
  readonly labels = new Map<string, TrustFacts>();
  readonly endorsed: Endorsement[] = [];
  /** The source of a person's last answer about a step. */
  private readonly words = new Map<string, string | undefined>();

  /** Adds a note of a step, on any topic. */
  note(at: number, path: string, { kind, id: _id, ...facts }: JsonObject): void {
    if (kind === 'guard.decided') this.list.push({ at, path, ...(facts as unknown as GuardedCallFacts) });
    if (kind === 'guard.label') this.labels.set(path, facts as unknown as TrustFacts);
    if (kind === 'guard.endorsed') {
      const endorsed = facts as unknown as EndorsedFacts;
      const by = endorsed.endorsedBy === 'person' ? this.words.get(path) : undefined;
      this.endorsed.push({ at, path, ...endorsed, ...present({ by }) });
    }
  }

  /** A person decided about the waiting calls of a step. Anything but a clear yes is a no. */
  answered(path: string, value: unknown, by: string | undefined): void {
    this.words.set(path, by);
    const said = isPlainObject(value) ? value['answer'] : value;
    const answer = said === 'allow' ? 'allow' : 'deny';
    this.list.forEach((one, at) => {
      if (one.path === path && one.decision === 'ask' && one.answer === undefined)
        this.list[at] = { ...one, answer, ...present({ by }) };
    });
  }
}
