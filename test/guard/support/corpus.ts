import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** Texts with planted instructions, and their harmless counterparts; not part of the repository. Nobody tunes a rule on them. */
const FOLDER = resolve(import.meta.dirname, '../../../../shared/corpus/injection');

/** A text that a tool gives, and what a model does that obeys it. */
export interface Case {
  readonly id: string;
  readonly user_task?: string | null;
  readonly user_task_tools?: readonly string[];
  readonly tool_result: string;
  readonly payload?: string | null;
  readonly forbidden_tools?: readonly string[];
}

export const hasCorpus = existsSync(FOLDER);
if (!hasCorpus) console.log('skipped: there is no corpus of injections at ../shared/corpus/injection');

/** The cases of a file; none where there is no corpus. */
export function casesOf(file: 'injection-cases' | 'benign-cases'): readonly Case[] {
  if (!hasCorpus) return [];
  const lines = readFileSync(resolve(FOLDER, `${file}.jsonl`), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as Case);
}

/** What an honest server says of itself: which of its tools do nothing but read. */
export function onlyReads(tool: string): boolean {
  return /^(?:get|search|read|list|check)_|_(?:database|simulator|manager|api|fusion|evaluator|checker|tracker)$/.test(
    tool,
  );
}
