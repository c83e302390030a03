import { isAbsolute, relative, sep } from 'node:path';

/**
 * True when `path` is `root` or below it, compared by segments. Both must be absolute and normal.
 *
 * @example
 * isInside('/srv/root', '/srv/root-evil'); // false
 */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
