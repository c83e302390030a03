import { matchesWildcard } from '../../lang/wildcard.js';

export interface IgnoreRule {
  /** Names along the path from the folder of the file; `**` stands for any number of them. */
  readonly names: readonly string[];
  readonly onlyFolders: boolean;
  /** Whether the rule re-includes what it matches. */
  readonly negated: boolean;
  /** Whether the rule spells out the name of what it ignores. */
  readonly isLiteral: boolean;
}

const MOST_RULES = 2_000;

/** Parses the rules of a `.gitignore`, in order. */
export function readIgnoreRules(text: string): readonly IgnoreRule[] {
  return text.split(/\r?\n/).slice(0, MOST_RULES).flatMap(readRule);
}

function readRule(line: string): readonly IgnoreRule[] {
  if (line.startsWith('#')) return [];
  const trimmed = line.replace(/(?<!\\)[ \t]+$/, '');
  const negated = trimmed.startsWith('!');
  const pattern = (negated ? trimmed.slice(1) : trimmed).replaceAll(/\\(.)/g, '$1');
  const onlyFolders = pattern.endsWith('/');
  const parts = pattern.split('/').filter((part) => part !== '');
  if (parts.length === 0) return [];
  // Character sets match broadly in ignoring rules, and drop re-including ones.
  const hasSets = pattern.includes('[');
  if (negated && hasSets) return [];
  const names = parts.map((part) => part.replaceAll(/\[[^\]]*\]?/g, '?'));
  const isAnchored = pattern.replace(/\/$/, '').includes('/');
  // Matches what is below a folder, not the folder itself.
  if (names.at(-1) === '**') names.push('*');
  return [
    {
      names: isAnchored ? names : ['**', ...names],
      onlyFolders,
      negated,
      isLiteral: !/[*?[]/.test(parts.at(-1) ?? ''),
    },
  ];
}

/** Whether a rule matches a path, given as names from the rule's folder on. */
export function matchesRule({ names, onlyFolders }: IgnoreRule, path: readonly string[], isFolder: boolean): boolean {
  return (isFolder || !onlyFolders) && matchesNames(names, path);
}

/** Matches like wildcards over letters: on a mismatch, the last `**` takes one more name. */
function matchesNames(names: readonly string[], path: readonly string[]): boolean {
  let at = 0;
  let from = 0;
  let many = -1;
  let resume = 0;
  while (from < path.length) {
    const name = names[at];
    if (name === '**') {
      many = at;
      resume = from;
      at += 1;
    } else if (name !== undefined && matchesWildcard(name, path[from] ?? '')) {
      at += 1;
      from += 1;
    } else if (many >= 0) {
      at = many + 1;
      resume += 1;
      from = resume;
    } else {
      return false;
    }
  }
  return at === names.length;
}
