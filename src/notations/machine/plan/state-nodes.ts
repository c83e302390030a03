import type { Spec } from '../../../machine/pure/spec.js';

/** Characters of a state's name that stand in the id of its node as they are; a name may have any others. */
const PLAIN = /[A-Za-z0-9_-]/;

/** A longer name is cut in the id, which may have 200 characters. */
const LONGEST = 150;

/** The ids of the nodes of states. A transient state is entered by a node of its own, where nothing of what was said before is seen. */
export interface StateNodes {
  readonly speaks: ReadonlyMap<string, string>;
  readonly enters: ReadonlyMap<string, string>;
  /** Behind compositions. */
  readonly ends: ReadonlyMap<string, string>;
}

/**
 * Ids for all states of a spec, whatever their names: `review` is `state.review`, `a/b` is `state.a.2f.b`.
 *
 * @example
 * stateNodes(spec).speaks.get('review'); // 'state.review'
 */
export function stateNodes(spec: Spec): StateNodes {
  const ids = Object.keys(spec.states).map((state, at) => [state, idOf(state, at)] as const);
  const named = (kind: string): Map<string, string> => new Map(ids.map(([state, id]) => [state, `${kind}.${id}`]));
  return { speaks: named('state'), enters: named('fresh'), ends: named('said') };
}

function idOf(state: string, at: number): string {
  const parts = Array.from({ length: state.length }, (_, index) => {
    const one = state.charAt(index);
    return PLAIN.test(one) ? one : `.${state.charCodeAt(index).toString(16)}.`;
  });
  const id = parts.join('');
  return id.length <= LONGEST ? id : `${id.slice(0, LONGEST)}.n${at}`;
}
