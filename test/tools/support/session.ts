import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { SkeinError } from '../../../src/base/errors.js';
import type { JsonObject } from '../../../src/base/json.js';
import type { AgentSpec } from '../../../src/plan/agent-spec.js';
import type { Tool, ToolIo, ToolSource } from '../../../src/agent/tool.js';
import type { ToolProviderOptions } from '../../../src/agent/tools/provider.js';
import { createToolProvider } from '../../../src/agent/tools/provider.js';

/** A new directory, with its real path, that is removed after the test. */
export async function folder(): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'skein-tools-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Opened tools and what was warned about. */
export interface Session {
  readonly source: ToolSource;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
  readonly tool: (name: string) => Tool;
  /** Runs a tool and gives its text. */
  readonly call: (name: string, input: JsonObject, signal?: AbortSignal) => Promise<string>;
  /** Runs a tool that must fail, and gives the error. */
  readonly fails: (name: string, input: JsonObject, signal?: AbortSignal) => Promise<SkeinError>;
}

/** An agent with nothing but what the test says. */
export function agent(spec: Partial<AgentSpec>): AgentSpec {
  return { name: 'tester', instructions: [], models: [], ...spec };
}

/** Opens the tools of an agent; they are closed after the test. */
export async function session(
  spec: Partial<AgentSpec>,
  options: Partial<ToolProviderOptions> & { readonly cwd: string; readonly signal?: AbortSignal },
): Promise<Session> {
  const warnings: { code: string; message: string }[] = [];
  const provider = createToolProvider({ env: { PATH: process.env['PATH'] ?? '' }, ...options });
  const source = await provider.open(agent(spec), {
    runId: 'run',
    path: 'step',
    agent: spec.name ?? 'tester',
    signal: options.signal ?? new AbortController().signal,
    warn: (code, message) => warnings.push({ code, message }),
  });
  onTestFinished(() => source.close());
  const tool = (name: string): Tool => {
    const found = source.tools.find((one) => one.name === name);
    if (found === undefined) throw new Error(`no tool ${name} among ${source.tools.map((one) => one.name).join(', ')}`);
    return found;
  };
  const call = async (name: string, input: JsonObject, signal?: AbortSignal): Promise<string> =>
    tool(name).execute(input, io(signal));
  return {
    source,
    warnings,
    tool,
    call,
    async fails(name, input, signal) {
      try {
        const text = await call(name, input, signal);
        throw new Error(`expected ${name} to fail, got: ${text}`);
      } catch (error) {
        if (SkeinError.isInstance(error)) return error;
        throw error;
      }
    },
  };
}

/** What a tool gets besides its input. */
export function io(signal: AbortSignal = new AbortController().signal): ToolIo {
  return { signal, idempotencyKey: 'run/step/1' };
}

/** True while a process of the group runs; one that is dead and only not yet collected by its parent does not. */
export async function groupRuns(group: number): Promise<boolean> {
  // Processes that came into a container from outside are of group 0 there: it would seem to run for ever.
  if (!(group > 0)) throw new Error(`${group} is not a group of processes`);
  const { readdir, readFile } = await import('node:fs/promises');
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    // pid (name) state parent group ...
    const [state, , id] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(id) === group && state !== 'Z' && state !== 'X') return true;
  }
  return false;
}

/** Waits until something holds; the limit is the one of the test. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** The text of a file that another process writes, once it is there: a file is empty for a moment before that. */
export async function textOnceWritten(path: string): Promise<string> {
  let text = '';
  await until(() => {
    text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    return text !== '';
  });
  return text;
}

/** How many processes of this machine have a word in their command line. */
export function processesWith(word: string): number {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(word);
    } catch {
      return false;
    }
  }).length;
}
