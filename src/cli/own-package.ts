import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * The folder of the running package: the nearest folder above this code with a package.json. The depth of this code depends on the build.
 *
 * @throws Error if there is none
 */
export function packageRoot(): URL {
  let folder = new URL('.', import.meta.url);
  while (!existsSync(fileURLToPath(new URL('package.json', folder)))) {
    const above = new URL('..', folder);
    if (above.href === folder.href) throw incomplete();
    folder = above;
  }
  return folder;
}

// A plain error without a code: printing the version loads nothing else.
function incomplete(): Error {
  return new Error(
    'the package.json of skein is not above its code: install the whole package, not only its dist folder',
  );
}

/** The version in package.json. */
export function versionNumber(): string {
  const data: unknown = JSON.parse(readFileSync(new URL('package.json', packageRoot()), 'utf8'));
  const version: unknown = typeof data === 'object' && data !== null && 'version' in data ? data.version : undefined;
  return typeof version === 'string' ? version : 'unknown';
}

export interface OwnPackage {
  /** A version, or `file:` and the folder of a checkout. */
  readonly dependency: string;
  /** The folder of the checkout. Absent for an installed package. */
  readonly checkout: string | undefined;
}

/** The running package as a dependency of a new project: its version, or for a checkout its folder, `file:/home/me/skein`. */
export function ownPackage(): OwnPackage {
  const root = fileURLToPath(packageRoot()).replace(/[/\\]$/, '');
  const isInstalled = /[/\\]node_modules[/\\]/.test(root);
  return isInstalled
    ? { dependency: versionNumber(), checkout: undefined }
    : { dependency: `file:${root}`, checkout: root };
}
