import { homedir } from 'node:os';
import { join } from 'node:path';

/** Name of the folder that contains a project's store of runs. */
export const STORE_FOLDER = '.skein';

/** Name of the folder that contains run folders, unless a workflow names another one. */
export const AUDIT_FOLDER = '.workflow-runs';

/** Name of the file that marks run folders made by Skein. */
export const RUN_MARKER = '.skein-run';

/** Name of the file that excludes a folder from git; written only into a folder that Skein made under its own name. */
export const IGNORE_FILE = '.gitignore';

const NAMES = ['policy.yaml', 'policy.yml', 'policy.toml'] as const;

/** The user's own folders: the configuration, and what Skein keeps of the user's decisions. Nothing in a checkout can write there. */
export function userFolders(): { readonly config: string; readonly state: string } {
  return { config: folderOf('XDG_CONFIG_HOME', '.config'), state: folderOf('XDG_STATE_HOME', '.local/state') };
}

function folderOf(variable: string, usual: string): string {
  const named = process.env[variable];
  return join(named === undefined || named === '' ? join(homedir(), usual) : named, 'skein');
}

/** The default places of policies: in the user's own configuration, and, as `skein.policy.yaml`, in the project. */
export function policyPlaces(cwd: string): readonly string[] {
  const { config } = userFolders();
  return [...NAMES.map((name) => join(config, name)), ...NAMES.map((name) => join(cwd, `skein.${name}`))];
}
