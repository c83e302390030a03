/**
 * The first line of a YAML file, by which an editor finds its schema.
 *
 * @example
 * modeline('schema/dag.json'); // '# yaml-language-server: $schema=schema/dag.json\n'
 */
export function modeline(path: string): string {
  return `# yaml-language-server: $schema=${path}\n`;
}
