import { dirname, join, relative, sep } from 'node:path';
import { madeOnce } from '../../base/collections.js';
import { isInside } from '../../text/files.js';
import { matchesRule, readIgnoreRules, type IgnoreRule } from './ignore-rules.js';
import { createFolders, type Folders, type Place } from './paths.js';
import { readText } from './text.js';

/** Tells the project's own files from foreign ones: dependencies, ignored, outside, or written under untrusted influence. */
export interface Provenance {
  readonly isForeign: (place: Pick<Place, 'real'>) => Promise<boolean>;
  /** Whether its name is foreign. A folder name such as `node_modules` is not, nor a name that an ignore rule spells out. */
  readonly isForeignName: (place: Pick<Place, 'real'>) => Promise<boolean>;
}

/** Folders whose contents come from others. */
const DEPENDENCIES: ReadonlySet<string> = new Set([
  '.git',
  '.venv',
  '.yarn',
  'Pods',
  '__pypackages__',
  'bower_components',
  'jspm_packages',
  'node_modules',
  'site-packages',
  'vendor',
  'venv',
]);

const MADE = new WeakMap<Folders, Provenance>();

/** Returns the provenance of a session's files. Reads each `.gitignore` of the working directory once in a session. */
export function provenanceOf(folders: Folders): Provenance {
  return madeOnce(MADE, folders, () => makeProvenance(folders));
}

/**
 * Tells whether a file, by its real path, is foreign to a project, for what is read outside of a session.
 *
 * @example
 * await isForeignTo('/project', '/project/node_modules/p/README.md'); // true
 */
export async function isForeignTo(cwd: string, real: string): Promise<boolean> {
  return await makeProvenance(await createFolders(cwd)).isForeign({ real });
}

function makeProvenance(folders: Folders): Provenance {
  const rules = new Map<string, Promise<readonly IgnoreRule[]>>();
  const rulesIn = (folder: string): Promise<readonly IgnoreRule[]> =>
    madeOnce(rules, folder, () => readRulesIn(folders, folder));

  /** Returns the last matching rule for a path, from the folders above it. */
  async function ruleFor(path: string, isFolder: boolean): Promise<IgnoreRule | undefined> {
    let found: IgnoreRule | undefined;
    for (const folder of foldersAbove(folders.cwd, path)) {
      const names = relative(folder, path).split(sep);
      found = (await rulesIn(folder)).findLast((rule) => matchesRule(rule, names, isFolder)) ?? found;
    }
    return found;
  }

  async function isForeign(path: string, isFolder: boolean): Promise<boolean> {
    if (path === folders.cwd) return false;
    if (!isInside(folders.cwd, path)) return true;
    if (
      relative(folders.cwd, path)
        .split(sep)
        .some((name) => DEPENDENCIES.has(name))
    )
      return true;
    const rule = await ruleFor(path, isFolder);
    if (rule !== undefined && !rule.negated) return true;
    return isForeign(dirname(path), true);
  }

  return {
    isForeign: async ({ real }) => (await isForeign(real, false)) || folders.written?.has(real) === true,
    async isForeignName({ real }) {
      if (folders.written?.hasName(real) === true) return true;
      if (await isForeign(dirname(real), true)) return true;
      // Rules for folders alone apply to files too here, so the kind of the entry makes no difference.
      const rule = await ruleFor(real, true);
      return rule !== undefined && !rule.negated && !rule.isLiteral;
    },
  };
}

function foldersAbove(cwd: string, path: string): readonly string[] {
  const all: string[] = [];
  for (let at = dirname(path); isInside(cwd, at); at = dirname(at)) {
    all.unshift(at);
    if (at === cwd) break;
  }
  return all;
}

async function readRulesIn(folders: Folders, folder: string): Promise<readonly IgnoreRule[]> {
  try {
    const place = await folders.locate(join(folder, '.gitignore'));
    const handle = await folders.openFile(place);
    try {
      return readIgnoreRules(await readText(handle, place.shown));
    } finally {
      await handle.close();
    }
  } catch {
    return [];
  }
}
