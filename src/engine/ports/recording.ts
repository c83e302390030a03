import type { Label } from '../../guard/label.js';
import type { LostCall, Probed } from '../../plan/probe.js';
import type { FreedArguments } from '../../plan/tool-use.js';

/** How an effect is recorded, and handled after a crash (J6). */
export interface StepOptions {
  /** `once` and `idempotent` effects are journaled before they start. A `once` effect without a recorded end never runs again unasked. */
  readonly effect?: 'read' | 'idempotent' | 'once' | undefined;
  /** What the outcome depends on in addition to the key (J2). Absent if it depends on nothing else. */
  readonly identity?: Identity;
  /**
   * A function of its reads, without side effects: a synchronous result is used before it is committed. It is recorded and reused like any
   * other.
   */
  readonly pure?: boolean;
  /** A synchronous result may be lost in a crash, since a new one serves as well. Used and recorded like that of a pure effect. */
  readonly losable?: boolean;
  /** Frees what the step holds: performed on a replay too, and never makes a failed step count as finished. */
  readonly cleanup?: boolean;
  /** What is done about a `once` effect that was started, and whose end is not known. */
  readonly lost?: Lost;
  /** Stops the clocks of its step while a person is asked about that. Returns a function that starts them again. */
  stopsClock?(): () => void;
}

/** Finds out about a lost `once` effect, and says what it gives if it was done (J6). */
export interface Lost {
  /** JSON shown to a person who is asked whether it was done. */
  readonly evidence?: unknown;
  /** Its value if a person says that it was done. */
  value?(): unknown;
  /** Finds out by itself, with the value if it was done. Undefined: not known, and a person is asked. Never rejects. */
  readonly probe?: ((call: LostCall) => Promise<Probed>) | undefined;
}

/** What an outcome depends on (J2). Read only by back ends that record. */
export interface Identity {
  /** Digest of the definition and of the inputs. */
  digest(): string;
  /** Further digests that count as the same: a record under one of them is valid. */
  also?(): readonly string[];
  /** Digests, by name, of what the effect read. Called after the effect has ended. */
  reads?(): Readonly<Record<string, string>> | undefined;
  /** The current digest of something that was read before. A record counts only if all of them are the same. */
  current?(name: string): string;
  /** The label of runs that the effect started. Called after the effect has ended. */
  heard?(): Label | undefined;
  /** Files that the effect, or those runs, wrote after something untrusted. Called after the effect has ended. */
  wrote?(): readonly string[] | undefined;
  /** Arguments of calls inside the effect that a person left free for the rest of the run. Called after the effect has ended. */
  freed?(): readonly FreedArguments[] | undefined;
  /** A record is used instead of the effect, with what the effect read and heard then. */
  reused?(then: Past): void;
}

/** The recorded past of an effect. */
export interface Past {
  readonly reads?: Readonly<Record<string, string>>;
  readonly heard?: Label;
  readonly wrote?: readonly string[];
  readonly freed?: readonly FreedArguments[];
}
