import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.js';
import { EXIT, printProblems, refusalReport } from '../failures.js';
import { addJudgingOptions } from '../run/run-options.js';
import { lookAt, type JudgingFlags, type SurroundingFlags } from '../run/load-workflow.js';
import type { JsonFlag } from '../run/run-flags.js';
import { localTime, shellWord, tableLines } from '../runs/text.js';
import { forgetTrusted, isTrusted, noteTrusted, trustedFiles, type TrustSubject } from '../run/trusted-files.js';
import { acceptTools, changedTools, forgetTools, type ChangedTool } from '../run/tool-pins.js';
import { keptFiles, vouchFor } from '../run/written-files.js';
import { isAgreed, listLines } from '../run/trust-gate.js';
import { jsonText, printable } from '../view/printable.js';
import { isTyped, printNote, printResult } from '../view/streams.js';

interface TrustFlags extends JudgingFlags, SurroundingFlags, JsonFlag {
  readonly yes?: boolean;
  readonly list?: boolean;
  readonly forget?: string;
  readonly file?: string;
}

/** `skein trust FILE`. */
export function define(command: Command, done: (code: number) => void): void {
  addJudgingOptions(command)
    .argument('[file]', 'the workflow file')
    .option('-y, --yes', 'trust it without asking')
    .option('--list', 'list the files that you trust')
    .option('--forget <file>', 'stop trusting a file')
    .option('--file <path>', 'vouch for a file that an agent wrote under the influence of untrusted text')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nA yes holds for the file as it is now: its powers, the text of all its files, and the files that its commands name.',
    )
    .action(async (file: string | undefined, flags: TrustFlags) => {
      done(await trust(file, flags));
    });
}

async function trust(file: string | undefined, flags: TrustFlags): Promise<number> {
  const { file: written } = flags;
  if ([file, flags.list, flags.forget, written].filter((one) => one !== undefined).length !== 1) {
    const hint = 'skein trust FILE, skein trust --list, skein trust --forget FILE or skein trust --file PATH';
    throw new SkeinError('SKEIN_USAGE', 'trust takes one of: a file, --list, --forget, --file', { hint });
  }
  if (written !== undefined) return vouch(written, flags);
  if (flags.forget !== undefined) return forget(flags.forget, flags);
  return file === undefined ? list(flags) : await trustFile(file, flags);
}

function list({ json = false }: TrustFlags): number {
  const files = trustedFiles();
  const written = keptFiles().map(({ path }) => path);
  if (json) printResult(jsonText({ files, written }));
  else if (files.length === 0) printNote('you trust no file yet');
  else
    printResult(
      tableLines([
        ['trusted', 'file'],
        ...files.map(({ file, since }) => [localTime(Date.parse(since)), printable(file)]),
      ]).join('\n'),
    );
  if (!json && written.length > 0)
    printResult(['', 'written by agents that had heard something untrusted:', ...written.map(printable)].join('\n'));
  return EXIT.ok;
}

function vouch(file: string, { json = false }: TrustFlags): number {
  if (!vouchFor(file)) {
    const hint = 'skein trust --list shows files that agents wrote after they had heard something untrusted';
    throw new SkeinError('SKEIN_USAGE', `${file} is not known as a file of untrusted text`, { hint });
  }
  printNote(`${printable(file)} is vouched for as it is now`);
  if (json) printResult(jsonText({ file, vouchedFor: true }));
  return EXIT.ok;
}

function forget(file: string, { json = false }: TrustFlags): number {
  forgetTools(file);
  if (forgetTrusted(file) === 0) {
    const hint = 'skein trust --list shows those that you trust';
    throw new SkeinError('SKEIN_USAGE', `you do not trust ${file}`, { hint });
  }
  printNote(`${printable(file)} is no longer trusted`);
  if (json) printResult(jsonText({ file, trusted: false }));
  return EXIT.ok;
}

async function trustFile(file: string, flags: TrustFlags): Promise<number> {
  const { yes, json } = flags;
  const looked = await lookAt(file, { ...flags, cwd: process.cwd() });
  if ('problems' in looked) {
    printProblems(looked.problems);
    if (json === true) printResult(refusalReport(looked));
    return EXIT.invalid;
  }
  const { subject } = looked;
  const { powers, isPart } = subject;
  const changed = changedTools(subject.file);
  const known = await isKnown(subject);
  const before = known && changed.length === 0;
  // If the user agrees in advance, only the complete list matters.
  if (json !== true && (isPart !== true || yes !== true)) tell(file, subject, known, changed);
  const trusted = before || yes === true || (await isAgreed());
  if (trusted && !before) await note(subject);
  if (trusted && isPart === true) return await trustFile(file, flags);
  if (json === true)
    printResult(jsonText({ file, trusted, powers, ...(changed.length > 0 && { changedTools: changed }) }));
  if (!before) tellVerdict(file, trusted);
  return trusted ? EXIT.ok : EXIT.invalid;
}

/** True if the user has already agreed to everything that needs agreement. */
async function isKnown(subject: TrustSubject): Promise<boolean> {
  return subject.powers.length === 0 || (await isTrusted(subject));
}

function tellVerdict(file: string, trusted: boolean): void {
  if (trusted) printNote(`${printable(file)} is trusted as it is now`);
  else if (!isTyped()) printNote(`    hint: skein trust ${shellWord(file)} --yes trusts it`);
}

async function note(subject: TrustSubject): Promise<void> {
  await noteTrusted(subject);
  if (subject.isPart !== true) acceptTools(subject.file);
}

function tell(file: string, subject: TrustSubject, known: boolean, changed: readonly ChangedTool[]): void {
  if (subject.powers.length === 0) return printNote(`${printable(file)} can only read the project: it needs no yes`);
  printResult(`${printable(file)}${known ? ' is trusted as it is' : ''}`);
  for (const line of listLines(subject)) printResult(`  ${line}`);
  if (changed.length === 0) return;
  printResult('tools that are not what they were when you last said yes:');
  for (const { server, tool, description } of changed) printResult(printable(`  ${server}/${tool}: ${description}`));
}
