import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** The folder of real inputs beside the repository. */
export const CORPUS = resolve(import.meta.dirname, '../../../shared/corpus');

/** False, with a printed note, when the corpus is absent. */
export function hasCorpus(): boolean {
  const found = existsSync(CORPUS);
  if (!found) process.stderr.write(`note: ${CORPUS} is absent, its tests are skipped\n`);
  return found;
}

/** A text of the YAML test suite, in which blanks, tabs and line ends are made visible. */
export function suiteText(text: string): string {
  return text
    .replaceAll('␣', ' ')
    .replaceAll(/—*»/g, '\t')
    .replaceAll('↵', '')
    .replace(/∎\n?$/, '')
    .replaceAll('←', '\r')
    .replaceAll('⇔', '\uFEFF');
}
