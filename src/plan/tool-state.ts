import { sourceText } from './made-of.js';

type State = Readonly<Record<string, unknown>>;

/** `state` that no property is read of. */
const AS_A_WHOLE = /\bstate\b(?!\s*(?:\?\.|\.|\[))/;

/**
 * What a tool sees of the state as `io.state`. One that reads properties of it by name gets the view, so that nothing else counts as read; any
 * other gets plain data, which it may print, clone and hand on.
 */
export function stateOfTool(fn: unknown, view: State): State {
  const gives = typeof fn === 'function' && AS_A_WHOLE.test(sourceText(fn));
  return gives ? Object.freeze({ ...view }) : view;
}
