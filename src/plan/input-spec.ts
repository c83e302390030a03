import type { Json } from '../base/json.js';
import type { Position } from '../base/problem.js';

/** What the value of an input is. */
export type InputType = 'text' | 'number' | 'boolean' | 'list' | 'object';

/** An input of a workflow. It becomes a channel of the first state version. */
export interface InputSpec {
  /** Channel that holds the value; in the DAG notation `inputs.NAME`. */
  readonly channel: string;
  /** Name that the user gives it. */
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
  readonly default?: Json;
  /** Values are turned into it, and others refused, before anything runs. Absent: any value is taken as it is. */
  readonly type?: InputType;
  /** The values that it may have. */
  readonly enum?: readonly Json[];
  readonly at?: Position;
}
