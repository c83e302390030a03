import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadWorkflowText } from '../src/yaml.js';
import { median, printTable } from './measure.js';

const LINES = 500;
/** Milliseconds of processor time from the text of {@link LINES} lines to its checked plan, by code that was compiled. */
const GOAL_MS = 20;
/** How much more a line of a file ten times as long may cost. */
const GROWTH_GOAL = 1.5;
/** How often the file is loaded before it is measured: then its code is compiled, however busy the machine is. */
const WARM_UP = 100;
const ROUNDS = 31;
/** Processes in each of which the file is loaded once. */
const PROCESSES = 7;

/** Sixteen lines with statements in the proportions of public Agentfiles: six goals to an agent, one in six with agents, two with fields. */
function part(at: number): readonly string[] {
  const refine =
    at % 5 === 0 ? [`CONVERGE refine${at} "Refine $facts${at}." WITHIN $rounds`] : ['# Nothing to refine.'];
  return [
    `# Part ${at}: what is known, and what follows.`,
    `AGENT critic${at} "You criticise what is said about $topic."`,
    `GOAL read${at} "Read about $topic at a $depth level." -> facts${at}, doubts${at}`,
    `GOAL sort${at} """`,
    `Sort these by how sure they are:`,
    `$facts${at}`,
    `"""`,
    `GOAL judge${at} "Judge $doubts${at}." USING critic${at}`,
    `GOAL pick${at} "Pick the three that matter most."`,
    `GOAL plan${at} "Plan what to write." -> outline${at}`,
    `GOAL write${at} "Write by the outline: $outline${at}"`,
    ...refine,
    `RUN begin${at} USING read${at}, sort${at}, judge${at}`,
    `RUN end${at} USING pick${at}, plan${at}, write${at}${at % 5 === 0 ? `, refine${at}` : ''}`,
    '',
    '',
  ];
}

function textOf(lines: number): string {
  const head = ['NAME bench', 'INPUT topic', 'INPUT depth DEFAULT "deep"', 'INPUT rounds DEFAULT 3'];
  const parts = Array.from({ length: Math.floor((lines - head.length) / 16) }, (_, at) => part(at)).flat();
  return [...head, ...parts].join('\n');
}

/** What a process loads the text of its standard input with, once: the package as it is installed, which `npm run bench` builds first. */
const ONCE = `
import { readFileSync } from 'node:fs';
import { loadWorkflowText } from ${JSON.stringify(pathToFileURL(resolve('dist/yaml.js')).href)};
const text = readFileSync(0, 'utf8');
const before = process.cpuUsage();
const { plan } = await loadWorkflowText(text, { cwd: '/', file: 'Agentfile' });
const { user, system } = process.cpuUsage(before);
console.log(plan === undefined ? 'no plan' : (user + system) / 1_000);
`;

function cpuOfFirst(text: string): number {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', ONCE], { input: text });
  const cpu = Number.parseFloat(String(stdout));
  if (Number.isNaN(cpu)) throw new Error(`${String(stdout)}${String(stderr)}`);
  return cpu;
}

async function cpuOf(text: string): Promise<number> {
  const before = process.cpuUsage();
  const { plan, problems } = await loadWorkflowText(text, { cwd: '/', file: 'Agentfile' });
  if (plan === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Agentfiles to plans. */
export async function benchAgentfiles(): Promise<readonly string[]> {
  const [short, long] = [textOf(LINES), textOf(10 * LINES)];
  const wide = `NAME wide\nGOAL a "${'word '.repeat(200_000)}"\nRUN main USING a\n`;
  const first = median(Array.from({ length: PROCESSES }, () => cpuOfFirst(short)));
  for (let round = 0; round < WARM_UP; round++) await cpuOf(short);
  const times: Record<'short' | 'long' | 'wide', number[]> = { short: [], long: [], wide: [] };
  for (let round = 0; round < ROUNDS; round++) {
    times.short.push(await cpuOf(short));
    if (round % 5 === 0) {
      times.long.push(await cpuOf(long));
      times.wide.push(await cpuOf(wide));
    }
  }
  const [warm, whole] = [median(times.short), median(times.long)];
  const growth = whole / warm / 10;
  printTable(
    'Agentfiles to checked plans, processor time (medians)',
    ['', 'ms', 'goal'],
    [
      [`${LINES} lines, the first time in a process`, first.toFixed(1), ''],
      [`${LINES} lines, warm`, warm.toFixed(1), `< ${GOAL_MS}`],
      [`${10 * LINES} lines, warm`, whole.toFixed(1), ''],
      ['a line of them by one of the short file', growth.toFixed(2), `< ${GROWTH_GOAL}`],
      ['one line of 1 MB', median(times.wide).toFixed(1), ''],
    ],
  );
  return [
    ...(warm < GOAL_MS ? [] : [`an Agentfile of ${LINES} lines to its plan takes ${warm.toFixed(1)} ms`]),
    ...(growth < GROWTH_GOAL
      ? []
      : [`a line of a long Agentfile costs ${growth.toFixed(2)} times one of a short file`]),
  ];
}
