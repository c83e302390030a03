import { chmod, cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { served } from '../../cli/support/served.js';
import { filesIn } from '../../cli/support/skein.js';
import type { Checkout } from './checkouts.js';
import { HONEST, SURROUNDINGS } from './checkouts.js';
import type { Places } from './traced.js';

/** A checkout on the disk of a user, with what lies around it. */
export interface CheckedOut {
  readonly cwd: string;
  readonly home: string;
  readonly file: string;
  /** For a process that has not been told yes. */
  readonly places: Places;
  /** All files, but those of the store, which the user made. */
  readonly files: () => Promise<readonly string[]>;
  /** How often the server was called whose address stands in the files. */
  readonly reached: () => number;
}

/** What the user's environment holds that a file could want. */
const KEY = 'team-key-of-the-user';

/**
 * Lays out a folder with the checkout, the user's home and what is beside it. The user ran `flow.yaml` there while it was honest, in a conversation too: there
 * is a store that is the user's own.
 */
export async function checkOut({ files, links = {}, file = 'flow.yaml' }: Checkout): Promise<CheckedOut> {
  const base = await makeFolder();
  const [cwd, home] = [join(base, 'project'), join(base, 'home')];
  await cp(await (before ??= ranBefore()), base, { recursive: true });
  await rm(join(cwd, 'flow.yaml'));
  const server = await listen();
  const filled = (text: string): string =>
    text.replaceAll('@OUTSIDE@', join(base, 'outside')).replaceAll('@HOME@', home).replaceAll('@URL@', server.url);
  const inside = { 'planted.sh': '#!/bin/sh\necho > planted\n', ...files };
  await writeAll(base, SURROUNDINGS);
  await writeAll(cwd, Object.fromEntries(Object.entries(inside).map(([name, text]) => [name, filled(text)])));
  await chmod(join(cwd, 'planted.sh'), 0o755);
  for (const [name, to] of Object.entries(links)) await symlink(filled(to), join(cwd, name));
  const own = ['.local/state/skein', '.config/skein', '.copilot/agents'].map((name) => join(home, name));
  const env = { HOME: home, TEAM_KEY: KEY };
  return {
    cwd,
    home,
    file,
    reached: server.reached,
    places: { cwd, env, mayRead: [cwd, ...own], mayWrite: [join(cwd, '.skein')] },
    files: async () => (await filesIn(base)).filter((name) => !name.startsWith('project/.skein/')),
  };
}

async function makeFolder(): Promise<string> {
  const folder = await emptyFolder();
  onTestFinished(() => removed(folder));
  return folder;
}

async function emptyFolder(): Promise<string> {
  return await realpath(await mkdtemp(join(tmpdir(), 'skein-checkout-')));
}

async function removed(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

async function writeAll(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

let before: Promise<string> | undefined;

/** At the end of a file of tests that checks out. */
export async function removeWhatRanBefore(): Promise<void> {
  if (before !== undefined) await removed(await before);
  before = undefined;
}

/** A project and a home in which the honest file was run: each checkout of a file of tests has a copy. */
async function ranBefore(): Promise<string> {
  const folder = await emptyFolder();
  const cwd = join(folder, 'project');
  await writeAll(cwd, { 'flow.yaml': HONEST });
  const options = { cwd, env: { HOME: join(folder, 'home') }, asks: true };
  const { code, stderr } = await served(['run', 'flow.yaml', '--no-audit', '--thread', 'ada'], options);
  if (code !== 0) throw new Error(`the honest file can't be run: ${stderr}`);
  return folder;
}

async function listen(): Promise<{ readonly url: string; readonly reached: () => number }> {
  let calls = 0;
  const server = createServer((_, response) => {
    calls += 1;
    response.writeHead(500).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, reached: () => calls };
}
