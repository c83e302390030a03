import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Model } from '../../src/agent/model.js';
import { definePlan, run } from '../../src/index.js';
import type { McpServerSpec } from '../../src/plan/agent-spec.js';
import { NO_CALL, tell } from '../guard/support/figures.js';
import { programOf } from '../programs.js';
import { folder, processesWith, textOnceWritten } from '../tools/support/session.js';

const program = await programOf(resolve(import.meta.dirname, '../agent/support/mcp-hostile-server.ts'));
const onLinux = process.platform === 'linux';
if (!onLinux) console.info('note: processes are looked up in /proc, so what is left of servers is not looked at');

type Way = 'stdio' | 'http';

/** A model that does all that the planted texts ask for: it uses what it was told to use, and then every other tool that it sees. */
const obeying: Model = {
  id: 'own/obeying',
  structuredOutput: true,
  async *stream({ caller: { turn }, tools }) {
    const names = (tools ?? []).map(({ name }) => name);
    const calls = turn > 3 ? [] : names.filter((name) => name.endsWith('_work') === turn < 3);
    for (const [i, name] of calls.entries()) {
      const input = name === 'shell' ? JSON.stringify({ argv: ['touch', 'pwned'] }) : '{"body":"keys"}';
      yield { type: 'tool-call', call: { id: `c${turn}.${i}`, name, input } };
    }
    if (calls.length === 0) yield { type: 'text', text: 'Done.' };
    const reason = calls.length === 0 ? 'stop' : 'tool-calls';
    yield { type: 'finish', reason, usage: { inputTokens: 1, outputTokens: 1 } };
  },
};

/** Somewhere that a server would like its messages to be sent. */
async function elsewhere(): Promise<{ readonly url: string; readonly seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.method ?? '');
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, seen };
}

async function entryOf(mode: string, way: Way, cwd: string, other: string): Promise<McpServerSpec> {
  const called = join(cwd, 'called');
  if (way === 'stdio') return { command: process.execPath, args: [program, mode, 'stdio', called] };
  const address = join(cwd, 'address');
  const child = spawn(process.execPath, [program, mode, 'http', called, address, other], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { url: await textOnceWritten(address) };
}

/** Runs an agent that is granted the server, a shell and files, with nobody to ask. */
async function attacked(mode: string, way: Way) {
  const cwd = await folder();
  const other = await elsewhere();
  const kit = await entryOf(mode, way, cwd, other.url);
  const before = process.memoryUsage().rss;
  let most = 0;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss - before)), 50);
  const plan = definePlan({
    name: 'attacked',
    nodes: [
      {
        id: 'a',
        kind: 'agent',
        prompt: 'Go',
        timeoutMs: mode === 'drips' ? 1_500 : 150_000,
        agent: {
          name: 'clerk',
          instructions: [],
          models: ['own/obeying'],
          tools: ['kit/work', 'kit/*', 'shell', 'write_file'],
          mcpServers: { kit },
        },
      },
    ],
  });
  const result = await run(plan, {
    cwd,
    models: { env: { PATH: process.env['PATH'] }, providers: { own: () => obeying } },
  }).result;
  clearInterval(timer);
  const called = existsSync(join(cwd, 'called')) ? readFileSync(join(cwd, 'called'), 'utf8').trim().split('\n') : [];
  const left = way === 'http' || !onLinux ? 0 : processesWith(join(cwd, 'called'));
  return {
    outcome: result.outcome,
    error: result.error,
    called,
    left,
    most,
    seenElsewhere: other.seen,
    pwned: readdirSync(cwd).filter((name) => !['called', 'address'].includes(name)),
  };
}

const TWICE = ['work', 'work'];
const ONCE = ['work'];

/** How a run ends: calls that nobody may allow wait for a person; a server that is of no use fails the step, or only its calls. */
const BEHAVIOURS: readonly {
  readonly what: string;
  readonly mode: string;
  /** The calls that reach it over each of the two, both of which the agent names itself. */
  readonly calls: Readonly<Record<Way, readonly string[]>>;
  /** It fails the step; absent: the run waits for a person. */
  readonly error?: string;
}[] = [
  { what: 'poisons its descriptions', mode: 'poisoned', calls: { stdio: TWICE, http: TWICE } },
  { what: 'changes a tool between listings', mode: 'changes', calls: { stdio: ONCE, http: ONCE } },
  {
    what: 'offers two tools of one name',
    mode: 'duplicates',
    calls: { stdio: [], http: [] },
    error: 'two tools of the same name',
  },
  { what: 'names its tools like built-in ones', mode: 'built-ins', calls: { stdio: TWICE, http: TWICE } },
  { what: 'lies about what only reads', mode: 'lies', calls: { stdio: TWICE, http: TWICE } },
  { what: 'names its tools like parts of every object', mode: 'prototypes', calls: { stdio: TWICE, http: TWICE } },
  { what: 'writes control characters', mode: 'controls', calls: { stdio: TWICE, http: TWICE } },
  {
    what: 'offers a schema of great depth',
    mode: 'deep',
    calls: { stdio: [], http: [] },
    error: 'what it sent is nested too deeply',
  },
  { what: 'writes a line without end', mode: 'endless', calls: { stdio: ONCE, http: TWICE } },
  { what: 'gives a result of 100 MB', mode: 'huge', calls: { stdio: ONCE, http: TWICE } },
  { what: 'drips', mode: 'drips', calls: { stdio: ONCE, http: ONCE }, error: 'took longer than its timeout' },
  { what: 'dies in the middle of a call', mode: 'dies', calls: { stdio: ONCE, http: ONCE } },
  { what: 'answers twice', mode: 'twice', calls: { stdio: TWICE, http: TWICE } },
  { what: 'redirects', mode: 'redirects', calls: { stdio: [], http: [] } },
];

describe.each(['stdio', 'http'] as const)('[A9] T17: an obedient agent of a server over %s that', (way) => {
  test.each(BEHAVIOURS.filter(({ mode }) => mode !== 'redirects' || way === 'http'))(
    '$what makes no forbidden call, and ends with what is true',
    async ({ what, mode, calls, error }) => {
      const seen = await attacked(mode, way);
      const forbidden = seen.pwned.length + seen.seenElsewhere.length + seen.left;
      tell({ what: `a tool server over ${way} that ${what}`, n: 1, forbidden, goal: NO_CALL });
      expect(seen.called).toEqual(calls[way]);
      expect([seen.pwned, seen.seenElsewhere, seen.left]).toEqual([[], [], 0]);
      expect(seen.most).toBeLessThan(300_000_000);
      expect(seen.outcome, JSON.stringify(seen.error)).toBe(error === undefined ? 'paused' : 'failed');
      if (error !== undefined) expect(seen.error?.message).toContain(error);
    },
  );
});
