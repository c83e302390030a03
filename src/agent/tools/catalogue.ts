import type { SandboxUse } from '../../plan/agent-spec.js';
import { BUILT_IN, inputSchemaOf, takes, type BuiltInTool, type ToolInput } from '../../plan/built-in-tools.js';
import type { FoundFile, Tool } from '../tool.js';
import type { Environment } from './clean-env.js';
import type { Folders } from './paths.js';
import type { Provenance } from './provenance.js';
import { requiredText } from './tool-input.js';
import type { ToolProviderOptions } from './provider-options.js';
import { isPlainObject, type Json, type JsonObject } from '../../base/json.js';

export interface BuiltInContext {
  /** Created when the first call needs them. */
  readonly folders: () => Promise<Folders>;
  readonly env: Environment;
  readonly sandbox: SandboxUse | undefined;
  /** Memory limit of a program in bytes. */
  readonly memory?: number | undefined;
  /** Whether searches include `node_modules`. */
  readonly searchesAll: boolean;
  readonly network: Pick<ToolProviderOptions, 'allowPrivateAddresses' | 'resolveHost'> & {
    /** Lists of hosts: a host must be in each of them. */
    readonly domains?: readonly (readonly string[])[];
  };
  /** Aborted when the session is closed. */
  readonly closing: AbortSignal;
  /** Calls with child processes: closing waits for them. */
  readonly running: Set<Promise<unknown>>;
}

type Code = Tool['execute'];

const CODE: Readonly<Record<BuiltInTool, (context: BuiltInContext) => Promise<Code>>> = {
  read_file: async (tool) => (await import('./read-file.js')).readFileCode(...(await whereFrom(tool))),
  list_dir: async (tool) => (await import('./glob.js')).listDirCode(...(await whereFrom(tool))),
  glob: async (tool) => (await import('./glob.js')).globCode(...(await whereFrom(tool)), tool.searchesAll),
  grep: async (tool) => (await import('./grep.js')).grepCode(...(await whereFrom(tool)), tool.searchesAll),
  write_file: async ({ folders }) => (await import('./write-file.js')).writeFileCode(await folders()),
  edit_file: async ({ folders }) => (await import('./edit-file.js')).editFileCode(await folders()),
  shell: async (context) => (await import('./shell.js')).shellCode(await context.folders(), context),
  fetch: async ({ network, closing }) => {
    const [{ fetchCode }, { networkRules }] = await Promise.all([import('./fetch.js'), import('./http-hop.js')]);
    const rules = networkRules(network.allowPrivateAddresses ?? false, network.domains);
    const { resolveHost } = network;
    return fetchCode(resolveHost === undefined ? rules : { ...rules, resolve: resolveHost }, closing);
  },
};

/** The folders of a session, and the lookup of their files' provenance. */
async function whereFrom({ folders }: BuiltInContext): Promise<[Folders, Provenance]> {
  const [opened, { provenanceOf }] = await Promise.all([folders(), import('./provenance.js')]);
  return [opened, provenanceOf(opened)];
}

/** Creates a built-in tool under the name that the model sees. Its code is loaded at the first call. */
export function createBuiltIn(tool: BuiltInTool, name: string, context: BuiltInContext): Tool {
  const { description, effect, trust } = BUILT_IN[tool];
  let code: Promise<Code> | undefined;
  const execute: Code = async (input, io) => (await (code ??= CODE[tool](context)))(input, io);
  return {
    name,
    description,
    inputSchema: inputSchemaOf(BUILT_IN[tool]),
    effect,
    trust,
    rename: (input) => ownParameters(tool, input),
    execute: takes(tool, 'command') ? tracked(execute, context.running) : execute,
    ...(takes(tool, 'command') ? { command: commandOf(context) } : {}),
    ...(writes(tool) ? { look: async (input) => foundFile(await context.folders(), input) } : {}),
  };
}

function writes(tool: BuiltInTool): boolean {
  return BUILT_IN[tool].effect !== 'read' && takes(tool, 'path') && !takes(tool, 'command');
}

async function foundFile(folders: Folders, input: JsonObject): Promise<FoundFile> {
  const { shown, missing } = await folders.locateForWriting(requiredText(input, 'path'));
  return { path: shown, isNew: missing.length > 0 };
}

function commandOf(context: BuiltInContext): NonNullable<Tool['command']> {
  return tracked(async (input, settings, io) => {
    const { commandCode } = await import('./shell.js');
    return commandCode(await context.folders(), context)(input, settings, io);
  }, context.running);
}

function tracked<A extends readonly unknown[], R>(
  execute: (...args: A) => Promise<R> | R,
  running: Set<Promise<unknown>>,
): (...args: A) => Promise<R> {
  return async (...args) => {
    const call = Promise.resolve(execute(...args));
    const ended = call.catch(() => undefined);
    running.add(ended);
    try {
      return await call;
    } finally {
      running.delete(ended);
    }
  };
}

/** Parameters in which models of other systems explain a call to people. */
const REMARKS: ReadonlySet<string> = new Set(['description', 'explanation']);

/** Returns an input under the tool's own parameter names. Two names of one parameter both stay: the input check rejects them. */
export function ownParameters(tool: BuiltInTool, input: JsonObject): JsonObject {
  return renamed(BUILT_IN[tool], input);
}

function renamed(known: ToolInput, input: JsonObject): JsonObject {
  const names = new Map(
    Object.entries(known.arguments).flatMap(([own, { also = [] }]) => also.map((name) => [name, own])),
  );
  const entries = Object.entries(input)
    .filter(([key, value]) => typeof value !== 'string' || !REMARKS.has(key) || Object.hasOwn(known.arguments, key))
    .map(([key, value]): [string, Json] => {
      const own = names.get(key);
      const name = own !== undefined && !Object.hasOwn(input, own) ? own : key;
      const each = Object.hasOwn(known.arguments, name) ? known.arguments[name]?.each : undefined;
      if (each === undefined || !Array.isArray(value)) return [name, value];
      return [name, value.map((one: Json) => (isPlainObject(one) ? renamed(each, one) : one))];
    });
  return Object.fromEntries(entries);
}
