import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * The folder of the package that runs: the nearest one above this code with a package.json. How deep the code lies depends on how it was built.
 *
 * @example
 * readFileSync(new URL('package.json', packageRoot()));
 */
export function packageRoot(): URL {
  let folder = new URL('.', import.meta.url);
  while (!existsSync(fileURLToPath(new URL('package.json', folder)))) folder = new URL('..', folder);
  return folder;
}
