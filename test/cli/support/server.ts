import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';

/**
 * Runs a built program again and again in this process, each time with the words, directory, environment and stdin that it is sent.
 * What the program leaves for the end of its process (listeners, an exit) happens when it has ended here.
 */

/** A command line. What is read from stdin is in base64. */
export interface Asked {
  readonly main: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
}

const EVENTS = ['exit', 'beforeExit', 'SIGINT', 'SIGTERM', 'SIGHUP'];
type Listener = (...args: readonly unknown[]) => void;

let turn = 0;
let last = Promise.resolve();

const exit = process.exit.bind(process);
// Who asks is gone.
process.on('disconnect', () => exit());
process.on('message', (asked) => {
  last = last.then(async () => {
    const end = await serve(asked as Asked);
    process.send?.(end);
  });
});

async function serve({ main, args, cwd, env, input }: Asked): Promise<unknown> {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [process.execPath, main, ...args];
  const stdin = Readable.from([Buffer.from(input, 'base64')], { objectMode: false });
  Object.defineProperty(process, 'stdin', { value: stdin, configurable: true });
  const written = { stdout: keepWritten(process.stdout), stderr: keepWritten(process.stderr) };
  const before = new Map(EVENTS.map((event) => [event, process.listeners(event as 'exit') as readonly Listener[]]));
  const code = await new Promise<number>((ended, failed) => {
    process.exit = ((given?: number) => ended(given ?? 0)) as typeof process.exit;
    // With a name of its own, the file is evaluated again; what it imports is there already.
    import(`${pathToFileURL(main).href}?${(turn += 1)}`).catch(failed);
  });
  for (const event of EVENTS) {
    for (const listener of process.listeners(event as 'exit') as readonly Listener[]) {
      if (before.get(event)?.includes(listener) === true) continue;
      if (event === 'exit') listener.call(process, code);
      process.off(event, listener);
    }
  }
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error');
  return { code, signal: null, stdout: written.stdout(), stderr: written.stderr() };
}

/** What the program writes to a stream from now on. */
function keepWritten(stream: NodeJS.WriteStream): () => string {
  const chunks: Buffer[] = [];
  stream.write = (chunk: string | Uint8Array, second?: unknown, third?: unknown): boolean => {
    chunks.push(typeof chunk === 'string' ? Buffer.from(chunk, second as BufferEncoding) : Buffer.from(chunk));
    const done = typeof second === 'function' ? second : third;
    if (typeof done === 'function') process.nextTick(() => (done as () => void)());
    return true;
  };
  return () => Buffer.concat(chunks).toString();
}
