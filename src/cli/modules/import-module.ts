import module from 'node:module';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../own-package.js';

/** Hooks in the same thread, which Node has from 22.15 on; those of before, in a thread of their own, are deprecated there. */
interface NewerModule {
  readonly registerHooks?: (hooks: object) => unknown;
}

let ready: Promise<void> | undefined;

/**
 * Imports a module of a user: TypeScript too, and with the `skein` that runs. The module is code: whatever it does when it is loaded happens.
 *
 * @throws whatever the module throws, and what keeps it from being loaded
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

/** Nothing was left to do, and something was still awaited. */
export class NeverSettled extends Error {}

/**
 * What a promise gives.
 *
 * @throws NeverSettled when the process would end before the promise is settled; what the promise is rejected with
 */
export async function settled<T>(work: Promise<T>): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    const idle = (): void => reject(new NeverSettled('it waits for something that never happens'));
    process.once('beforeExit', idle);
    void work.then(resolve, reject).finally(() => process.off('beforeExit', idle));
  });
}
