import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { loadDag } from '../src/yaml.js';
import { measure, printTable } from './measure.js';

/** The program as it is installed, which `npm run bench` builds first. */
const MAIN = resolve('dist/cli/main.js');
const CORPUS = resolve('../shared/corpus');
const FOLDERS = ['malformed', 'agents'];

/** Eight steps in a chain of agents that answer by echo. */
const EIGHT = `name: eight
agents: { a: { inline: { prompt: You help. } } }
steps:
${Array.from({ length: 8 }, (_, at) => `  - { id: s${at}, agent: a, prompt: p${at === 0 ? '' : `, depends_on: [s${at - 1}]`} }`).join('\n')}
`;

/** Wall time of whole processes, and of loading the slowest of many bad files. Gives the goals that were missed. */
export async function benchStartUp(): Promise<string[]> {
  const cwd = mkdtempSync(join(tmpdir(), 'skein-bench-'));
  try {
    writeFileSync(join(cwd, 'flow.yaml'), EIGHT);
    await processes(cwd);
    return await loading();
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

function runProgram(cwd: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${String(status)}: ${stderr}`);
}

async function processes(cwd: string): Promise<void> {
  const times = await measure(
    {
      name: 'start-up',
      units: 1,
      candidates: {
        bare: () => runProgram(cwd, ['-e', '0']),
        help: () => runProgram(cwd, [MAIN, '--help']),
        run: () => runProgram(cwd, [MAIN, 'run', 'flow.yaml', '--mock', '--quiet']),
      },
    },
    11,
  );
  const { bare = 0, help = 0, run = 0 } = times;
  const row = (command: string, ms: number): string[] => [command, ms.toFixed(0), (ms / bare).toFixed(2)];
  printTable(
    'Processes, milliseconds of wall time, median of 11',
    ['command', 'ms', 'of bare node'],
    [row('node -e 0', bare), row('skein --help', help), row('skein run, 8 mock steps', run)],
  );
}

async function loading(): Promise<string[]> {
  if (!existsSync(CORPUS)) {
    console.log(`\nLoading: skipped, ${CORPUS} is not there`);
    return [];
  }
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(CORPUS, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  let slowest = { ms: 0, file: '' };
  for (const file of files) {
    const start = performance.now();
    await loadDag(file, { cwd: CORPUS });
    const ms = performance.now() - start;
    if (ms > slowest.ms) slowest = { ms, file };
  }
  const held = slowest.ms <= 1_000;
  console.log(
    `\nLoading ${files.length} malformed files and agents: the slowest, ${basename(slowest.file)}, took ${slowest.ms.toFixed(0)} ms (goal <= 1000, ${held ? 'held' : 'NOT held'})`,
  );
  return held ? [] : [`loading ${slowest.file}: ${slowest.ms.toFixed(0)} ms, goal 1000`];
}
