import { describe, expect, it } from 'vitest';
import { loadWorkflowText } from '../../../src/yaml.js';
import type { Workflow } from '../../../src/plan/workflow.js';
import { makeProject } from '../project.js';
import { agentfile, loadAgentfile, told } from './agentfiles.js';

/** An Agentfile of 250 lines with everything that the language has. */
const LINES: readonly string[] = [
  '# Two hundred and fifty lines',
  'NAME long',
  'SUPERVISED',
  'INPUT topic',
  'INPUT rounds DEFAULT 3',
  'INPUT depth DEFAULT "deep"',
  ...Array.from({ length: 24 }, (_, at) => [
    `AGENT critic${at} "You criticise $topic at $depth level." -> issues${at}`,
    `AGENT expert${at} """`,
    'You are an expert.',
    '"""',
    `GOAL read${at} "Read about $topic." -> facts${at}, doubts${at}`,
    `GOAL judge${at} "Judge $facts${at}." -> verdict${at} USING critic${at}, expert${at}`,
    `CONVERGE polish${at} """`,
    `Polish $verdict${at}.`,
    `""" WITHIN ${at % 2 === 0 ? '4' : '$rounds'}`,
    `RUN part${at} USING read${at}, judge${at}, polish${at}`,
  ]).flat(),
  'GOAL last "Sum it up."',
  'GOAL human "Publish it." SUPERVISED HUMAN',
  'GOAL trivial "Say thanks." UNSUPERVISED',
  'RUN end USING last, human, trivial',
];

/** Lines of one kind are ten lines apart: ten of each kind, and those of which there is one. */
const SOME = [...LINES.slice(0, 106), ...LINES.slice(246)];

const DAMAGES: Readonly<Record<string, (line: string) => string>> = {
  'left out': () => '',
  'cut in the middle': (line) => line.slice(0, Math.floor(line.length / 2)),
  'cut at the front': (line) => line.slice(3),
  'without its quotes': (line) => line.replaceAll('"', ''),
  'with one quote too many': (line) => `${line} "`,
  'with one quote too few': (line) => line.replace('"', ''),
  'in small letters': (line) => line.toLowerCase(),
  reversed: (line) => line.split('').toReversed().join(''),
  'with other characters': (line) => line.replaceAll(/[aeiou]/g, '\u0000\u202E$'),
  twice: (line) => `${line}\n${line}`,
};

async function loadText(text: string, cwd: string): Promise<Workflow> {
  return await loadWorkflowText(text, { cwd, file: 'Agentfile' });
}

describe('a damaged Agentfile', () => {
  it('[bad input] the undamaged file of 250 lines has no problems', async () => {
    expect(LINES).toHaveLength(250);
    expect(told(await loadText(LINES.join('\n'), '/'))).toEqual([]);
  });

  it('[bad input] each kind of its lines, damaged in each way, gives problems or a plan, never a crash', async () => {
    const cwd = await makeProject();
    const damages = Object.entries(DAMAGES);
    for (const [at, line] of SOME.entries()) {
      // Each kind of line gets each damage.
      const [name, damage] = damages[(at + Math.floor(at / 10)) % damages.length] ?? ['', (same: string) => same];
      const text = [...SOME.slice(0, at), damage(line), ...SOME.slice(at + 1)].join('\n');
      const { plan, problems } = await loadText(text, cwd);
      const errors = problems.filter(({ severity }) => severity === 'error');
      if ((plan === undefined) !== errors.length > 0)
        throw new Error(`line ${at + 1} ${name}: ${errors.length} errors`);
      for (const { at: place } of errors) expect(place?.line).toBeGreaterThan(0);
    }
  });

  it('[bad input] an Agentfile of 5,000 lines loads, and so does one with a line of 1 MB', async () => {
    const lines = Array.from({ length: 2_499 }, (_, at) => `GOAL g${at} "Do $x."\nRUN r${at} USING g${at}`);
    const long = await loadAgentfile(`NAME t\nINPUT x\n${lines.join('\n')}\n`);
    expect(told(long)).toEqual([]);
    expect(long.plan?.nodes).toHaveLength(2_499);
    const wide = await loadAgentfile(agentfile(`GOAL a "${'word '.repeat(200_000)}"`));
    expect(told(wide)).toEqual([]);
    expect(JSON.stringify(wide.plan).length).toBeGreaterThan(1_000_000);
  });

  it.each([
    ['one word', 'x'.repeat(1_000_000)],
    ['many words', 'a '.repeat(500_000)],
    ['many arrows', 'GOAL a ' + '->'.repeat(500_000)],
    ['many quotes', 'GOAL a ' + '"'.repeat(1_000_001)],
    ['many commas', 'RUN a USING ' + ','.repeat(1_000_000)],
    ['many names', 'RUN a USING ' + 'b,'.repeat(500_000)],
    ['many dollars', 'GOAL a "' + '$x'.repeat(500_000) + '"'],
    ['a long default', 'INPUT a DEFAULT ' + '-'.repeat(1_000_000)],
  ])('[bad input] a line of 1 MB of %s gives problems that can be read', async (_, line) => {
    const { problems } = await loadAgentfile(`NAME t\n${line}\nGOAL ok "Do it."\n`);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.every(({ message }) => message.length < 2_000)).toBe(true);
  });

  it.each([
    ['quotes that never match', 'GOAL a "x'],
    ['escaped quotes that never match', String.raw`GOAL a \"`],
    ['blocks that never match', 'GOAL a """x'],
    ['words that begin nothing', 'nothing here'],
    ['indented lines', '  indented'],
    ['clauses without a statement', '-> x'],
  ])('[bad input] 5,000 lines of %s are read in one go', async (_, line) => {
    const { problems } = await loadAgentfile(`NAME t\n${`${line}\n`.repeat(5_001)}`);
    expect(problems.length).toBeGreaterThan(0);
  });
});
