import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { SkeinError } from '../../base/errors.js';
import { isPlainObject, present } from '../../base/json.js';
import { definitionError } from '../../base/problem.js';
import type { TrustFlags } from '../run/trust-gate.js';
import type { WorkflowOptions } from '../../yaml.js';
import { toolNames } from '../run/load-workflow.js';
import type { KeptFlags } from '../run/run-flags.js';

/** The prompt and functions that a pack uses in a conversation. */
export type Brought = NonNullable<WorkflowOptions['pack']>;

type BringingFlags = Pick<KeptFlags, 'agent' | 'prompt' | 'tools' | 'mock'> & TrustFlags;

/** Named parts that a module may export besides functions. */
const PARTS = ['tools', 'approve', 'validators', 'mcpServers'] as const;

/**
 * Returns what the flags add to a pack: its prompt and the functions of a module. Without models, the script replaces missing functions.
 *
 * @throws SkeinError `SKEIN_FILE`, `SKEIN_USAGE`
 */
export async function broughtBy(flags: BringingFlags, cwd: string): Promise<Brought> {
  const { agent, prompt, tools, mock, trust } = flags;
  return {
    ...present({ agent, prompt }),
    ...(mock === undefined ? {} : { standIn: true }),
    ...(tools === undefined || toolNames(tools) !== undefined ? {} : await partsOf(tools, cwd, present({ trust }))),
  };
}

/** Each exported function is a tool. So are the functions of an object exported as `tools` or by default. */
async function partsOf(shown: string, cwd: string, flags: TrustFlags): Promise<Brought> {
  const path = resolve(cwd, shown);
  const hint = '--tools takes a module of JavaScript or TypeScript that exports functions';
  if (!existsSync(path))
    throw new SkeinError('SKEIN_FILE', `the module with the tools does not exist: ${shown}`, { hint });
  if (!/\.[cm]?[jt]s$/.test(path) || !statSync(path).isFile())
    throw new SkeinError('SKEIN_FILE', `${shown} is not a module with tools`, { hint });
  const [{ importModule, settled }, { untrustedModule }] = await Promise.all([
    import('../modules/import-module.js'),
    import('../modules/load-module.js'),
  ]);
  const refusal = await untrustedModule(shown, cwd, flags);
  if (refusal !== undefined) throw definitionError([refusal]);
  let exports: Readonly<Record<string, unknown>>;
  try {
    exports = await settled(importModule(path));
  } catch (cause) {
    const { problemsOfFailure } = await import('../modules/import-failure.js');
    const sources = async () => [{ path, text: await readFile(path, 'utf8') }];
    throw definitionError(await problemsOfFailure(cause, { path, shown, cwd }, sources));
  }
  const { default: main, ...named } = exports;
  const whole = { ...(isPlainObject(main) ? main : {}), ...named };
  const parts = Object.fromEntries(PARTS.flatMap((name) => (isPlainObject(whole[name]) ? [[name, whole[name]]] : [])));
  const own = Object.entries(whole).filter(([, value]) => isTool(value));
  const tools = { ...Object.fromEntries(own), ...(isPlainObject(parts['tools']) ? parts['tools'] : {}) };
  if (Object.keys({ ...tools, ...parts }).length > 0) return { ...parts, tools } as Brought;
  throw new SkeinError('SKEIN_USAGE', `${shown} exports no function`, {
    hint: 'export function NAME(input) { ... }, with the name of the tool',
  });
}

function isTool(value: unknown): boolean {
  return typeof value === 'function' || (isPlainObject(value) && typeof value['execute'] === 'function');
}
