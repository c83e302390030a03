import type { ChildProcess } from 'node:child_process';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { SkeinError } from '../../base/errors.js';
import { OutputWindow } from '../tools/output-window.js';
import { startGroup, within, type ProcessGroup } from '../tools/process-group.js';
import { keepResultDigits } from './result-digits.js';
import { systemCode } from '../tools/tool-input.js';
import { ownValue } from '../../base/json.js';

/** Longest line that a server may write. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;
/** Most lines that are not messages: some servers print a greeting, but not this much. */
const MAX_STRAY_LINES = 100;
const GRACE_MS = 1_000;
const DRAIN_MS = 200;
const STDERR_BYTES = 4 * 1024;
const NEWLINE = 10;

export interface StdioServer {
  readonly command: string;
  line(): Promise<readonly [string, ...string[]]>;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Memory limit in bytes. */
  readonly memory: number | undefined;
}

/**
 * Communicates with a server over its standard streams, one JSON message a line. The server is a process group of its own. The group ends
 * in every case: on close, when the server breaks the rules (an endless line, only garbage), when its program ends but leaves processes
 * running, and through the watchdog when this process dies.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** Why the connection ended, unless it was closed from this side. */
  failure: SkeinError | undefined;

  private group: ProcessGroup | undefined;
  private line: Buffer[] = [];
  private lineBytes = 0;
  private strayLines = 0;
  /** Settles when the program has ended and its end was reported. */
  private left: Promise<void> = Promise.resolve();
  private closing: Promise<void> | undefined;
  private readonly stderr = new OutputWindow(STDERR_BYTES);

  constructor(
    private readonly name: string,
    private readonly server: StdioServer,
  ) {}

  async start(): Promise<void> {
    const { command, env, cwd, memory } = this.server;
    try {
      this.group = await startGroup(await this.server.line(), { cwd, env, memory, stdin: 'pipe' }, (child) =>
        this.listen(child),
      );
    } catch (error) {
      if (SkeinError.isInstance(error)) throw error;
      const why = systemCode(error) === 'ENOENT' ? 'there is no such program' : (systemCode(error) ?? 'unknown error');
      throw new SkeinError(
        'SKEIN_MCP',
        `MCP server "${this.name}": ${JSON.stringify(command)} can't be started: ${why}`,
        {
          hint: 'install the program, or correct "command" of the server',
          cause: error,
        },
      );
    }
    this.left = this.group.exited.then(({ code, signal }) =>
      this.leave(signal === null ? `exit code ${code ?? 0}` : signal),
    );
  }

  private listen(child: ChildProcess): void {
    void this.stderr.follow(child.stderr);
    child.stdout?.on('data', (chunk: Buffer) => this.read(chunk));
    child.stdout?.on('error', () => undefined);
    // Writing to a server that is gone fails; its exit reports that it is gone.
    child.stdin?.on('error', () => undefined);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.group?.child.stdin;
    if (this.closing !== undefined || stdin == null || !stdin.writable) throw await this.farewell();
    const text = `${JSON.stringify(message)}\n`;
    await new Promise<void>((resolve, reject) => {
      stdin.write(text, (error) => {
        if (error == null) resolve();
        else void this.farewell().then(reject);
      });
    });
  }

  close(): Promise<void> {
    this.closing ??= this.shut();
    return this.closing;
  }

  /** The server's error output, for messages. */
  get lastWords(): string {
    return this.stderr.text().trim();
  }

  private async shut(): Promise<void> {
    // The end of its input asks a server to exit; then the whole group gets a signal.
    this.group?.child.stdin?.end();
    await this.group?.end(GRACE_MS);
    this.line = [];
    this.onclose?.();
  }

  private read(chunk: Buffer): void {
    let rest = chunk;
    while (this.closing === undefined) {
      const end = rest.indexOf(NEWLINE);
      const piece = end < 0 ? rest : rest.subarray(0, end);
      this.lineBytes += piece.length;
      if (this.lineBytes > MAX_LINE_BYTES) {
        void this.fail(`wrote a line of more than ${MAX_LINE_BYTES / 1024 / 1024} MiB`);
        return;
      }
      if (piece.length > 0) this.line.push(piece);
      if (end < 0) return;
      this.take(Buffer.concat(this.line).toString('utf8'));
      this.line = [];
      this.lineBytes = 0;
      rest = rest.subarray(end + 1);
    }
  }

  private take(line: string): void {
    if (line.trim() === '') return;
    const message = parseMessage(line);
    if (message !== undefined) {
      this.onmessage?.(message);
      return;
    }
    this.strayLines += 1;
    if (this.strayLines > MAX_STRAY_LINES) {
      void this.fail(`wrote ${this.strayLines} lines to its standard output that are not messages`);
    }
  }

  /** Number of lines that were not messages, for errors about a server that does not answer. */
  get stray(): number {
    return this.strayLines;
  }

  /** Handles the program's end. Its last answer may still be in the pipe, which a child process may hold open forever. */
  private async leave(how: string): Promise<void> {
    const child = this.group?.child;
    if (child?.stdout?.closed === false) {
      await within(DRAIN_MS, new Promise((resolve) => child.once('close', resolve)));
    }
    const excess = this.group?.excess();
    await this.fail(excess === undefined ? `exited on its own (${how})` : `was killed: it had ${excess}`);
  }

  private async fail(what: string): Promise<void> {
    if (this.closing !== undefined) return;
    const words = this.lastWords;
    this.failure = new SkeinError('SKEIN_MCP', `MCP server "${this.name}" ${what}${words === '' ? '' : `:\n${words}`}`);
    this.onerror?.(this.failure);
    await this.close();
  }

  /** A pipe breaks before the exit of its program is known, and the exit explains more. */
  private async farewell(): Promise<SkeinError> {
    if (this.failure === undefined && this.closing === undefined) await within(GRACE_MS, this.left);
    return this.gone();
  }

  private gone(): SkeinError {
    return this.failure ?? new SkeinError('SKEIN_MCP', `MCP server "${this.name}" is no longer running`);
  }
}

/** Parses a line with the outline of a JSON-RPC message; the client checks the rest against its schemas. */
function parseMessage(line: string): JSONRPCMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(keepResultDigits(line));
  } catch {
    return undefined;
  }
  return ownValue(value, 'jsonrpc') === '2.0' ? (value as JSONRPCMessage) : undefined;
}
