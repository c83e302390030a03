import { spawn } from 'node:child_process';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { SkeinError } from '../../base/errors.js';
import { isInside } from '../../text/files.js';
import { UNSHARED } from './unshare-script.js';

/** The program that makes sandboxes on this machine. */
export interface Sandbox {
  readonly by: 'bwrap' | 'unshare';
  readonly program: string;
}

/** What a sandboxed program can see. All paths are real paths. */
export interface Confinement {
  readonly cwd: string;
  /** The only folder that the program can write, apart from empty ones for temporary files. */
  readonly project: string;
  /** Folders that it can read even inside folders that are otherwise empty. */
  readonly readable: readonly string[];
  /** Files and folders that appear empty. Missing ones are left out. */
  readonly hidden: readonly string[];
  readonly kept: readonly string[];
  readonly network: boolean;
}

/** Files and folders of a home directory that contain keys, or determine what programs start. */
const PRIVATE = [
  '.ssh .gnupg .aws .azure .kube .docker .config .password-store .netrc .npmrc .pypirc .git-credentials .pgpass .my.cnf',
  '.terraform.d .vault-token .skein .claude .codex .copilot .cargo/credentials .cargo/credentials.toml .gem/credentials',
  '.m2/settings.xml .gradle/gradle.properties .local/share/keyrings .mozilla .thunderbird',
  '.bash_history .zsh_history .node_repl_history .python_history',
].flatMap((line) => line.split(' '));
/** Folders of other programs' sockets, through which a program could act outside. */
const OF_OTHERS = ['/tmp', '/var/tmp', '/run'];
/** Host name look-ups need the first three; NixOS needs the last to run anything. */
const NEEDED = ['/run/systemd/resolve', '/run/NetworkManager', '/run/resolvconf', '/run/current-system'];
const FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'];

const TRY_MS = 10_000;
/** Memory limit of one process, in kB; reserved address space does not count. */
const MEMORY_KB = 8 * 1024 * 1024;
const LIMITED = `ulimit -c 0; ulimit -d ${MEMORY_KB}; exec "$@"`;

let found: Promise<Sandbox | undefined> | undefined;

/** Finds, once a process and by trying, the program that makes sandboxes here. */
function findSandbox(): Promise<Sandbox | undefined> {
  found ??= firstThatWorks();
  return found;
}

async function firstThatWorks(): Promise<Sandbox | undefined> {
  if (process.platform !== 'linux') return undefined;
  for (const by of ['bwrap', 'unshare'] as const) {
    const program = FOLDERS.map((folder) => join(folder, by)).find((path) => existsSync(path));
    if (program !== undefined && (await works({ by, program }))) return { by, program };
  }
  return undefined;
}

/** @internal Exported for tests of each of the two. */
export function works(sandbox: Sandbox): Promise<boolean> {
  const [program, ...args] = confined(sandbox, ['/bin/true'], {
    cwd: '/',
    project: '/tmp',
    readable: [],
    hidden: [],
    kept: [],
    network: false,
  });
  return new Promise((done) => {
    const child = spawn(program, args, { stdio: 'ignore', cwd: '/', env: {}, timeout: TRY_MS, killSignal: 'SIGKILL' });
    child.once('error', () => done(false));
    child.once('exit', (code) => done(code === 0));
  });
}

const INSTALL_SANDBOX =
  'install bubblewrap (the program bwrap), or allow user namespaces for the program unshare; both exist on Linux only';

/**
 * Returns the program that makes sandboxes on this machine, or how to install one. Tests it by running it.
 *
 * @example
 * const found = await describeSandbox();
 * console.log('by' in found ? found.by : found.problem); // bwrap
 */
export async function describeSandbox(): Promise<{ readonly by: Sandbox['by'] } | { readonly problem: string }> {
  const sandbox = await findSandbox();
  return sandbox === undefined ? { problem: INSTALL_SANDBOX } : { by: sandbox.by };
}

/** @throws SkeinError `SKEIN_SANDBOX` if this machine has none */
export async function needSandbox(who: string): Promise<Sandbox> {
  const sandbox = await findSandbox();
  if (sandbox !== undefined) return sandbox;
  throw new SkeinError('SKEIN_SANDBOX', `${who} needs a sandbox, and this machine has none that works`, {
    hint: INSTALL_SANDBOX,
  });
}

/** Returns the command line that runs another one in a sandbox. */
export function confined(
  { by, program }: Sandbox,
  argv: readonly string[],
  confinement: Confinement,
): [string, ...string[]] {
  const mounts = mountsOf(confinement);
  const { network, cwd } = confinement;
  if (by === 'bwrap') {
    const shared = network ? ['--share-net'] : [];
    const base = ['--die-with-parent', '--unshare-all', '--unshare-user', ...shared, '--cap-drop', 'ALL'];
    const system = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--ro-bind', '/proc/sys', '/proc/sys'];
    const args = [...base, ...system, ...mounts.flatMap(bwrapMount), '--chdir', cwd];
    return [program, ...args, '--', '/bin/sh', '-c', LIMITED, 'sh', ...argv];
  }
  const apart = ['--user', '--map-root-user', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--ipc'];
  const ids = [process.getuid?.() ?? 0, process.getgid?.() ?? 0].map(String);
  const words = [...ids, cwd, LIMITED, ...mounts.flat(), '--', ...argv];
  return [program, ...apart, ...(network ? [] : ['--net']), '--', '/bin/sh', '-c', UNSHARED, program, ...words];
}

/** `empty`: an empty folder; `null`: an empty file; `read`, `write`: the existing content. Later mounts cover earlier ones. */
export type Mount = readonly ['empty' | 'null' | 'read' | 'write', string];

function bwrapMount([kind, path]: Mount): readonly string[] {
  if (kind === 'empty') return ['--tmpfs', path];
  if (kind === 'null') return ['--ro-bind', '/dev/null', path];
  return [kind === 'read' ? '--ro-bind' : '--bind', path, path];
}

function mountsOf({ project, readable, hidden, kept }: Confinement): readonly Mount[] {
  const home = homedir();
  const secrets = [...PRIVATE.map((name) => join(home, name)), process.env['XDG_CONFIG_HOME'] ?? ''];
  const out = realPaths([...secrets.filter((path) => path !== ''), ...hidden]);
  // The project's mount covers folders around it; hidden paths inside it are mounted after it.
  const around = out.filter((path) => isInside(path, project));
  const others = OF_OTHERS.filter((path) => existsSync(path) && realOf(path) === path);
  // Whether the path is in an emptied folder and not in a part that is mounted again.
  const isGone = (path: string): boolean =>
    others.some((folder) => isInside(folder, path)) && ![project, ...readable].some((folder) => isInside(folder, path));
  return [
    ...others.map((path): Mount => ['empty', path]),
    ...realPaths(NEEDED).map((path): Mount => ['read', path]),
    ...around.map(empty),
    ...realPaths(readable).map((path): Mount => ['read', path]),
    ['write', project],
    ...realPaths(kept).map((path): Mount => ['read', path]),
    ...out.filter((path) => !around.includes(path) && !isGone(path)).map(empty),
  ];
}

function empty(path: string): Mount {
  return [statSync(path).isDirectory() ? 'empty' : 'null', path];
}

function realPaths(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.flatMap((path) => realOf(path) ?? []))];
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

export function isProgram(name: string, cwd: string, path = ''): boolean {
  if (name.includes('/')) return existsSync(resolve(cwd, name));
  return path.split(delimiter).some((folder) => existsSync(resolve(cwd, folder, name)));
}
