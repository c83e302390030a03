import type { Json } from '../base/json.js';
import type { Template } from '../lang/values.js';
import { integer, object, TEXT, word } from './form.js';
import type { Form } from './form.js';
import { TEMPLATE } from './value-forms.js';

/** Supervision of a node: what it did is judged before anything downstream sees it. */
export interface Supervision {
  /** What is promised. Absent: the prompt of an agent node. */
  readonly instruction?: Template;
  /** Who judges: a model, when what was promised and what was done differ; or a person, always. */
  readonly by: 'model' | 'human';
  /** The supervisor's model, `provider/model`. Absent: the agent's, else that of the checkpoints, else the environment's. */
  readonly model?: string;
  /** Of a node without an agent: the model that says what is promised, and how it went. Default: `model`. */
  readonly checkpointModel?: string;
  /** Corrections at most; then a person is asked, or the step is halted. Default {@link MAX_REORIENTS}. */
  readonly maxReorients?: number;
  /** The binding `supervise:NODE` is the supervisor. */
  readonly supervisor?: 'code';
}

/** Corrections at most where a supervision says nothing. */
export const MAX_REORIENTS = 1;

/** More corrections can't be asked for. */
export const MOST_REORIENTS = 1_000;

/** The form of a supervision. */
export const SUPERVISION: Form<Supervision> = object<Supervision>({
  'instruction?': TEMPLATE,
  by: word('model', 'human'),
  'model?': TEXT,
  'checkpointModel?': TEXT,
  'maxReorients?': integer(0, MOST_REORIENTS),
  'supervisor?': word('code'),
});

/** What was promised before the work began. */
export interface Commitment {
  readonly interpretation: string;
  readonly scopeIn: readonly string[];
  readonly scopeOut: readonly string[];
  readonly approach: string;
  readonly predictedOutput: string;
  readonly confidence: 'high' | 'medium' | 'low';
  readonly assumptions: readonly string[];
}

/** What is said of the work when it is done. */
export interface Assessment {
  readonly metCommitment: boolean;
  readonly deviations: readonly string[];
  readonly concerns: readonly string[];
  readonly unexpected: readonly string[];
}

/** What differs between promise and work; with `escalate` somebody has to judge it. */
export interface Reconciled {
  readonly triggers: readonly string[];
  readonly escalate: boolean;
}

/** What a supervisor is asked to judge. */
export interface SuperviseRequest {
  /** Address of the step, `review/loop#3/critic`. */
  readonly path: string;
  /** What was asked for, with the values of this run. */
  readonly goal: string;
  /** The correction that this attempt was given. */
  readonly correction?: string;
  readonly commitment: Commitment;
  readonly assessment: Assessment;
  readonly triggers: readonly string[];
  /** What the work gave. */
  readonly output: Json;
}

/** What a supervisor says of an attempt. */
export interface Verdict {
  readonly verdict: 'continue' | 'reorient' | 'ask_human' | 'halt';
  /** Of `reorient`: what the next attempt is told. */
  readonly correction?: string;
  /** Of `ask_human`: what the person is asked. */
  readonly question?: string;
  readonly reason?: string;
}

/** Who judges what a step did. */
export interface Supervisor {
  /** Changes when it judges otherwise in a way that its source text does not show: then it judges again (J2). */
  readonly version?: string;
  /** Compares promise and work. A pure function: it is called again on a replay. */
  readonly reconcile: (commitment: Commitment, assessment: Assessment) => Reconciled;
  /** Says what happens. It is called when `reconcile` escalates, and after each correction. */
  readonly supervise: (request: SuperviseRequest) => Verdict | Promise<Verdict>;
  /** How long `supervise` may take; then the step fails with `SKEIN_TIMEOUT`. Default 600,000: ten minutes. */
  readonly timeoutMs?: number;
}

/** Milliseconds that a supervisor in code may take for a verdict where it does not say. */
export const VERDICT_MS = 600_000;

/** How something is supervised, in words: `judged by a person, at most 2 corrections`. */
export function supervisedText({ by, model, maxReorients: most = MAX_REORIENTS, supervisor }: Supervision): string {
  const other = supervisor === 'code' ? 'a supervisor of its own' : (model ?? 'a model');
  const often = most === 0 ? 'no corrections' : `at most ${most} ${most === 1 ? 'correction' : 'corrections'}`;
  return `judged by ${by === 'human' ? 'a person' : other}, ${often}`;
}

/** The key of a node's supervisor in the bindings. */
export function supervisorKey(id: string): string {
  return `supervise:${id}`;
}

/** Whether a value has the methods of a supervisor, and a time that is one. */
export function isSupervisor(value: unknown): value is Supervisor {
  if (typeof value !== 'object' || value === null) return false;
  const ms: unknown = Reflect.get(value, 'timeoutMs');
  if (ms !== undefined && !(typeof ms === 'number' && Number.isFinite(ms) && ms > 0)) return false;
  return ['reconcile', 'supervise'].every((name) => typeof Reflect.get(value, name) === 'function');
}
