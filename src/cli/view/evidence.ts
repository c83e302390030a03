import { printable } from './printable.js';

/**
 * What a person should see to decide, such as the call of a tool. All of it: what is not shown is allowed unseen.
 *
 * @example
 * evidenceLines({ tool: 'shell', input: { argv: ['ls'] } }); // ['  {', '    "tool": "shell",', ...]
 */
export function evidenceLines(evidence: unknown): readonly string[] {
  if (evidence === undefined) return [];
  const text = typeof evidence === 'string' ? evidence : JSON.stringify(evidence, null, 2);
  return printable(text)
    .split('\n')
    .map((line) => `  ${line}`);
}
