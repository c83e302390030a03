import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { loadDag } from '../src/yaml.js';
import { median, printTable } from './measure.js';

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

/** The time that whole processes take, and that of loading the slowest of many bad files. Gives the goals that were missed. */
export async function benchStartUp(): Promise<string[]> {
  const cwd = mkdtempSync(join(tmpdir(), 'skein-bench-'));
  try {
    mkdirSync(join(cwd, 'node_modules'));
    symlinkSync(resolve('.'), join(cwd, 'node_modules/skein'));
    writeFileSync(join(cwd, 'flow.yaml'), EIGHT);
    for (const name of ['skein', 'skein/graph']) writeFileSync(join(cwd, moduleOf(name)), `import '${name}';\n`);
    writeFileSync(join(cwd, moduleOf('empty')), '');
    return [...processes(cwd), ...(await loading())];
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

const moduleOf = (name: string): string => `${name.replace('/', '-')}.mjs`;

/** Milliseconds of a process: by the clock, and of processors. */
interface Spent {
  readonly wall: number;
  readonly cpu: number;
}

/** A shell is what tells the processor time of a child. */
function spend(cwd: string, args: readonly string[]): Spent {
  const command = ['-c', 'TIMEFORMAT="spent %3R %3U %3S"; time "$@" > /dev/null', 'time', process.execPath, ...args];
  const { status, stderr } = spawnSync('bash', command, { cwd, encoding: 'utf8' });
  const [wall, user, system] = (/spent (\S+) (\S+) (\S+)/.exec(stderr) ?? [])
    .slice(1)
    .map((text) => Number(text) * 1000);
  if (status !== 0 || wall === undefined || user === undefined || system === undefined)
    throw new Error(`${args.join(' ')} ended with ${String(status)}: ${stderr}`);
  return { wall, cpu: user + system };
}

const RUN = [MAIN, 'run', 'flow.yaml', '--mock', '--quiet'];
const PROGRAMS = {
  bare: ['-e', '0'],
  help: [MAIN, '--help'],
  run: [...RUN, '--no-store'],
  stored: RUN,
  empty: [moduleOf('empty')],
  skein: [moduleOf('skein')],
  graph: [moduleOf('skein/graph')],
};
/** Before Node 22, bare Node reads the certificates that NODE_EXTRA_CA_CERTS names, which takes 1.5 times as long as the rest of its start. */
const [MOST_RUN, MOST_STORED] = Number.parseInt(process.versions.node, 10) < 22 ? [2.8, 3.2] : [4.8, 5.3];
const MOST_IMPORT = 50;
const ROUNDS = 15;

function processes(cwd: string): string[] {
  const names = Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[];
  for (const name of names) spend(cwd, PROGRAMS[name]);
  const spent = Array.from({ length: ROUNDS }, () => names.map((name) => spend(cwd, PROGRAMS[name])));
  const median15 = (name: keyof typeof PROGRAMS, time: keyof Spent): number =>
    median(spent.map((round) => round[names.indexOf(name)]?.[time] ?? Number.NaN));
  const ratio = (name: keyof typeof PROGRAMS, time: keyof Spent): number =>
    median15(name, time) / median15('bare', time);
  const over = (name: keyof typeof PROGRAMS, time: keyof Spent): number =>
    median15(name, time) - median15('empty', time);
  const times = (name: keyof typeof PROGRAMS, most?: number): Row => ({
    cells: [`${ratio(name, 'wall').toFixed(2)} x`, `${ratio(name, 'cpu').toFixed(2)} x`],
    goal: most === undefined ? '' : `${most} x`,
    held: most === undefined || ratio(name, 'cpu') <= most,
  });
  const more = (name: keyof typeof PROGRAMS): Row => ({
    cells: [`+${over(name, 'wall').toFixed(0)} ms`, `+${over(name, 'cpu').toFixed(0)} ms`],
    goal: `+${MOST_IMPORT} ms`,
    held: over(name, 'cpu') <= MOST_IMPORT,
  });
  const rows: Readonly<Record<string, Row>> = {
    'skein --help': times('help'),
    '8 mock steps': times('run', MOST_RUN),
    '8 mock steps, stored': times('stored', MOST_STORED),
    "import 'skein'": more('skein'),
    "import 'skein/graph'": more('graph'),
  };
  printTable(
    `Processes on Node ${process.versions.node}, medians of ${ROUNDS}: over bare Node (${median15('bare', 'cpu').toFixed(0)} ms of processors), over an empty module`,
    ['', 'wall', 'processors', 'goal', ''],
    Object.entries(rows).map(([name, { cells, goal, held }]) => [name, ...cells, goal, held ? '' : 'NOT held']),
  );
  return Object.entries(rows).flatMap(([name, { cells, goal, held }]) =>
    held ? [] : [`start-up, ${name}: ${cells[1]} of processors, goal ${goal}`],
  );
}

interface Row {
  readonly cells: readonly [wall: string, cpu: string];
  readonly goal: string;
  readonly held: boolean;
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
