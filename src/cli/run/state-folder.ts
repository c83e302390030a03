import { homedir } from 'node:os';
import { join } from 'node:path';

/** A folder of the user's own, in which Skein notes what this user trusts: nothing in a checkout can write there. */
export function stateFolder(name: string): string {
  const state = process.env['XDG_STATE_HOME'];
  return join(state === undefined || state === '' ? join(homedir(), '.local/state') : state, 'skein', name);
}
