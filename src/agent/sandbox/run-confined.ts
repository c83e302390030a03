import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { AUDIT_FOLDER, STORE_FOLDER } from '../../base/own-names.js';
import type { SandboxUse } from '../../plan/agent-spec.js';
import { isInside } from '../../text/files.js';
import { isEnvFile } from '../tools/compare-paths.js';
import type { Folders } from '../tools/paths.js';
import { AGENT_FOLDERS, BESIDE_STORE, decidingPlaces } from '../tools/protection.js';
import { confined, isProgram, needSandbox } from './sandbox.js';
import { refused } from '../tools/tool-input.js';
import { SKIPPED_DIRECTORIES, walk } from '../tools/walk.js';

/** Parts of a repository that name programs, which Git starts outside any sandbox. */
const STARTED_BY_GIT = ['.git/hooks', '.git/config'];

export interface Confining {
  readonly use: SandboxUse;
  readonly folders: Folders;
  /** Real path. */
  readonly cwd: string;
  readonly path: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Returns the command line that runs a program in the sandbox that `use` requires. The tools' working directory is writable, everything
 * else readable, except that files of secrets and Skein's record of runs are hidden; the workflow's own files are read-only.
 *
 * @throws SkeinError `SKEIN_SANDBOX` if no sandbox works; an error with the code `ENOENT` if the program does not exist
 */
export async function runConfined(
  argv: readonly string[],
  { use, folders, cwd, path, signal }: Confining,
): Promise<[string, ...string[]]> {
  const sandbox = await needSandbox('the program');
  const [program = ''] = argv;
  // Without this check, the sandbox would report the missing program as a failure of its own.
  if (!isProgram(program, cwd, path)) throw Object.assign(new Error(`no program ${program}`), { code: 'ENOENT' });
  const project = folders.cwd;
  const stores = folders.own.record.flatMap((store) => BESIDE_STORE.map((end) => store + end));
  const folder = [STORE_FOLDER, AUDIT_FOLDER].map((name) => join(project, name));
  const kept = [...AGENT_FOLDERS, ...STARTED_BY_GIT].map((name) => join(project, name));
  return confined(sandbox, argv, {
    cwd,
    project,
    readable: folders.extra,
    hidden: [...stores, ...folder, ...(await envFilesOf(folders, signal))],
    kept: [
      ...kept,
      ...[...folders.own.definition, ...decidingPlaces(project)].filter(
        (one) => isInside(project, one) && one !== project,
      ),
    ],
    network: use === 'on',
  });
}

/** In the first folder, links are included under their own names, which programs use. */
async function envFilesOf(folders: Folders, signal: AbortSignal): Promise<readonly string[]> {
  const found: string[] = [];
  for (const root of [folders.cwd, ...folders.extra]) {
    found.push(
      ...readdirSync(root, { withFileTypes: true })
        .filter((entry) => isEnvFile(entry.name) && !entry.isDirectory())
        .map(({ name }) => join(root, name)),
    );
    const stopped = (): never => {
      throw refused(`${root} has too many files: those with secrets can't be hidden from the program`);
    };
    for await (const { place } of walk(
      folders,
      { real: root, shown: root, missing: [] },
      { signal, skip: SKIPPED_DIRECTORIES },
      stopped,
    ))
      if (isEnvFile(place.real)) found.push(place.real);
  }
  return found;
}
