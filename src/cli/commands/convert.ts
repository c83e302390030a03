import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.js';
import type { Problem } from '../../base/problem.js';
import { EXIT, printProblems } from '../failures.js';
import { isModule, loadWorkflow, toolNames, type JudgingFlags, type SurroundingFlags } from '../run/load-workflow.js';
import { addJudgingOptions, trustOption } from '../run/run-options.js';
import type { TrustFlags } from '../run/trust-gate.js';
import { printable } from '../view/printable.js';
import { printNote, printResult } from '../view/streams.js';

/** `skein convert FILE`. */
export function define(command: Command, done: (code: number) => void): void {
  trustOption(addJudgingOptions(command))
    .argument('<file>', 'an Agentfile, or a module that exports a tree')
    .option('-o, --out <dir>', 'write the files to this folder instead of stdout')
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, options: ConvertOptions) => {
      done(await convert(file, options));
    });
}

const EXAMPLES = `
Examples:
  skein convert Agentfile > flow.mjs          as code for skein/tree, with its comments
  skein convert flow.mjs --out converted      as an Agentfile, with the agent.toml that it needs`;

interface ConvertOptions extends JudgingFlags, SurroundingFlags, TrustFlags {
  readonly out?: string;
}

interface Converted {
  readonly files: readonly { readonly name: string; readonly text: string }[];
  readonly problems: readonly Problem[];
}

async function convert(file: string, options: ConvertOptions): Promise<number> {
  const { files, problems } = isModule(file) ? await ofModule(file, options) : await ofAgentfile(file, options);
  printProblems(problems);
  const [first, ...others] = files;
  if (first === undefined) return EXIT.invalid;
  if (options.out !== undefined) await writeAll(files, options.out);
  else {
    printResult(first.text.trimEnd());
    if (others.length > 0)
      printNote(`it also needs ${others.map(({ name }) => name).join(' and ')}: --out DIR writes all files`);
  }
  return EXIT.ok;
}

async function ofAgentfile(file: string, options: ConvertOptions): Promise<Converted> {
  // The file may name files outside the project.
  const { part, problems: refused } = await loadWorkflow(file, { ...options, cwd: process.cwd() });
  if (part !== undefined) return { files: [], problems: refused };
  const { convertAgentfile } = await import('../../converting.js');
  const { config, lenient } = options;
  const tools = toolNames(options.tools);
  const { code, problems } = await convertAgentfile(file, {
    cwd: process.cwd(),
    home: homedir(),
    ...(config !== undefined && { config }),
    ...(lenient !== undefined && { lenient }),
    ...(tools !== undefined && { tools }),
  });
  const isRefused = options.strict === true && problems.length > 0;
  const name = `${basename(file)
    .replace(/\.agent$/, '')
    .toLowerCase()}.mjs`;
  return { files: code === undefined || isRefused ? [] : [{ name, text: code }], problems };
}

/** Converts the tree that a module exports, with its runtime. */
async function ofModule(file: string, flags: TrustFlags): Promise<Converted> {
  const cwd = process.cwd();
  const [{ convertTree }, { treeExports }] = await Promise.all([
    import('../../converting.js'),
    import('../modules/load-module.js'),
  ]);
  return convertTree(await treeExports(file, cwd, flags));
}

/** @throws SkeinError `SKEIN_FILE` if a file already exists: then nothing is written */
async function writeAll(files: Converted['files'], dir: string): Promise<void> {
  const folder = resolve(process.cwd(), dir);
  const there = files.map(({ name }) => join(folder, name)).find((path) => existsSync(path));
  if (there !== undefined)
    throw new SkeinError('SKEIN_FILE', `${there} exists already`, { hint: 'name another folder, or remove it' });
  await mkdir(folder, { recursive: true });
  for (const { name, text } of files) {
    await writeFile(join(folder, name), text, { flag: 'wx' });
    printNote(`wrote ${printable(join(dir, name))}`);
  }
}
