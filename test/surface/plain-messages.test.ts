import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { compiler } from '../compiler.js';

const ROOT = resolve(import.meta.dirname, '../..');

/** Constructions that a native technical writer would not use, each with what to write. */
const BANNED: readonly (readonly [what: string, pattern: RegExp, instead: string])[] = [
  ['is no X', /(?<!\bthere )\b(?:is|are|was|were|be) no (?!longer\b)\w/i, 'is not a X, not a valid X'],
  ['is told', /\b(?:is|are|was|were|be|been|being) told\b/i, 'is reported, learns, gets'],
  ['goes on with', /\b(?:go|goes|going|gone|went) on (?:with|from|without|at)\b/i, 'continues, resumes'],
  ['besides', /\bbesides?\b/i, 'in addition to, next to, at the same time'],
  ['nobody', /\b(?:no|some)body\b/i, 'no one, someone, another process, the passive'],
  ['that which', /\bthat which\b/i, 'what'],
  ['whatever', /\b(?:whatever|whoever)\b/i, 'any, regardless of, no matter what'],
  ['can not', /\bcan not\b/i, "cannot, can't"],
  ['not any more', /\bany ?more\b/i, 'no longer'],
];

/** Messages that keep their words, each with the reason. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ['That answer can not be used:', 'is sent to models: recorded calls are found by the digest of what was sent'],
]);

function filesIn(folder: string, ending: string): readonly string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true }).map(String);
  return names.filter((name) => name.endsWith(ending)).map((name) => join(folder, name));
}

/** The text of a string or template; undefined for any other node. */
function textOf(node: ts.Node): string | undefined {
  if (compiler.isStringLiteralLike(node)) return node.text;
  if (!compiler.isTemplateExpression(node)) return undefined;
  return [node.head.text, ...node.templateSpans.map((span) => span.literal.text)].join('…');
}

/** What a file says: strings and templates of more than one word, with their lines. */
function wordsIn(file: string): readonly (readonly [place: string, text: string])[] {
  const source = compiler.createSourceFile(file, readFileSync(join(ROOT, file), 'utf8'), compiler.ScriptTarget.Latest);
  const found: (readonly [string, string])[] = [];
  const visit = (node: ts.Node): void => {
    const text = textOf(node);
    if (text?.includes(' ') === true) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      found.push([`${file}:${line + 1}`, text]);
    }
    compiler.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The prose of a page: without blocks of code, what stands in backquotes, and the pairs of "How we write". */
function proseOf(page: string): string {
  const prose = page.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '').replaceAll(/`[^`\n]*`/g, '``');
  return prose.replace(/^## How we write\n[\s\S]*?(?=^## )/m, '');
}

const MESSAGES = filesIn('src', '.ts').flatMap(wordsIn);
const PAGES = ['README.md', 'CHANGELOG.md', ...filesIn('docs', '.md')].flatMap((file) =>
  proseOf(readFileSync(join(ROOT, file), 'utf8'))
    .split('\n')
    .map((line) => [file, line] as const),
);

describe('plain English', () => {
  test('there are messages and pages to read', () => {
    expect(MESSAGES.length).toBeGreaterThan(2_000);
    expect(PAGES.length).toBeGreaterThan(1_000);
  });

  test.each(BANNED)('no message says "%s"', (_, pattern, instead) => {
    const found = MESSAGES.filter(([, text]) => pattern.test(text) && !EXCEPTIONS.has(text));
    expect(found.map((at) => at.join(': ')).join('\n'), `write: ${instead}`).toBe('');
  });

  test.each(BANNED)('no page says "%s"', (_, pattern, instead) => {
    const found = PAGES.filter(([, line]) => pattern.test(line));
    expect(found.map((at) => at.join(': ')).join('\n'), `write: ${instead}`).toBe('');
  });

  test('every exception is still there', () => {
    const texts = new Set(MESSAGES.map(([, text]) => text));
    expect([...EXCEPTIONS.keys()].filter((text) => !texts.has(text))).toEqual([]);
  });
});
