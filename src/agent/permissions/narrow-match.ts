import { matchesWildcard } from '../../lang/wildcard.js';
import { hasRiskyWord } from '../../plan/risky-commands.js';

/**
 * Comparisons for rules that allow something: a `*` never crosses a separator. Each function returns true if the text matches the pattern,
 * part by part.
 */

/**
 * Matches a path by segments: `*` stays within its segment, as the last one matches all below; `**` matches any number.
 * `matchesPath('src/*', 'src/a/b.ts')` gives `true`. `matchesPath('src/*.ts', 'src/a/b.ts')` gives `false`.
 */
export function matchesPath(pattern: string, path: string): boolean {
  return matchesSegments(pattern.split('/'), path.split('/'));
}

function matchesSegments(pattern: readonly string[], segments: readonly string[]): boolean {
  // The segments at which the pattern so far can end; avoids backtracking.
  let ends = new Set([0]);
  for (const [i, part] of pattern.entries()) {
    if (part === '*' && i === pattern.length - 1) return [...ends].some((at) => at < segments.length);
    const next = new Set<number>();
    for (const at of ends) {
      if (part === '**') for (let to = at; to <= segments.length; to += 1) next.add(to);
      else if (at < segments.length && matchesWildcard(part, segments[at] ?? '')) next.add(at + 1);
    }
    ends = next;
  }
  return ends.has(segments.length);
}

const ADDRESS = /^([^:/?#]+):\/\/([^/?#]*)([^?#]*)(?:\?(.*))?$/;

/**
 * Matches an address as it is requested: the scheme, the host by labels (a first `*` matches one or more), the port, the path by segments,
 * the query. A pattern without a port matches only the scheme's usual one. A path that ends in `*` matches any query.
 * `matchesAddress('https://*.example.com/*', 'https://docs.example.com/a?b=c')` gives `true`.
 * `matchesAddress('http://*.example.com/*', 'http://127.0.0.1/.example.com/')` gives `false`.
 */
export function matchesAddress(pattern: string, text: string): boolean {
  if (pattern === '*') return true;
  const wanted = ADDRESS.exec(pattern);
  if (wanted === null || !URL.canParse(text)) return false;
  const url = new URL(text);
  const [, scheme = '', host = '', path = '', query] = wanted;
  if (url.username !== '' || url.password !== '') return false;
  if (!matchesWildcard(scheme.toLowerCase(), url.protocol.slice(0, -1))) return false;
  return matchesHost(host.toLowerCase(), url.host) && matchesPlace({ path: path || '/', query }, url);
}

function matchesPlace(
  { path, query }: { readonly path: string; readonly query: string | undefined },
  url: URL,
): boolean {
  const given = url.search.slice(1);
  if (query === undefined) return (given === '' || /(?:^|\/)\*{1,2}$/.test(path)) && matchesPath(path, url.pathname);
  if (matchesPath(path, url.pathname) && matchesWildcard(query, given)) return true;
  // In this case the question mark stands for a character of the path.
  return given === '' && matchesPath(`${path}?${query}`, url.pathname);
}

function matchesHost(pattern: string, host: string): boolean {
  const [name = '', port = ''] = splitPort(pattern);
  const [ownName = '', ownPort = ''] = splitPort(host);
  if (!matchesWildcard(port, ownPort)) return false;
  if (name === '*') return true;
  // Parts of a numeric address are not names: only the whole address identifies the host.
  if (/^[\d.]+$|^\[/.test(ownName)) return name === ownName;
  const labels = name.split('.');
  const own = ownName.split('.');
  if (labels[0] !== '*')
    return labels.length === own.length && labels.every((label, i) => matchesWildcard(label, own[i] ?? ''));
  const rest = labels.slice(1);
  if (own.length <= rest.length) return false;
  const tail = own.slice(own.length - rest.length);
  return rest.every((label, i) => matchesWildcard(label, tail[i] ?? ''));
}

function splitPort(host: string): readonly string[] {
  const [, name = host, port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(host) ?? [];
  return [name, port];
}

/**
 * Matches a command by words. A `*` stays within its word, and in a word with slashes within its segment. A last word `*`, or a `*` right
 * after the letters of the last word, matches any further words except those that make the program do more than it seems: `hasRiskyWord`.
 * `matchesCommand('git log*', ['git', 'log', '--stat'])` gives `true`.
 * `matchesCommand('git log*', ['git', 'logx'])` gives `false`.
 */
export function matchesCommand(pattern: string, words: readonly string[]): boolean {
  const parts = [...pattern.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([part]) => part.replaceAll("'", ''));
  if (parts.length === 1 && parts[0] === '*') return true;
  const last = parts.at(-1) ?? '';
  const isOpen = last === '*' || /[A-Za-z0-9]\*$/.test(last);
  const fixed = !isOpen ? parts : last === '*' ? parts.slice(0, -1) : [...parts.slice(0, -1), last.slice(0, -1)];
  if (words.length < fixed.length || (!isOpen && words.length > fixed.length)) return false;
  if (!fixed.every((part, i) => matchesWord(part, words[i] ?? ''))) return false;
  return !hasRiskyWord(words, fixed.length);
}

function matchesWord(pattern: string, word: string): boolean {
  if (pattern === word) return true;
  if (word.split('/').includes('..')) return false;
  return matchesPath(pattern, word);
}
