import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatWithOptions } from 'node:util';
import { ROOT } from './run-example.js';

const ENTRIES: Readonly<Record<string, string>> = {
  skein: 'src/index.ts',
  'skein/agent': 'src/agent/index.ts',
  'skein/graph': 'src/graph.ts',
  'skein/machine': 'src/machine.ts',
  'skein/sqlite': 'src/sqlite.ts',
  'skein/testing': 'src/testing/index.ts',
  'skein/tree': 'src/tree.ts',
  'skein/yaml': 'src/yaml.ts',
};

/**
 * What a snippet says that it prints: the comment behind a `console.log(...)`, or the comment lines below it; those of a loop stand below its
 * last line.
 */
export function promisedOutput(text: string): readonly string[] {
  const promised: string[] = [];
  let below = false;
  for (const line of text.split('\n')) {
    const comment = /^\s*\/\/ ?(.*)$/.exec(line)?.[1];
    if (comment !== undefined) {
      if (below) promised.push(comment);
      continue;
    }
    const behind = line.includes('console.log(') ? /\); \/\/ (.*)$/.exec(line)?.[1] : undefined;
    if (behind !== undefined) promised.push(behind);
    below = behind === undefined && (line === '}' || line.includes('console.log('));
  }
  return promised;
}

/** Runs a TypeScript snippet as a module of its own, with `src` as `skein`, and gives the lines that it printed. */
export async function runSnippet(text: string): Promise<readonly string[]> {
  const printed: string[] = [];
  const folder = await mkdtemp(join(tmpdir(), 'skein-snippet-'));
  const print = (...values: unknown[]): void => {
    printed.push(...formatWithOptions({ breakLength: Number.POSITIVE_INFINITY }, ...values).split('\n'));
  };
  const global = globalThis as unknown as Record<string, unknown>;
  global[folder] = { log: print, error: print };
  try {
    const file = join(folder, 'snippet.ts');
    const body = text.replaceAll(/ from '(skein[/a-z]*)';/g, (_, name: string) => {
      const entry = ENTRIES[name];
      if (entry === undefined) throw new Error(`a snippet imports ${name}, which does not exist`);
      return ` from ${JSON.stringify(join(ROOT, entry))};`;
    });
    await writeFile(file, `const console = globalThis[${JSON.stringify(folder)}];\n${body}`);
    await import(/* @vite-ignore */ file);
    return printed;
  } finally {
    Reflect.deleteProperty(global, folder);
    await rm(folder, { recursive: true, force: true });
  }
}
