import type { Condition } from '../lang/values.js';

/** An edge that always fires. */
export interface Edge {
  readonly from: string;
  readonly to: string;
}

/** The name of a route target that ends the branch. */
export const END = 'END';

/**
 * A choice among targets after a node (E3). Exactly one of `choose` and `cases` decides: `choose: 'code'` calls the binding `route:NODE`;
 * `choose: 'result'` lets the node's own result decide, as `{ update, goto }`; `cases` are tried in order, `otherwise` is taken if none
 * holds. `targets: undefined` with `choose` means that any node may be chosen; `mentions` are then the known targets.
 */
export interface Route {
  readonly from: string;
  readonly choose?: 'code' | 'result';
  /** The nodes behind a chooser's answers: answer -> node. Without it the answer is a node name. */
  readonly map?: Readonly<Record<string, string>>;
  readonly cases?: readonly RouteCase[];
  readonly otherwise?: readonly string[];
  readonly targets?: readonly string[];
  /** With `choose: 'result'`: nodes of the surrounding plan to continue at: `goto(name, update, { parent: true })`. */
  readonly parent?: readonly string[];
  /** The nodes that appear as string literals in the chooser's source, if no targets are declared (E6). */
  readonly mentions?: readonly string[];
}

/** One case of a declarative route: taken when all conditions hold. */
export interface RouteCase {
  readonly when: readonly Condition[];
  readonly to: readonly string[];
}

/**
 * When a node fires, by the tokens on its in-edges (E2). `each`: every live token fires it separately, and dead ones are not waited for;
 * for nodes where paths meet of which one is taken at a time.
 */
export type Join = 'all' | 'any' | 'each' | 'settled' | { readonly quorum: number };

/**
 * What happens when a step fails (E8): end the run; continue with a dead token that carries the failure; continue, but skip every node that
 * depends on it; let independent nodes end and then end the run with all such failures; continue with a live token, as if the step had no
 * result; or go to a handler node.
 */
export type OnError = 'fail' | 'continue' | 'skipDependents' | 'settle' | 'ignore' | { readonly to: string };
