import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { run } from 'skein';
import { loadWorkflow } from 'skein/yaml';
import type { Program } from './kills.js';
import { FILES } from './world.js';

/** A folder for the programs of a test. */
export function folder(): string {
  const cwd = mkdtempSync(join(tmpdir(), 'skein-resumed-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  for (const file of FILES) writeFileSync(join(cwd, file), 'known');
  return cwd;
}

/** The program of a file, which is JSON, and of the files beside it; `inputs` are those of its runs. */
export async function programOf(
  cwd: string,
  files: Readonly<Record<string, string>>,
  inputs: Readonly<Record<string, unknown>>,
): Promise<Program> {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  // The same in another form: comments, more lines.
  const edited = JSON.stringify(JSON.parse(files['flow.yaml'] ?? ''), null, 2);
  writeFileSync(join(cwd, 'edited.yaml'), `# Edited.\n${edited}\n`);
  const [workflow, other] = [await loadWorkflow('flow.yaml', { cwd }), await loadWorkflow('edited.yaml', { cwd })];
  const errors = workflow.problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(errors.map(({ code, message }) => `${code}: ${message}`).join('\n'));
  const ledger = join(cwd, 'ledger.txt');
  return {
    // A step may be carried out in several rounds.
    once: false,
    effectOf: (key) => {
      const id = /(?:^|\/)(r\d+)(?:[#~]\d+)*@tool#1\.1$/.exec(key)?.[1];
      return id === undefined ? undefined : `effect ${id}`;
    },
    session: async (its, start, isEdited) => {
      const given = start.resume === undefined ? { inputs } : {};
      const { result } = run(isEdited ? other : workflow, { ...start, ...given, models: its.models(), cwd });
      const { runId, outcome, questions, census, error, state } = await result;
      if (existsSync(ledger)) {
        const lines = readFileSync(ledger, 'utf8').split('\n').filter(Boolean);
        its.done.push(...lines.map((line) => `effect ${line}`));
        rmSync(ledger);
      }
      return { runId, outcome, questions, census, error, given: state };
    },
  };
}
