import type { Problem } from '../../../src/base/problem.js';
import { thrown } from '../../thrown.js';

/** The problems for which a graph is refused. */
export function problemsOf(flow: { compile(): unknown }): readonly Problem[] {
  const { code, details } = thrown(() => flow.compile());
  if (code !== 'SKEIN_DEFINITION') throw new Error(`not about the definition: ${code}`);
  return (details as unknown as { readonly problems: readonly Problem[] }).problems;
}

/** The codes of the errors among them, in order. */
export function codesOf(flow: { compile(): unknown }): readonly string[] {
  return problemsOf(flow).flatMap(({ code, severity }) => (severity === 'error' ? [code] : []));
}
