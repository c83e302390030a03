import type { Problem } from '../../base/problem.js';
import type { PackOptions } from './read-pack.js';
import { readPack } from './read-pack.js';

/**
 * Checks a whole pack and gives all problems: those of a text with their places, in their order; those of data without. Nothing is run, started or written.
 *
 * @throws SkeinError `SKEIN_USAGE` for data that is not JSON
 * @example
 * for (const problem of validatePack(text, { file: 'support.pack.json' })) console.error(formatProblem(problem));
 */
export function validatePack(pack: string | object, options: PackOptions = {}): readonly Problem[] {
  return readPack(pack, options).problems;
}
