import { fileURLToPath } from 'node:url';
import { packageRoot } from '../package-root.js';
import { versionNumber } from '../version-number.js';

/** How the package that runs is named as a dependency. */
export interface OwnPackage {
  /** A version, or `file:` and the folder of a checkout. */
  readonly dependency: string;
  /** The folder of the checkout; absent for an installed package. */
  readonly checkout: string | undefined;
}

/**
 * The package that runs, as a dependency of a new project. One that was not installed from a registry, such as a checkout, is named by its folder:
 * no registry may have its version.
 *
 * @example
 * ownPackage().dependency; // '0.1.0', or 'file:/home/me/skein'
 */
export function ownPackage(): OwnPackage {
  const root = fileURLToPath(packageRoot()).replace(/[/\\]$/, '');
  const isInstalled = /[/\\]node_modules[/\\]/.test(root);
  return isInstalled
    ? { dependency: versionNumber(), checkout: undefined }
    : { dependency: `file:${root}`, checkout: root };
}
