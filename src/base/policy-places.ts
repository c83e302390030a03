import { homedir } from 'node:os';
import { join } from 'node:path';

const NAMES = ['policy.yaml', 'policy.yml', 'policy.toml'] as const;

/** Where policies are looked for that nobody names: in the user's own configuration, and, as `skein.policy.yaml`, in the project. */
export function policyPlaces(cwd: string): readonly string[] {
  const config = process.env['XDG_CONFIG_HOME'];
  const own = join(config === undefined || config === '' ? join(homedir(), '.config') : config, 'skein');
  return [...NAMES.map((name) => join(own, name)), ...NAMES.map((name) => join(cwd, `skein.${name}`))];
}
