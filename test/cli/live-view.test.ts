import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { definePlan } from 'skein';
import { cellsOfText } from '../../src/base/text.js';
import type { Plan } from '../../src/plan/plan.js';
import type { Live } from './support/live.js';
import { liveOf } from './support/live.js';
import { visible } from './support/terminal.js';

function planOf(nodes: Parameters<typeof definePlan>[0]['nodes'], name = 'review'): Plan {
  const { plan } = definePlan({ name, nodes, openInputs: true });
  if (plan === undefined) throw new Error('the plan of the test has problems');
  return plan;
}

const task = (id: string) => ({ id, run: () => ({}) });
const inner = (...ids: readonly string[]) =>
  definePlan({ name: 'inner', inputs: ['item'], openInputs: true, channels: { out: 'last' }, nodes: ids.map(task) });

const FLAT = planOf(['facts', 'text', 'check'].map(task));

/** What is on the screen without the line that tells of the beginning. */
function board({ screen }: Live): readonly string[] {
  return screen.visible().filter((line) => line !== '' && !line.startsWith('run of '));
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('[XU5] the live view', () => {
  it('has a header with done and total, failures, time, tokens and cost, and a row for each step in aligned columns', () => {
    const live = liveOf(FLAT);
    live.starts('facts');
    live.happens('facts', { type: 'step.note', note: { kind: 'model.started', turn: 1, model: 'openai/gpt-5-mini' } });
    const usage = { inputTokens: 80_000, outputTokens: 4_000 };
    const cost = { usd: 0.0284 };
    const model = 'openai/gpt-5-mini';
    const ended = { kind: 'model.ended', turn: 1, model, text: 'x', usage, cost, toolCalls: 0 } as const;
    live.happens('facts', { type: 'step.note', note: ended });
    live.ends('facts');
    live.starts('text');
    live.later(80_000);
    live.ends('text', 'agent', '', 'failed');
    live.frame();
    expect(board(live)).toEqual([
      'review  2/3 · 1 failed · 1m20 · 84k tok · $0.028',
      '✔ facts  openai/gpt-5-mini    0s  84k  $0.028',
      '✖ text   failed             1m20',
      '· check',
    ]);
    live.view.stop();
    expect(board(live)).toEqual([]);
  });

  it('[15.5] says that a call waits for its turn at the provider, and no longer when it is made', () => {
    const live = liveOf(FLAT);
    const asking = { turn: 1, model: 'openai/gpt-5-mini' };
    live.starts('facts');
    live.happens('facts', { type: 'step.note', note: { kind: 'model.started', ...asking } });
    live.happens('facts', { type: 'step.note', note: { kind: 'model.queued', ...asking, ahead: 12 } });
    live.frame();
    expect(board(live)[1]).toMatch(/facts .*waits for its turn, 12 ahead/);
    live.happens('facts', { type: 'step.note', note: { kind: 'model.admitted', ...asking, waitedMs: 4_000 } });
    live.frame();
    expect(board(live)[1]).not.toContain('waits');
    live.view.stop();
  });

  it('[15] says that a call waits for budget, and no longer when it is made', () => {
    const live = liveOf(FLAT);
    const asking = { turn: 1, model: 'openai/gpt-5-mini' };
    const short = {
      limit: 'run',
      measure: 'calls',
      spent: 1,
      reserved: 1,
      of: 2,
      wanted: 1,
      message: 'waits',
    } as const;
    live.starts('facts');
    live.happens('facts', { type: 'step.note', note: { kind: 'model.started', ...asking } });
    live.happens('facts', { type: 'step.note', note: { kind: 'budget.waiting', ...short } });
    live.frame();
    expect(board(live)[1]).toMatch(/facts .*waits for budget/);
    live.happens('facts', { type: 'step.note', note: { kind: 'budget.admitted' } });
    live.frame();
    expect(board(live)[1]).not.toContain('waits');
    live.view.stop();
  });

  it('shows calls, maps and loops as a tree with how far they are, and the total grows where they open', () => {
    const plan = planOf([
      { id: 'block', kind: 'call', plan: inner('one', 'two') },
      {
        id: 'scan',
        kind: 'map',
        plan: inner('read'),
        over: { channel: 'files', path: [] },
        item: 'item',
        result: 'out',
        maxItems: 50,
        output: 'all',
      },
      { id: 'fix', kind: 'loop', plan: inner('try', 'judge'), until: () => true, maxRounds: 5 },
    ]);
    const live = liveOf(plan);
    live.frame();
    expect(board(live)[0]).toMatch(/^review {2}0\/5 · /);
    live.starts('block', 'call');
    live.starts('block/one', 'task', 'block');
    live.ends('block/one', 'task', 'block');
    live.starts('block/two', 'task', 'block');
    live.starts('scan', 'map');
    live.happens('scan', { type: 'step.note', note: { kind: 'items', count: 40 } });
    for (const key of ['a.ts', 'b.ts', 'c.ts']) live.starts(`scan[${key}]/read`, 'task', 'scan');
    live.ends('scan[a.ts]/read', 'task', 'scan');
    live.starts('fix', 'loop');
    live.starts('fix#2/try', 'task', 'fix');
    live.frame();
    const clock = /(?: +\ds)?$/;
    expect(board(live).map((line) => line.replace(/^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/, '*').replace(clock, ''))).toEqual([
      'review  2/47 ·',
      '* block          1/2',
      '✔ ├ one',
      '* └ two',
      '* scan           1/40',
      '* ├ [b.ts]/read',
      '* └ [c.ts]/read',
      '* fix            round 2/5',
      '* ├ try',
      '· └ judge',
    ]);
    live.happens('fix', { type: 'step.note', note: { kind: 'loop.round', round: 2, change: 0.4 } });
    live.frame();
    expect(board(live).find((line) => line.includes(' fix '))).toContain('round 2/5, last 40% new');
    live.happens('fix', { type: 'step.note', note: { kind: 'rounds', count: 3 } });
    live.frame();
    expect(board(live).find((line) => line.includes(' fix '))).toContain('round 2/3, last 40% new');
    live.view.stop();
  });

  it('shows the last line of what a model writes, on one line, with nothing in it that a terminal obeys', () => {
    const live = liveOf(FLAT, { columns: 60 });
    live.starts('facts');
    live.says('facts', 'A first line.\n');
    live.says('facts', `\u001b[2J\u009b31m\u202e${'word '.repeat(40)}`);
    live.says('facts', 'at the end ');
    live.frame();
    const [, , text = ''] = board(live);
    expect(text).toMatch(/^ {2}│ ….*word at the end$/);
    expect(cellsOfText(text)).toBe(59);
    live.says('facts', '\n\u001b]0;title\u0007 ');
    live.frame();
    expect(board(live)[2]).toBe('  │ \\x1b]0;title\\x07');
    live.ends('facts');
    live.frame();
    expect(board(live)).toHaveLength(4);
    live.view.stop();
  });

  it('shows no line of a private key that a model writes', () => {
    const live = liveOf(FLAT, { columns: 60 });
    live.starts('facts');
    const line = 'MIIEpAIBAAKCAQEAx7YzQwErTyUiOpAsDfGhJkLzXc';
    for (const text of ['So: \n-----BEGIN ', `PRIVATE KEY-----\n${line}\n`, `${line}\n`.repeat(30), line]) {
      live.says('facts', text);
      live.frame();
      expect(board(live).join()).not.toContain(line.slice(0, 20));
    }
    live.view.stop();
  });

  it('keeps text from right to left by itself, so that what stands beside it stays there', () => {
    const plan = planOf([
      {
        id: 'scan',
        kind: 'map',
        plan: inner('read'),
        over: { channel: 'files', path: [] },
        item: 'item',
        result: 'out',
        maxItems: 50,
        output: 'all',
      },
    ]);
    const live = liveOf(plan);
    live.starts('scan', 'map');
    live.starts('scan[שלום עולם]/read', 'agent', 'scan');
    live.says('scan[שלום עולם]/read', 'مرحبا بالعالم ');
    live.frame();
    const [, , row = '', text] = board(live);
    expect(row).toMatch(/ \u2068\[שלום עולם\]\/read\u2069 +0s$/);
    expect(text).toBe('    │ \u2068مرحبا بالعالم\u2069');
    live.view.stop();
  });

  it.each([20, 30, 60])(
    'cuts ids of 64 characters in the middle in %i columns, with their times below each other',
    (columns) => {
      const ids = ['a', 'b'].map((letter) => `${letter.repeat(31)}-${letter.repeat(31)}${letter === 'a' ? '1' : '2'}`);
      const live = liveOf(planOf(ids.map(task)), { columns });
      for (const id of ids) live.starts(id);
      live.later(12_000);
      const rows = board(live).slice(-2);
      for (const [at, row] of rows.entries()) {
        expect(row.length).toBe(columns - 1);
        expect(row).toMatch(at === 0 ? /^\S aa+…?[-a]*1 {2}12s$/ : /^\S bb+…?[-b]*2 {2}12s$/);
      }
      live.view.stop();
    },
  );

  it('shows running steps first when there are more than lines, and counts the others', () => {
    const ids = Array.from({ length: 500 }, (_, at) => `step-${at}`);
    const live = liveOf(planOf(ids.map(task)), { rows: 12 });
    for (const id of ids.slice(0, 40)) live.starts(id);
    for (const id of ids.slice(0, 36)) live.ends(id);
    live.frame();
    expect(board(live).map((line) => line.replace(/^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/, '*'))).toEqual([
      'review  36/500 · 0s',
      ...['36', '37', '38', '39'].map((at) => `* step-${at}  0s`),
      '… 460 waiting, 36 done',
    ]);
    for (const id of ids.slice(40)) live.starts(id);
    live.ends('step-36', 'agent', '', 'failed');
    live.frame();
    expect(board(live)).toHaveLength(10);
    expect(board(live).at(-1)).toBe('… 455 running, 37 done');
    live.view.stop();
    expect(live.screen.all()).toEqual(['run of review: 500 steps', '']);
  });

  it('draws in ASCII where the terminal has nothing else', () => {
    const live = liveOf(planOf([{ id: 'block', kind: 'call', plan: inner('one', 'two') }, task('x'.repeat(90))]), {
      unicode: false,
    });
    live.starts('block', 'call');
    live.starts('block/one', 'agent', 'block');
    live.says('block/one', 'words '.repeat(50));
    live.frame();
    expect(live.text()).not.toMatch(/[^\p{ASCII}]/u);
    expect(
      board(live).map((line) =>
        line
          .replace(/^[|/\\-]/, '*')
          .slice(0, 12)
          .trimEnd(),
      ),
    ).toEqual(['review  0/4', '* block', '* |-one', '    | ...ord', '. `-two', '. xxxxxxxxxx']);
    live.view.stop();
  });
});

describe('[XU5] drawing', () => {
  it('writes only lines that changed, however many events there were', () => {
    const live = liveOf(FLAT);
    live.starts('facts');
    live.frame();
    const before = live.text().length;
    for (let at = 0; at < 1_000; at++) live.says('text', 'nobody');
    expect(live.text()).toHaveLength(before);
    live.frame();
    expect(visible(live.text().slice(before))).toMatch(/^␛\[\?7l\r␛\[4A\n\S facts {2}0s␛\[K\n\n\n␛\[\?7h$/);
    live.view.stop();
  });

  it('while a question is open nothing is drawn; what was to be written comes afterwards', () => {
    const live = liveOf(FLAT);
    live.starts('facts');
    live.frame();
    live.view.suspend();
    const before = live.text();
    live.happens('facts', { type: 'run.warning', code: 'x', message: 'two' });
    live.frame();
    expect(live.text()).toBe(before);
    live.view.say('three');
    live.view.resume();
    live.view.stop();
    expect(live.screen.all()).toEqual(['run of review: 3 steps', 'three', 'warning: two', '']);
  });

  it.each([undefined, 0, Number.NaN, -5])('a size of %s is taken for 80 columns', (size) => {
    const live = liveOf(planOf([task('x'.repeat(200))]), { columns: 200, rows: 30 });
    live.resize(size, size);
    live.starts('x'.repeat(200));
    live.frame();
    expect(cellsOfText(board(live)[1] ?? '')).toBe(79);
    live.view.stop();
  });

  it.each([true, false])(
    'leaves nothing behind on a terminal that is resized at any time (it breaks lines: %s)',
    (breaks) => {
      const ids = ['facts', '漢字'.repeat(9).replaceAll(/./gu, 'wide-'), 'x'.repeat(64), 'text'];
      const size = fc.tuple(fc.integer({ min: 20, max: 120 }), fc.integer({ min: 40, max: 50 }));
      const act = fc.oneof(
        fc.tuple(size, fc.boolean()).map(([[columns, rows], told]) => ['resize', columns, rows, told] as const),
        fc.constantFrom(...ids).map((id) => ['starts', id] as const),
        fc.constantFrom(...ids).map((id) => ['ends', id] as const),
        fc.tuple(fc.constantFrom(...ids), fc.constantFrom('some words ', '漢字かな交じり文 ', 'שלום ', '👍🏽', 'line\n')),
        fc.constant(['warns'] as const),
        fc.constant(['frame'] as const),
      );
      fc.assert(
        fc.property(fc.array(act, { minLength: 5, maxLength: 40 }), (acts) => {
          const live = liveOf(planOf(ids.map(task)), { columns: 90, rows: 30, breaks });
          let warned = 0;
          for (const [what, ...more] of acts) {
            if (what === 'resize') live.resize(Number(more[0]), Number(more[1]), more[2] === true);
            else if (what === 'starts') live.starts(String(more[0]));
            else if (what === 'ends') live.ends(String(more[0]));
            else if (what === 'warns') live.happens('', { type: 'run.warning', code: 'x', message: `w${++warned}` });
            else if (what === 'frame') live.frame();
            else live.says(what, String(more[0]));
          }
          live.frame();
          const headers = live.screen.all().filter((line) => line.includes('/4'));
          expect(headers.length).toBeLessThanOrEqual(1);
          live.view.stop();
          live.resize(120, 40);
          expect(live.screen.isAtRest).toBe(true);
          const left = live.screen.all();
          expect(left.filter((line) => /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏│·]|facts|wide-|text|xx|words/.test(line))).toEqual([]);
          const warnings = Array.from({ length: warned }, (_, at) => `warning: w${at + 1}`);
          // Else it has cut off what stays, too.
          if (breaks) expect(left).toEqual(['run of review: 4 steps', ...warnings, '']);
        }),
        { numRuns: 60 },
      );
    },
  );
});
