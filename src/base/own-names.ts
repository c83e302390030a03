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

/** The default places of policies: in the user's own configuration, and, as `skein.policy.yaml`, in the project. */
export function policyPlaces(cwd: string): readonly string[] {
  const config = process.env['XDG_CONFIG_HOME'];
  const own = join(config === undefined || config === '' ? join(homedir(), '.config') : config, 'skein');
  return [...NAMES.map((name) => join(own, name)), ...NAMES.map((name) => join(cwd, `skein.${name}`))];
}
