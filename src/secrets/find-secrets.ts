import { Buffer } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { unescape } from 'node:querystring';
import { parseEnv } from 'node:util';
import type { AgentSpec } from '../plan/agent-spec.js';
import type { Plan } from '../plan/plan.js';
import type { ToolUse } from '../plan/tool-use.js';
import { variablesIn } from '../base/text.js';
import { SHORTEST_SECRET } from './redact.js';

/** Ordinary settings in variables whose names resemble those of secrets. */
const SAYS_NOTHING =
  /^\s*(?:true|false|none|null|undefined|yes|auto|default|disabled|enabled|required|optional|\d{1,5})\s*$/i;

export interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The project's folder, whose `.env` files contain more. */
  readonly folder?: string | undefined;
  /** The plan: the key variables of its providers, and the settings of its tool servers. */
  readonly plan?: Plan | undefined;
  /** Input values by name; inputs with a name such as `api_key` or `password` are secrets. */
  readonly inputs?: Readonly<Record<string, unknown>> | undefined;
}

/** Names of variables and inputs that indicate a secret. */
const TELLING =
  /SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|PRIVATE_?KEY|API_?KEY|ACCESS_?KEY|(?:^|[_.-])TOKENS?(?:$|[_.-])|[A-Z]TOKEN$|AUTHORIZATION/i;
/** Names that indicate a secret in an environment, where such a variable is rarely anything else. */
const TELLING_IN_ENV = /(?:KEY|_PASS|_PWD|_PAT|_AUTH|COOKIE)\d*$/i;
/** Names of variables that state where a secret is, not the secret itself. */
const PLACES = /_(?:FILE|PATH|DIR|SOCK|SOCKET|URL|URI|HOST|NAME|TYPE|ENV)$/i;
/** Values that are keys whatever their name. */
const KEY_VALUE =
  /^(?:sk-|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abprs]-|AIza|hf_|npm_|pypi-|eyJ[\w-]+\.eyJ)|-----BEGIN [A-Z ]*PRIVATE KEY-----/;

/**
 * Returns the values that must not appear in any record: values of environment variables that are named like keys, tokens, passwords or
 * secrets or look like known kinds of keys, also in the project's `.env` files; passwords inside URLs; variables that the plan names as
 * keys of its providers; and inputs that are named like secrets. Leaves out values of fewer than 4 characters, and words such as `true`.
 *
 * @example
 * findSecrets({ env: { OPENAI_API_KEY: 'sk-0123456789' } }); // ['sk-0123456789']
 */
export function findSecrets(sources: SecretSources): readonly string[] {
  const { env, folder, plan, inputs = {} } = sources;
  const found = new Set<string>();
  const add = (value: unknown): void => {
    if (typeof value === 'string' && value.trim().length >= SHORTEST_SECRET && !SAYS_NOTHING.test(value))
      found.add(value);
  };
  const files = folder === undefined ? [] : envFilesIn(folder);
  for (const [name, value] of [env, ...files].flatMap((variables) => Object.entries(variables))) {
    if (value === undefined) continue;
    if (isSecret(name, value)) add(value);
    for (const part of urlSecrets(value)) add(part);
  }
  for (const [name, value] of Object.entries(inputs)) if (TELLING.test(name)) add(value);
  if (plan !== undefined) for (const value of planSecrets(plan, env)) add(value);
  return [...found];
}

function isSecret(name: string, value: string): boolean {
  if (KEY_VALUE.test(value)) return true;
  return !PLACES.test(name) && (TELLING.test(name) || TELLING_IN_ENV.test(name));
}

function urlSecrets(value: string): readonly string[] {
  const userInfo = /^[a-z][a-z0-9+.-]*:\/\/([^/?#\s]*)@/i.exec(value)?.[1];
  if (userInfo === undefined) return [];
  const colon = userInfo.indexOf(':');
  const secret = colon < 0 ? userInfo : userInfo.slice(colon + 1);
  return [secret, unescape(secret)];
}

function* planSecrets(plan: Plan, env: SecretSources['env']): Generator {
  // A default is the input's value if none is given.
  for (const input of plan.inputs) if (TELLING.test(input.name)) yield input.default;
  for (const node of plan.nodes) {
    if ('plan' in node) yield* planSecrets(node.plan, env);
    if (node.kind === 'task' && node.tool !== undefined) {
      yield* serverSecrets(node.tool.mcpServers, env);
      const variables = Object.entries(node.tool.env ?? {});
      yield* settingSecrets(Object.fromEntries(variables.map(([name, text]) => [name, writtenOf(text)])), env);
    }
    if (node.kind !== 'agent') continue;
    const { provider, mcpServers } = node.agent;
    const variable = provider?.apiKeyEnv;
    if (variable !== undefined && Object.hasOwn(env, variable)) yield env[variable];
    yield* serverSecrets(mcpServers, env);
  }
}

function* serverSecrets(servers: AgentSpec['mcpServers'] = {}, env: SecretSources['env']): Generator {
  for (const { env: variables, headers = {}, url } of Object.values(servers)) {
    yield* settingSecrets(variables, env);
    yield* settingSecrets(headers, env);
    // What stands in a header is what lets its sender in, whatever the header and the variable are called.
    for (const value of Object.values(headers)) if (variablesIn(value).length > 0) yield* givenSecrets(value, env);
    if (url !== undefined) yield* urlSecrets(url);
  }
}

/** What a template says itself: no value of a run. */
function writtenOf(text: NonNullable<ToolUse['env']>[string]): string {
  return text.filter((piece) => typeof piece === 'string').join('');
}

function* settingSecrets(settings: Readonly<Record<string, string>> = {}, env: SecretSources['env']): Generator {
  for (const [name, value] of Object.entries(settings))
    if (isSecret(name, value) || NAMED_A_SECRET.test(value)) yield* givenSecrets(value, env);
}

/** GitHub's `${{ secrets.NAME }}`. */
const NAMED_A_SECRET = /\$\{\{\s*secrets\./;

function givenSecrets(value: string, env: SecretSources['env']): readonly (string | undefined)[] {
  const names = variablesIn(value);
  if (names.length > 0) return names.map((name) => (Object.hasOwn(env, name) ? env[name] : undefined));
  return [value, value.replace(/^(?:Bearer|Basic|Token)\s+/i, '')];
}

/** Files with such names contain only examples. */
const SHOWS_ONLY = /\.(?:example|sample|template|dist|defaults?)$/i;
/** Bytes to read of the files of a folder. */
const MOST_BYTES = 256 * 1024;

/** The variables of the files `.env` and `.env.*` of a folder, file by file. An unreadable file has none. */
function envFilesIn(folder: string): readonly Readonly<Record<string, string | undefined>>[] {
  let names: readonly string[];
  try {
    names = readdirSync(folder).filter((name) => /^\.env(?:\.|$)/.test(name) && !SHOWS_ONLY.test(name));
  } catch {
    return [];
  }
  let left = MOST_BYTES;
  return names.toSorted().map((name) => {
    try {
      const bytes = bytesOf(join(folder, name), left);
      left -= bytes.length;
      return parseEnv(bytes.toString('utf8'));
    } catch {
      return {};
    }
  });
}

/** Empty for anything but a regular file of at most `most` bytes: a link can lead to a device or a pipe, whose end might not come. */
function bytesOf(file: string, most: number): Buffer {
  // Opening a device can have effects.
  if (!statSync(file).isFile()) return Buffer.alloc(0);
  // If it has become a pipe by now, nothing waits for a writer.
  const opened = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const info = fstatSync(opened);
    const bytes = Buffer.alloc(info.isFile() && info.size <= most ? info.size : 0);
    return bytes.subarray(0, readSync(opened, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(opened);
  }
}
