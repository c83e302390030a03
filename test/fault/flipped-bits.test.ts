import { spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { programOf } from '../programs.js';
import { THOROUGH } from '../thorough.js';

const POSITIONS = THOROUGH ? 4_000 : 40;
const PROCESSES = 2;

interface Report {
  readonly same: number;
  readonly refused: number;
  readonly shorter: number;
  readonly wrong: readonly string[];
}

/** Runs a share of the flips in a process of its own, so that an abort is one of that process. */
function share(
  program: string,
  argv: readonly string[],
): Promise<{ readonly ended: number | string; readonly text: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--expose-gc', program, ...argv], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    child.on('close', (code, signal) => resolve({ ended: code ?? signal ?? '', text }));
  });
}

it(
  `[XR1] each of the eight bits of ${POSITIONS} bytes of a store, changed in turn: never an abort, never a wrong result`,
  { timeout: THOROUGH ? 14_400_000 : 300_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'skein-flips-'));
    try {
      const file = join(folder, 'skein.db');
      copyFileSync(join(import.meta.dirname, '../stores/golden/tables-1.db'), file);
      const program = await programOf(join(import.meta.dirname, '../stores/support/flip-worker.ts'));
      const ended = await Promise.all(
        Array.from({ length: PROCESSES }, (_, n) =>
          share(program, [file, String(n), String(PROCESSES), String(POSITIONS)]),
        ),
      );
      expect(ended.map((one) => one.ended)).toEqual(ended.map(() => 0));
      const reports = ended.map((one) => JSON.parse(one.text) as Report);
      const sum = (name: 'same' | 'refused' | 'shorter') => reports.reduce((all, report) => all + report[name], 0);
      console.info(
        `note: ${readFileSync(file).length} bytes: ${sum('same')} same answers, ${sum('refused')} refusals, ${sum('shorter')} with a tail cut off and told`,
      );
      expect(reports.flatMap((report) => report.wrong)).toEqual([]);
      expect(sum('same') + sum('refused') + sum('shorter')).toBe(POSITIONS * 8);
      expect(sum('refused')).toBeGreaterThan(POSITIONS / 8);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
