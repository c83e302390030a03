import type { ChildProcess } from 'node:child_process';
import { sentKey } from '../../base/address.js';
import { SkeinError } from '../../base/errors.js';
import { ownValue, type JsonObject } from '../../base/json.js';
import { TOOL_LIMITS } from '../../plan/built-in-tools.js';
import type { Tool } from '../tool.js';
import type { SandboxUse } from '../../plan/agent-spec.js';
import { cleanEnvironment, type Environment } from './clean-env.js';
import { namedFiles, splitWords } from './words.js';
import { OutputWindow } from './output-window.js';
import type { Folders } from './paths.js';
import { startGroup, type CommandEnd, type Exit, type ProcessGroup } from './process-group.js';
import { runConfined } from '../sandbox/run-confined.js';
import { badInput, optionalText, refused, systemCode, wholeNumber } from './tool-input.js';

const OUTPUT_BYTES = 64 * 1024;
const GRACE_MS = 1_000;
const SECONDS = TOOL_LIMITS.seconds;
const MAX_ARGUMENT_BYTES = 128 * 1024;

/** Keeps programs from waiting for a person: there is no terminal and no input. */
const QUIET = { TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' };

interface ShellSettings {
  readonly env: Environment;
  /** Aborted to end running commands. */
  readonly closing: AbortSignal;
  readonly sandbox: SandboxUse | undefined;
  /** Memory limit of a command in bytes. */
  readonly memory?: number | undefined;
}

/**
 * `shell`: runs one program with its arguments, never through a shell. The program gets a clean environment, no input, a time limit, and a
 * process group of its own, which ends as a whole: nothing that it started in the background outlives the call. The result has the exit
 * code and both outputs, each cut to 64 KiB (beginning and end).
 *
 * Limits without a sandbox: options are interpreted by the program (`git -c ...`, `tar --checkpoint-action=...`, `sh -c ...` all start
 * other programs), so granting this tool grants everything that the user may run. Paths in the command are refused if other tools would
 * refuse them; the program's own accesses are not checked. A program that creates a session of its own leaves the group.
 */
export function shellCode(folders: Folders, settings: ShellSettings): Tool['execute'] {
  const command = commandCode(folders, settings);
  return async (input, io) => {
    const seconds = wholeNumber(input, 'timeout_seconds', { least: 1, most: SECONDS.most, fallback: SECONDS.usual });
    const { code, signal, stdout, stderr } = await command(input, { seconds, keep: OUTPUT_BYTES }, io);
    const how = signal === null ? `exit code ${code ?? 0}` : `ended by ${signal}`;
    return `${how}\n${part('stdout', stdout.text())}${part('stderr', stderr.text())}`;
  };
}

/** The same for a step that runs a command directly: returns the exit and both outputs separately. */
export function commandCode(
  folders: Folders,
  { env, closing, sandbox: use, memory }: ShellSettings,
): NonNullable<Tool['command']> {
  return async (input, { seconds, keep, stdin, env: own = {} }, io) => {
    const argv = argvOf(input);
    const place = await folders.locateForRunning(optionalText(input, 'cwd') ?? '.');
    const { words, reads } = namedFiles(argv);
    for (const word of words) folders.checkWord(word, place, reads);
    const signal = AbortSignal.any([io.signal, closing]);
    if (signal.aborted) throw cancelled();
    const output = new Outputs(keep);
    const cleaned = cleanEnvironment(env, 'shell');
    const key = { SKEIN_IDEMPOTENCY_KEY: sentKey(io.idempotencyKey) };
    const given = { ...cleaned, ...QUIET, ...key, ...checkedVariables(own) };
    const settings = { env: given, stdin: stdin === undefined ? 'ignore' : 'pipe', memory } as const;
    const path = cleaned['PATH'];
    const line = async (): Promise<Line> =>
      use === undefined ? argv : runConfined(argv, { use, folders, cwd: place.real, path, signal });
    const group = await folders.withDirectory({ path: place.real, shown: place.shown, purpose: 'run' }, (cwd) =>
      start(argv[0], async () => startGroup(await line(), { ...settings, cwd }, (child) => output.follow(child))),
    );
    if (stdin !== undefined) feed(group.child, stdin);
    return supervise(group, output, signal, seconds);
  };
}

/** A program need not read its input to the end. */
function feed({ stdin }: ChildProcess, text: string): void {
  stdin?.on('error', () => undefined);
  stdin?.end(text);
}

function checkedVariables(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(env)) {
    if (value.includes('\0')) throw refused(`the variable ${name} must not contain a NUL character`);
    if (Buffer.byteLength(value) + name.length >= MAX_ARGUMENT_BYTES)
      throw badInput(`the variable ${name} is longer than 128 KiB`, 'pass it by standard input');
  }
  return env;
}

function argvOf(input: JsonObject): [string, ...string[]] {
  const list = ownValue(input, 'argv') ?? undefined;
  const command = optionalText(input, 'command');
  if ((list === undefined) === (command === undefined)) throw badInput('give either argv or command');
  const words: readonly unknown[] = command === undefined ? listOf(list) : splitWords(command);
  const [program, ...args] = words.map(checkArgument);
  if (program === undefined || program === '') throw badInput('argv needs a program');
  return [program, ...args];
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw badInput('"argv" must be a list of texts', 'such as ["git", "diff"]');
  return value;
}

function checkArgument(word: unknown): string {
  if (typeof word !== 'string') throw badInput('every item of "argv" must be text');
  if (word.includes('\0')) throw refused('an argument must not contain a NUL character');
  // Longer arguments do not pass through exec on Linux.
  if (Buffer.byteLength(word) >= MAX_ARGUMENT_BYTES)
    throw badInput(
      'an argument is longer than 128 KiB',
      'pass it by a file, or by standard input where the step says so',
    );
  return word;
}

type Line = readonly [string, ...string[]];

async function start(program: string, begin: () => Promise<ProcessGroup>): Promise<ProcessGroup> {
  try {
    return await begin();
  } catch (error) {
    if (SkeinError.isInstance(error)) throw error;
    const code = systemCode(error);
    if (code === 'ENOENT') {
      throw badInput(
        `there is no program ${JSON.stringify(program)}`,
        'builtins of a shell, such as cd, do not exist here',
      );
    }
    if (code === 'EACCES') throw badInput(`${JSON.stringify(program)} can't be run: permission denied`);
    throw new SkeinError('SKEIN_TOOL_FAILED', `${JSON.stringify(program)} can't be run: ${code ?? 'unknown error'}`, {
      cause: error,
    });
  }
}

class Outputs {
  readonly stdout: OutputWindow;
  readonly stderr: OutputWindow;
  private closed: Promise<unknown> = Promise.resolve();

  /** @param keep bytes to keep of each */
  constructor(keep: number) {
    this.stdout = new OutputWindow(keep);
    this.stderr = new OutputWindow(keep);
  }

  follow(child: ChildProcess): void {
    this.closed = Promise.all([this.stdout.follow(child.stdout), this.stderr.follow(child.stderr)]);
  }

  /** Resolves when both outputs are complete. */
  async whole(): Promise<this> {
    await this.closed;
    return this;
  }

  text(): string {
    return part('stdout', this.stdout.text()) + part('stderr', this.stderr.text());
  }
}

/** Waits for the program, its timeout or the cancellation, whichever is first, and then ends the whole group. */
async function supervise(
  group: ProcessGroup,
  outputs: Outputs,
  signal: AbortSignal,
  seconds: number | undefined,
): Promise<CommandEnd> {
  const ended = await firstOf(group, signal, seconds);
  await group.end(typeof ended === 'object' ? 0 : GRACE_MS);
  if (ended === 'cancelled') throw cancelled();
  const { stdout, stderr } = await outputs.whole();
  if (ended === 'late') {
    throw new SkeinError('SKEIN_TOOL_FAILED', `the program was killed after ${seconds} seconds\n${outputs.text()}`, {
      hint: 'give a longer timeout_seconds, or a command that does less',
    });
  }
  const excess = group.excess();
  if (excess !== undefined) {
    const what = `the program was killed: it had ${excess}`;
    throw new SkeinError('SKEIN_TOOL_FAILED', `${what}\n${outputs.text()}`, { hint: 'run less at the same time' });
  }
  return { ...ended, stdout, stderr };
}

function firstOf(
  group: ProcessGroup,
  signal: AbortSignal,
  seconds: number | undefined,
): Promise<Exit | 'late' | 'cancelled'> {
  return new Promise((resolve) => {
    const timer = seconds === undefined ? undefined : setTimeout(() => finish('late'), seconds * 1_000);
    const onAbort = (): void => finish('cancelled');
    const finish = (how: Exit | 'late' | 'cancelled'): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      resolve(how);
    };
    if (signal.aborted) finish('cancelled');
    else signal.addEventListener('abort', onAbort, { once: true });
    void group.exited.then(finish);
  });
}

function part(label: string, text: string): string {
  if (text === '') return '';
  return `--- ${label} ---\n${text}${text.endsWith('\n') ? '' : '\n'}`;
}

function cancelled(): SkeinError {
  return new SkeinError('SKEIN_CANCELLED', 'the tool call was cancelled');
}
