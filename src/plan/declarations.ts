import type { Json } from '../base/json.js';

/** What may happen although others had a say in it: in a file that the user trusts, and in a policy from outside of the project. */
export interface Declarations {
  /** `example.com`; `*.example.com` is it and every host below it. A port belongs to the name. */
  readonly hosts?: readonly string[];
  /** Whole command lines, word by word. */
  readonly commands?: readonly (readonly string[])[];
  readonly sends?: readonly DeclaredSend[];
}

/** A call that may be made although others had a say in it. */
export interface DeclaredSend {
  readonly tool: string;
  /** Arguments with the only value that they may have. Nobody but the user may have had a say in these values. */
  readonly fixed?: Readonly<Record<string, Json>>;
  /** Arguments that may have any value. */
  readonly free?: readonly string[];
}
