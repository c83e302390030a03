import { dirname, join, relative, sep } from 'node:path';
import { madeOnce } from '../../base/collections.js';
import { isInside } from './compare-paths.js';
import type { IgnoreRule } from './ignore-rules.js';
import { matchesRule, readIgnoreRules } from './ignore-rules.js';
import type { Folders, Place } from './paths.js';
import { readText } from './text.js';

/** Tells files that belong to the project from those that came from elsewhere: dependencies, what Git ignores, what lies outside, what was written under untrusted influence. */
export interface Provenance {
  /** Whether what is in a file is from elsewhere. */
  readonly isForeign: (place: Pick<Place, 'real'>) => Promise<boolean>;
  /** Whether its name is. The name of a folder such as `node_modules` is not, nor is one that a rule of the project spells out. */
  readonly isForeignName: (place: Pick<Place, 'real'>) => Promise<boolean>;
}

/** Folders into which others put files. */
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

/** By the folders of a session. */
const MADE = new WeakMap<Folders, Provenance>();

/** Looks at the `.gitignore` files of the working directory, each once in a session. */
export function provenanceOf(folders: Folders): Provenance {
  return madeOnce(MADE, folders, () => makeProvenance(folders));
}

function makeProvenance(folders: Folders): Provenance {
  const rules = new Map<string, Promise<readonly IgnoreRule[]>>();
  const rulesIn = (folder: string): Promise<readonly IgnoreRule[]> =>
    madeOnce(rules, folder, () => readRulesIn(folders, folder));

  /** The rule that speaks last about a path, of those in the folders above it. */
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
      // Whether it is a folder makes no difference: a rule for folders alone is taken for one for both.
      const rule = await ruleFor(real, true);
      return rule !== undefined && !rule.negated && !rule.isLiteral;
    },
  };
}

/** From the working directory down to the folder of a path. */
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
