import { homedir } from 'node:os';
import { join } from 'node:path';

/** Name of the folder that holds the store of runs of a project. */
export const STORE_FOLDER = '.skein';

/** Name of the folder of run folders, unless a workflow names another one. */
export const AUDIT_FOLDER = '.workflow-runs';

/** Name of the file by which Skein knows the run folders that it made. */
export const RUN_MARKER = '.skein-run';

/** Name of the file that keeps a folder out of git; written only into a folder that Skein made under its own name. */
export const IGNORE_FILE = '.gitignore';

const NAMES = ['policy.yaml', 'policy.yml', 'policy.toml'] as const;

/** Where policies are looked for that nobody names: in the user's own configuration, and, as `skein.policy.yaml`, in the project. */
export function policyPlaces(cwd: string): readonly string[] {
  const config = process.env['XDG_CONFIG_HOME'];
  const own = join(config === undefined || config === '' ? join(homedir(), '.config') : config, 'skein');
  return [...NAMES.map((name) => join(own, name)), ...NAMES.map((name) => join(cwd, `skein.${name}`))];
}
