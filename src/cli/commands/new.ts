import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { SkeinError } from '../../base/errors.js';
import { ownPackage } from '../own-package.js';
import { TEMPLATE_NAMES, newProject, type TemplateName } from '../new/templates.js';
import { lookAt } from '../run/load-workflow.js';
import { noteTrusted } from '../run/trusted-files.js';
import { nextSteps } from '../view/next-steps.js';
import { printable } from '../view/printable.js';
import { shellWord } from '../runs/text.js';
import { printNote, printResult } from '../view/streams.js';

/** `skein new NAME`. */
export function define(command: Command): void {
  command
    .argument('<name>', 'the folder to create')
    .addOption(new Option('--template <name>', 'what to start from').choices(TEMPLATE_NAMES).default('chain'))
    .addOption(new Option('--ts', 'the same as --template typescript').conflicts('template'))
    .action((name: string, { template, ts = false }: { readonly template: TemplateName; readonly ts?: boolean }) =>
      writeTemplate(name, ts ? 'typescript' : template),
    );
}

const SUCH_AS = 'such as: skein new weekly-report';

async function writeTemplate(folder: string, template: TemplateName): Promise<void> {
  if (folder === '')
    throw new SkeinError('SKEIN_USAGE', 'the name of the new folder is empty', { hint: `name it, ${SUCH_AS}` });
  const target = resolve(folder);
  const name = basename(target);
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(name)) {
    throw new SkeinError('SKEIN_USAGE', `${JSON.stringify(name)} can't be the name of a workflow`, {
      hint: `use letters, digits, "-" and "_", ${SUCH_AS}`,
    });
  }
  await makeFolder(target, folder);
  const { files, command } = await newProject(template, name);
  const [main = ''] = files.keys();
  for (const [path, text] of files) {
    const file = join(target, path);
    await mkdir(dirname(file), { recursive: true });
    // The folder is new, so the file can't exist; if another process was faster, its file stays.
    await writeFile(file, text, { flag: 'wx' });
  }
  await trustOwn(join(folder, main));
  printResult(`made ${printable(folder)} with ${[...files.keys()].join(', ')}`);
  const { checkout } = ownPackage();
  if (template === 'typescript' && checkout !== undefined)
    printNote(
      `package.json depends on the Skein in ${printable(checkout)}, as this one is not installed from a registry`,
    );
  const script = shellWord(`--mock=${join(folder, 'script.yaml')}`);
  const next = nextSteps(
    'run it with its script instead of a model',
    `skein ${command} ${shellWord(join(folder, main))} ${script}`,
  );
  for (const line of next) printNote(line);
}

/** Trusts a new file as written, so that its author need not confirm it while it is unchanged. */
async function trustOwn(file: string): Promise<void> {
  const looked = await lookAt(file, { cwd: process.cwd() });
  if ('problems' in looked || looked.subject.powers.length === 0) return;
  try {
    await noteTrusted(looked.subject);
  } catch {
    // The first run asks the user instead.
  }
}

const NO_ROOM: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

/** Creates a folder that must not exist: nothing is ever overwritten. */
async function makeFolder(target: string, shown: string): Promise<void> {
  try {
    await mkdir(dirname(target), { recursive: true });
    await mkdir(target);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    const message =
      code === 'EEXIST' ? `${shown} already exists; nothing was written` : `${shown} can't be made (${code})`;
    const hint = NO_ROOM.has(code)
      ? 'free some space, or choose another folder'
      : 'choose another name, in a folder that you may write to';
    throw new SkeinError('SKEIN_FILE', message, { hint });
  }
}
