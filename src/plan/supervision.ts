import type { Json } from '../base/json.js';
import { countText } from '../base/text.js';
import type { Template } from '../lang/values.js';
import { integer, object, TEXT, word, type Form } from './form.js';
import { TEMPLATE } from './value-forms.js';

/** Supervision of a node: its work is judged before anything downstream reads it. */
export interface Supervision {
  /** The promise. Absent: the prompt of an agent node. */
  readonly instruction?: Template;
  /** Who judges: a model, if promise and work differ; or a person, always. */
  readonly by: 'model' | 'human';
  /** The supervisor's model, `provider/model`. Absent: the agent's, else the checkpoints' model, else the environment's. */
  readonly model?: string;
  /** Only for a node without an agent: the model that states the promise and assesses the work. Default: `model`. */
  readonly checkpointModel?: string;
  /** Maximum number of corrections; then a person is asked, or the step is halted. Default {@link MAX_REORIENTS}. */
  readonly maxReorients?: number;
  /** The binding `supervise:NODE` is the supervisor. */
  readonly supervisor?: 'code';
}

/** Default maximum number of corrections. */
export const MAX_REORIENTS = 1;

export const MOST_REORIENTS = 1_000;

export const SUPERVISION: Form<Supervision> = object<Supervision>({
  'instruction?': TEMPLATE,
  by: word('model', 'human'),
  'model?': TEXT,
  'checkpointModel?': TEXT,
  'maxReorients?': integer(0, MOST_REORIENTS),
  'supervisor?': word('code'),
});

/** The promise before the work begins. */
export interface Commitment {
  readonly interpretation: string;
  readonly scopeIn: readonly string[];
  readonly scopeOut: readonly string[];
  readonly approach: string;
  readonly predictedOutput: string;
  readonly confidence: 'high' | 'medium' | 'low';
  readonly assumptions: readonly string[];
}

/** The assessment of the completed work. */
export interface Assessment {
  readonly metCommitment: boolean;
  readonly deviations: readonly string[];
  readonly concerns: readonly string[];
  readonly unexpected: readonly string[];
}

/** The differences between promise and work; `escalate` requests a judgement. */
export interface Reconciled {
  readonly triggers: readonly string[];
  readonly escalate: boolean;
}

/** The material that a supervisor judges. */
export interface SuperviseRequest {
  /** Path of the step, `review/loop#3/critic`. */
  readonly path: string;
  /** The task, with the values of this run. */
  readonly goal: string;
  /** The correction given to this attempt. */
  readonly correction?: string;
  readonly commitment: Commitment;
  readonly assessment: Assessment;
  readonly triggers: readonly string[];
  /** The result of the work. */
  readonly output: Json;
}

/** A supervisor's verdict on an attempt. */
export interface Verdict {
  readonly verdict: 'continue' | 'reorient' | 'ask_human' | 'halt';
  /** Of `reorient`: the instruction for the next attempt. */
  readonly correction?: string;
  /** Of `ask_human`: the question to the person. */
  readonly question?: string;
  readonly reason?: string;
}

/** Judges the work of a step. */
export interface Supervisor {
  /** Changes if the supervisor judges differently in a way that its source text does not show: it then judges again (J2). */
  readonly version?: string;
  /** Compares promise and work. Must be a pure function: a replay calls it again. */
  readonly reconcile: (commitment: Commitment, assessment: Assessment) => Reconciled;
  /** Returns the verdict. Called if `reconcile` escalates, and after each correction. */
  readonly supervise: (request: SuperviseRequest) => Verdict | Promise<Verdict>;
  /** Milliseconds until `supervise` times out, which fails the step with `SKEIN_TIMEOUT`. Default 600,000: ten minutes. */
  readonly timeoutMs?: number;
}

/** Default time limit of a verdict by code, in milliseconds. */
export const VERDICT_MS = 600_000;

/** Formats a supervision: `judged by a person, at most 2 corrections`. */
export function supervisedText({ by, model, maxReorients: most = MAX_REORIENTS, supervisor }: Supervision): string {
  const other = supervisor === 'code' ? 'a supervisor of its own' : (model ?? 'a model');
  const often = most === 0 ? 'no corrections' : `at most ${countText(most, 'correction')}`;
  return `judged by ${by === 'human' ? 'a person' : other}, ${often}`;
}

/** Returns the key of a node's supervisor in the bindings. */
export function supervisorKey(id: string): string {
  return `supervise:${id}`;
}

/** Returns whether a value has the methods of a supervisor, and a valid time limit. */
export function isSupervisor(value: unknown): value is Supervisor {
  if (typeof value !== 'object' || value === null) return false;
  const ms: unknown = Reflect.get(value, 'timeoutMs');
  if (ms !== undefined && !(typeof ms === 'number' && Number.isFinite(ms) && ms > 0)) return false;
  return ['reconcile', 'supervise'].every((name) => typeof Reflect.get(value, name) === 'function');
}
