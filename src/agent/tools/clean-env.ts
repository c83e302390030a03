/** Variables that programs need to find their files and to use the user's language. */
const BASE = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TERM',
  'TZ',
  'TMPDIR',
  'TMP',
  'TEMP',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  // Windows programs find nothing without these.
  'SYSTEMROOT',
  'COMSPEC',
  'PATHEXT',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
];

/** Variables that build tools read. None of them is meant to hold a secret. */
const DEVELOPMENT = [
  'CI',
  'NODE_ENV',
  'NO_COLOR',
  'NO_PROXY',
  'VIRTUAL_ENV',
  'GOPATH',
  'GOROOT',
  'JAVA_HOME',
  'CARGO_HOME',
  'RUSTUP_HOME',
  'NVM_DIR',
  'PNPM_HOME',
  'PYENV_ROOT',
  'DOTNET_ROOT',
];

const SECRET_NAME = /KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|SESSION|PRIVATE/i;

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a child process may see of an environment, so that a program that a model chose cannot print a key of the user. */
export function cleanEnvironment(env: Environment, purpose: 'tool-server' | 'shell'): Record<string, string> {
  const names = purpose === 'shell' ? [...BASE, ...DEVELOPMENT] : BASE;
  const kept: Record<string, string> = {};
  for (const name of Object.keys(env)) {
    const value = env[name];
    const known = names.includes(name) || /^(?:LC|XDG)_[A-Z_]+$/.test(name);
    // Values that begin like this are shell functions.
    if (value === undefined || !known || SECRET_NAME.test(name) || value.startsWith('()')) continue;
    kept[name] = value;
  }
  return kept;
}
