import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { programOf } from '../programs.js';
import { THOROUGH } from '../thorough.js';

const RESUMER = await programOf(join(import.meta.dirname, 'support/flip-resumer.ts'));

const FLIPS = THOROUGH ? 2_000 : 12;
const PROCESSES = 2;
const RUNS = 9;

interface Report {
  readonly flips: number;
  readonly same: number;
  readonly refused: number;
  readonly told: number;
  readonly wrong: readonly string[];
}

/** A share of the flips in a process of its own, so that an abort is one of that process. */
function share(folder: string, n: number): Promise<{ readonly ended: number | string; readonly text: string }> {
  return new Promise((resolve) => {
    const argv = ['--expose-gc', RESUMER, folder, String(n), String(PROCESSES), String(FLIPS)];
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    child.on('close', (code, signal) => resolve({ ended: code ?? signal ?? '', text }));
  });
}

it(
  `[XR1] ${FLIPS} times a bit of a store is changed and its ${RUNS} runs are gone on with: each ends as without, or is refused, and nothing finished is done again without a word`,
  { timeout: THOROUGH ? 14_400_000 : 600_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'skein-flipped-'));
    try {
      const ended = await Promise.all(Array.from({ length: PROCESSES }, (_, n) => share(folder, n)));
      expect(ended.map((one) => one.ended)).toEqual(ended.map(() => 0));
      const reports = ended.map((one) => JSON.parse(one.text) as Report);
      const sum = (name: 'flips' | 'same' | 'refused' | 'told') => reports.reduce((all, one) => all + one[name], 0);
      console.info(
        `note: ${sum('flips')} flips: ${sum('same')} runs ended as without, ${sum('refused')} were refused, ${sum('told')} told what they do again`,
      );
      expect(reports.flatMap((report) => report.wrong)).toEqual([]);
      expect(sum('flips')).toBe(FLIPS);
      expect(sum('same') + sum('refused') + sum('told')).toBe(FLIPS * RUNS);
      expect(sum('refused')).toBeGreaterThan(FLIPS / 8);
      expect(sum('same')).toBeGreaterThan(FLIPS / 8);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
