import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from './run-example.js';

/** A code fence of a Markdown file. */
export interface Snippet {
  /** `docs/dag.md:12`. */
  readonly place: string;
  readonly language: string;
  readonly text: string;
}

/** The code fences of a Markdown text. */
function fencesOf(text: string, file: string): readonly Snippet[] {
  const found: Snippet[] = [];
  let open: { readonly line: number; readonly language: string; readonly body: string[] } | undefined;
  text.split('\n').forEach((line, index) => {
    if (open === undefined) {
      const language = /^```(\w+)\s*$/.exec(line)?.[1];
      if (language !== undefined) open = { line: index + 1, language, body: [] };
    } else if (line === '```') {
      found.push({ place: `${file}:${open.line}`, language: open.language, text: `${open.body.join('\n')}\n` });
      open = undefined;
    } else open.body.push(line);
  });
  if (open !== undefined) throw new Error(`${file}:${open.line}: the code fence is not closed`);
  return found;
}

/** The code fences of the documentation: `docs/*.md` about workflows, and the README when there is one. */
export async function docSnippets(): Promise<readonly Snippet[]> {
  const docs = (await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md')).toSorted();
  const files = [...docs.map((name) => `docs/${name}`), 'README.md'];
  const texts = await Promise.all(files.map((file) => readFile(join(ROOT, file), 'utf8').catch(() => '')));
  const snippets = files.flatMap((file, at) => fencesOf(texts[at] ?? '', file));
  // Files of prices, of limits and of policies are not workflows.
  return snippets.filter(({ text }) => !/^# (?:\S*\/)?(?:prices|limits|policy)\.yaml/.test(text));
}

/**
 * A workflow around a part of one: what a documentation snippet leaves out is added, so that everything that it shows is checked.
 */
export function completeWorkflow(text: string): string {
  const has = (key: string): boolean => new RegExp(`^${key}:`, 'm').test(text);
  const agents = [...new Set([...text.matchAll(/\bagent: ?([\w-]+)/g)].map((match) => match[1] ?? ''))];
  const parts = [
    // With agents and steps it looks like a whole file, which people copy: it has to run as it is printed.
    has('name') || (has('agents') && has('steps')) ? '' : 'name: snippet\n',
    has('agents') || agents.length === 0 ? '' : `agents:\n${agents.map(inlineAgent).join('')}`,
    text,
    has('steps') ? '' : stepsFor(text),
  ];
  return parts.join('');
}

function inlineAgent(name: string): string {
  return `  ${name}: { inline: { prompt: Hello } }\n`;
}

/** Uses every agent of the snippet once. */
function stepsFor(text: string): string {
  const section = /^agents:\n((?: .*\n|\n)*)/m.exec(text)?.[1] ?? '';
  const names = [...section.matchAll(/^ {2}([\w-]+):/gm)].map((match) => match[1] ?? '');
  const agents = names.length === 0 ? 'agents:\n  someone: { inline: { prompt: Hello } }\n' : '';
  const steps = (names.length === 0 ? ['someone'] : names).map(
    (name) => `  - { id: use-${name}, agent: ${name}, prompt: Hello }\n`,
  );
  return `${agents}steps:\n${steps.join('')}`;
}

/** A pipeline around a part of one: agents that its steps name and that it does not have are added. */
export function completePipeline(text: string): string {
  const file = (parse(text) ?? {}) as {
    readonly agents?: Readonly<Record<string, unknown>>;
    readonly workflow?: unknown;
  };
  const known = new Set(Object.keys(file.agents ?? {}));
  const used = [...namedAgents(file.workflow)].filter((name) => !known.has(name));
  if (known.size === 0 && used.length === 0) used.push('someone');
  const added = used.map((name) => `  ${name}: { instruction: You help. }\n`).join('');
  return known.size === 0 ? `agents:\n${added}${text}` : text.replace(/^agents:\n/m, `agents:\n${added}`);
}

function namedAgents(step: unknown): ReadonlySet<string> {
  if (Array.isArray(step)) return new Set(step.flatMap((one) => [...namedAgents(one)]));
  if (typeof step !== 'object' || step === null) return new Set();
  const { type, name, ...rest } = step as Readonly<Record<string, unknown>>;
  const own = type === 'agent' && typeof name === 'string' ? [name] : [];
  return new Set([...own, ...Object.values(rest).flatMap((value) => [...namedAgents(value)])]);
}
