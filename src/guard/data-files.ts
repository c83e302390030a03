/** Texts and tables that no program runs or obeys by their name. */
const DATA = /\.(?:md|markdown|txt|rst|adoc|csv|tsv|jsonl|ndjson|log)$/i;

/** Files with such names that programs or agents obey all the same. */
const OBEYED =
  /^(?:(?:agents?|claude|gemini|copilot-instructions|skills?|memory|rules|conventions)\.md|.+\.(?:agent|prompt|instructions|chatmode|rules)\.md|(?:.*requirements.*|constraints.*|cmakelists)\.txt|llms.*\.txt|robots\.txt)$/i;

/** Letters that every file system and every program takes for what they are. */
const PLAIN = /^[\p{L}\p{N} _.,+()@-]+$/u;

/**
 * Whether a file, by its path below the working directory, holds nothing but text: neither its name nor a folder on the way begins with a dot, and
 * nothing that runs or obeys files looks for it.
 *
 * @example
 * isDataFile('reports/july.md'); // true
 * isDataFile('package.json'); // false
 */
export function isDataFile(path: string): boolean {
  const names = path.split('/');
  const name = names.at(-1) ?? '';
  return DATA.test(name) && !OBEYED.test(name) && names.every((one) => !one.startsWith('.') && PLAIN.test(one));
}
