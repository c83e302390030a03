import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './skein.js';

/** A command that the README shows, with what it prints when that is shown too. */
export interface ShownCommand {
  readonly command: string;
  readonly shown?: readonly string[];
}

/** A file that the README shows: its first line is a comment with its name. */
export interface ShownFile {
  readonly name: string;
  readonly text: string;
}

/** What stands under one heading of the second level, in order. */
export interface Section {
  readonly title: string;
  readonly parts: readonly (ShownCommand | ShownFile)[];
}

const NAME = /^(?:#|\/\/) ([\w.-]+\.(?:yaml|ts))$/;

/** The sections of the README that show code. A code fence that is neither a file nor commands is an error: nobody would try it. */
export function readmeSections(): readonly Section[] {
  const text = readFileSync(join(ROOT, 'README.md'), 'utf8');
  return text
    .split(/^## /m)
    .map((section) => {
      const fences = [...section.matchAll(/^```(.*)\n([^]*?)^```$/gm)];
      return {
        title: section.split('\n', 1)[0] ?? '',
        parts: fences.flatMap(([, language = '', body = '']) => partsOf(language, body)),
      };
    })
    .filter(({ parts }) => parts.length > 0);
}

function partsOf(language: string, body: string): readonly (ShownCommand | ShownFile)[] {
  const lines = body.trimEnd().split('\n');
  if (language === 'sh') return lines.map((command) => ({ command }));
  if (language === 'console') return dialogue(lines);
  const name = NAME.exec(lines[0] ?? '')?.[1];
  if (name === undefined) throw new Error(`the README shows ${language} that no test tries:\n${body}`);
  return [{ name, text: body }];
}

function dialogue(lines: readonly string[]): readonly ShownCommand[] {
  const commands: { command: string; shown: string[] }[] = [];
  for (const line of lines) {
    if (line.startsWith('$ ')) commands.push({ command: line.slice(2), shown: [] });
    else if (commands.at(-1)?.shown.push(line) === undefined) throw new Error(`no command prints ${line}`);
  }
  return commands;
}

/** What differs from run to run. */
const TIME = /\b(?:\d+m)?\d+(?:\.\d+)?m?s\b/g;

/**
 * Whether a screen is what was shown: line by line, where `...` stands for any lines or none, any time for any other, and the gap between two
 * columns for any wider or narrower one. Empty lines at the beginning and the end don't count.
 */
export function isAsShown(shown: readonly string[], screen: readonly string[]): boolean {
  const pattern = shown.map((line) => (line === '...' ? '(?:.*\\n)*?' : `${withTimes(line)}\\n`)).join('');
  const text = screen.map((line) => line.trimEnd()).join('\n');
  return new RegExp(`^\\n*${pattern}\\n*$`).test(`${text}\n`);
}

function withTimes(line: string): string {
  const plain = line.split(TIME).map((piece) => piece.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  // A column is as wide as the times in it.
  return plain.join(TIME.source).replaceAll(/(?<!^) {2,}/g, ' {2,}');
}
