import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { SkeinError } from '../../base/errors.js';

/**
 * Stores that this user made, or trusts: a file for each, named by the token of the store, in the user's own folder. A record says which
 * files and programs a resume starts, so one that came with a checkout or an archive is not believed unasked.
 */
function folder(): string {
  const state = process.env['XDG_STATE_HOME'];
  return join(state === undefined || state === '' ? join(homedir(), '.local/state') : state, 'skein/stores');
}

const TOKEN = /^[\da-f]{32}$/;

/** Notes that a store is this user's. @throws what keeps a file from being written */
export function noteOwn(token: string): void {
  mkdirSync(folder(), { recursive: true, mode: 0o700 });
  writeFileSync(join(folder(), token), '', { mode: 0o600 });
}

/** @throws SkeinError `SKEIN_STORE` for a store that this user has neither made nor trusted */
export function checkOwn(token: string, path: string): void {
  if (process.env['SKEIN_TRUST_STORE'] === '1') return;
  if (TOKEN.test(token) && existsSync(join(folder(), token))) return;
  throw new SkeinError(
    'SKEIN_STORE',
    `the recorded runs in ${path} were not made by you here, and say what a resume starts`,
    {
      hint: 'look at them with skein runs and skein show; when you trust them: skein runs trust, or SKEIN_TRUST_STORE=1 where nothing can be kept',
    },
  );
}
