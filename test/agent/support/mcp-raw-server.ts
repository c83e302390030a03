// A misbehaving MCP server over stdio, for tests, written without the SDK. The first argument says how it misbehaves; the
// second, if there is one, is a file that takes its process id.
import { renameSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

interface Message {
  readonly id: number;
  readonly method: string;
  readonly params: { readonly protocolVersion: string };
}

const [mode = '', pids] = process.argv.slice(2);
if (pids !== undefined) {
  writeFileSync(`${pids}.tmp`, String(process.pid));
  renameSync(`${pids}.tmp`, pids);
}
// This one stays whatever it is told, unless it is killed.
if (mode === 'stubborn') {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
}
setInterval(() => undefined, 1_000);

const write = (text: string): boolean => process.stdout.write(text);
const send = (value: object): boolean => write(`${JSON.stringify({ jsonrpc: '2.0', ...value })}\n`);
const answer = (id: number, result: object): boolean => send({ id, result });
const plain = { name: 'work', description: 'Works.', inputSchema: { type: 'object' } };
const done = { content: [{ type: 'text', text: 'done' }] };

/** Writes for ever, as fast as it is read, and never a line break. */
function flood(): void {
  const chunk = Buffer.alloc(1 << 20, 'x');
  const more = (): void => {
    while (process.stdout.write(chunk));
    process.stdout.once('drain', more);
  };
  more();
}

function deepSchema(): object {
  let schema: object = { type: 'object' };
  for (let i = 0; i < 100; i++) schema = { type: 'object', properties: { schema } };
  return schema;
}

const wideSchema = {
  type: 'object',
  properties: { x: { type: 'string', enum: Array.from({ length: 20_000 }, (_, i) => `v${i}`) } },
};
const poisonedSchema = {
  type: 'object',
  properties: {
    pattern: { type: 'string', description: 'hidden\u200b', pattern: '^(a+)+$' },
    ['__proto__']: { type: 'string' },
  },
};
const poison = `Works.\u200b\u202e\u{e0049}\u{e0067}\u0007 ${'Read this. '.repeat(2_000)}`;
const strangeNames = ['a.b', 'a_b', 'a/b', '__proto__', 'x'.repeat(100), `${'x'.repeat(99)}y`, '\u00e4'];

function toolsOf(): readonly object[] {
  switch (mode) {
    case 'duplicates':
      return [plain, { ...plain, description: 'Works otherwise.' }];
    case 'poisoned':
      return [{ ...plain, description: poison, inputSchema: poisonedSchema }];
    case 'names':
      return strangeNames.map((name) => ({ ...plain, name }));
    case 'bad-schemas':
      return [
        plain,
        { ...plain, name: 'deep', inputSchema: deepSchema() },
        { ...plain, name: 'wide', inputSchema: wideSchema },
      ];
    case 'digits':
      return [{ ...plain, inputSchema: { type: 'object', properties: { n: { maximum: 2 ** 63 } } } }];
    case 'many':
      return Array.from({ length: 1_000 }, (_, i) => ({ ...plain, name: `work${i}` }));
    default:
      return [plain];
  }
}

function call(id: number): void {
  if (mode === 'dies') {
    process.stderr.write('out of memory\n');
    process.exit(9);
  }
  switch (mode) {
    case 'floods':
      flood();
      break;
    case 'twice':
      answer(id, done);
      answer(id, { content: [{ type: 'text', text: 'again' }] });
      break;
    case 'wrong-id':
      answer(id + 1_000, done);
      break;
    case 'no-content':
      answer(id, { content: 'not a list' });
      break;
    case 'protocol-error':
      send({ id, error: { code: -32_603, message: 'internal\u001b[31m trouble' } });
      break;
    case 'garbage-call':
      write('{"jsonrpc":"2.0","id":\n'.repeat(200));
      break;
    case 'drips': {
      const whole = JSON.stringify({ jsonrpc: '2.0', id, result: done });
      let at = 0;
      setInterval(() => write(whole[at++ % whole.length] ?? ''), 20);
      break;
    }
    case 'eats': {
      const eaten: Buffer[] = [];
      setInterval(() => eaten.push(Buffer.alloc(40 << 20, 1)), 200);
      break;
    }
    case 'digits':
      write(
        `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"id":12345678901234567890,"n":3}}}\n`,
      );
      break;
    case 'silent-call':
      break;
    default:
      answer(id, done);
  }
}

if (mode === 'exits') {
  process.stderr.write('no licence found\n');
  process.exit(4);
}
if (mode === 'floods-at-start') flood();
if (mode === 'garbage') setInterval(() => write('hello\nthis is not JSON-RPC\n{"a":1}\n'), 1);
if (mode === 'banner') write('Welcome!\nListening.\n');

const mute = ['silent', 'garbage', 'floods-at-start'].includes(mode);
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line) as Message;
  if (mute) return;
  if (message.method === 'initialize') {
    answer(message.id, {
      protocolVersion: message.params.protocolVersion,
      capabilities: mode === 'no-tools' ? {} : { tools: { listChanged: true } },
      serverInfo: { name: 'raw', version: '1' },
    });
  }
  if (message.method === 'tools/list' && mode === 'lists-nothing')
    send({ id: message.id, error: { code: -32_601, message: 'Method not found' } });
  else if (message.method === 'tools/list') answer(message.id, { tools: toolsOf() });
  if (message.method === 'tools/call') call(message.id);
});
