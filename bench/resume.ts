import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, printTable } from './measure.js';
import type { Measured } from './resume-job.js';

const STEPS = 100_000;
const ROUNDS = 3;
const JOB = join(import.meta.dirname, 'resume-job.js');

/** Each job has a process of its own, so that its memory is its own. */
function measured(job: string, file: string, id = ''): Measured {
  const { status, stdout, stderr } = spawnSync(process.execPath, [JOB, job, file, String(STEPS), id], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${job} ended with ${String(status)}: ${stderr}`);
  return JSON.parse(stdout) as Measured;
}

/**
 * A run of many steps that is gone on with. Its time is compared with that of one read and one replay: each record once through the strict
 * reader, each outcome parsed and digested once, each step once through the engine, without a record.
 */
export function benchResume(): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'skein-bench-'));
  try {
    const file = join(folder, 'run.db');
    const first = measured('run', file);
    const [resumes, baselines]: [Measured[], Measured[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      const copy = join(folder, `resume-${round}.db`);
      copyFileSync(file, copy);
      baselines.push(measured('baseline', copy, first.runId));
      resumes.push(measured('resume', copy, first.runId));
      rmSync(copy);
    }
    const middle = (list: readonly Measured[], field: 'ms' | 'gap' | 'peak'): number =>
      median(list.map((one) => one[field]));
    const [ms, gap, peak] = [middle(resumes, 'ms'), middle(resumes, 'gap'), middle(resumes, 'peak')];
    const [time, memory] = [ms / middle(baselines, 'ms'), peak / first.peak];
    const rows = [
      {
        name: 'CPU time to the first new step',
        figure: `${ms.toFixed(0)} ms`,
        compared: `${time.toFixed(2)} x one read and one replay`,
        goal: '<= 1.30',
        held: time <= 1.3,
      },
      {
        name: 'peak memory of the process',
        figure: `${(peak / 1e6).toFixed(0)} MB`,
        compared: `${memory.toFixed(2)} x that of the run`,
        goal: '<= 2.00',
        held: memory <= 2,
      },
      {
        name: 'most CPU time without a turn of the event loop',
        figure: `${gap.toFixed(0)} ms`,
        compared: '',
        goal: '<= 50 ms',
        held: gap <= 50,
      },
    ];
    printTable(
      `Resume of ${STEPS} recorded steps on SQLite, median of ${ROUNDS}, each in a process of its own`,
      ['', 'figure', 'compared', 'goal', ''],
      rows.map(({ name, figure, compared, goal, held }) => [name, figure, compared, goal, held ? 'held' : 'NOT held']),
    );
    return rows
      .filter(({ held }) => !held)
      .map(({ name, figure, compared, goal }) => `resume, ${name}: ${figure} ${compared}, goal ${goal}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
