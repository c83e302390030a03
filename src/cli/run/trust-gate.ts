import { relative } from 'node:path';
import type { Problem } from '../../base/problem.js';
import { shellWord } from '../runs/text.js';
import { printable } from '../view/printable.js';
import { isTyped, printNote } from '../view/streams.js';
import { readLines } from './questions.js';
import { changedSince, isTrusted, noteTrusted, type TrustSubject } from './trusted-files.js';
import { powerLines } from './workflow-powers.js';

/** What the user is asked to agree to, one line per power. */
export function listLines({ powers, isPart }: TrustSubject): readonly string[] {
  return [
    ...powerLines(powers),
    ...(isPart === true ? ['and what these files say: they are not read before a yes'] : []),
  ];
}

export interface TrustFlags {
  /** Agrees to the named file, this once. */
  readonly trust?: boolean;
}

/** How the user is asked. */
interface Asking extends TrustFlags {
  readonly unasked?: true;
}

/** Returns why a file that needs a yes may not be used. On a terminal the user is asked, and a yes is noted. */
export async function untrusted(subject: TrustSubject, shown: string, flags: Asking): Promise<Problem | undefined> {
  const { powers, cwd } = subject;
  if (powers.length === 0 || flags.trust === true) return undefined;
  if (await isTrusted(subject)) return undefined;
  const lines = listLines(subject);
  const since = changeText(await changedSince(subject));
  if (isTyped() && flags.unasked !== true) {
    const isNew = since === '' ? '' : `, and you have not said yes to it${since}`;
    printNote(`${printable(shown)} can do more than read the project${isNew}:`);
    for (const line of lines) printNote(`  ${line}`);
    if (await isAgreed()) {
      await noteTrusted(subject);
      return undefined;
    }
  }
  const where = cwd === undefined || cwd === process.cwd() ? '' : ` in ${printable(cwd)}`;
  return {
    code: 'untrusted-file',
    severity: 'error',
    message: `${printable(shown)} can do more than read the project, and you have not said yes to it${since}:${lines.map((line) => `\n      ${line}`).join('')}`,
    hint: `when you trust it: skein trust ${shellWord(printable(shown))}${where}, or --trust for this once`,
  };
}

/** What has changed since the user said yes to a file; empty if that never happened. */
function changeText(changed: readonly string[] | undefined): string {
  if (changed === undefined) return '';
  const [first = 'what it can do', ...more] = changed.map((path) => printable(relative(process.cwd(), path)));
  return ` since ${first}${more.length === 0 ? '' : ` and ${more.length} more`} changed`;
}

/** Asks on a terminal. Without a terminal, resolves to false. */
export async function isAgreed(): Promise<boolean> {
  if (!isTyped()) return false;
  const lines = await readLines(process.stdin);
  process.stderr.write('trust it? (y/n) > ');
  return /^y(?:es)?$/i.test((await lines.next())?.trim() ?? '');
}
