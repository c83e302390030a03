import module from 'node:module';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../own-package.js';

/** Synchronous hooks in the same thread, which Node has from 22.15 on. The older hooks, in their own thread, are deprecated there. */
interface NewerModule {
  readonly registerHooks?: (hooks: object) => unknown;
}

let ready: Promise<void> | undefined;

/**
 * Imports a user's module, in JavaScript or TypeScript, with the running `skein`. The module is code: everything it does on load happens.
 *
 * @throws whatever the module throws, and errors that keep it from loading
 */
export async function importModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  ready ??= prepare();
  await ready;
  return (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
}

async function prepare(): Promise<void> {
  const { registerHooks } = module as NewerModule;
  if (registerHooks === undefined) module.register(new URL('dist/cli/module-hooks.js', packageRoot()).href);
  else registerHooks(await import('./module-hooks.js'));
}

/** The error for a promise that is still pending when the process has nothing left to do. */
export class NeverSettled extends Error {}

/**
 * Awaits a promise.
 *
 * @throws NeverSettled if the process would end before the promise settles; the reason of a rejected promise
 */
export async function settled<T>(work: Promise<T>): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    const idle = (): void => reject(new NeverSettled('it waits for something that never happens'));
    process.once('beforeExit', idle);
    void work.then(resolve, reject).finally(() => process.off('beforeExit', idle));
  });
}
