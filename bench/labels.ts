import { startRun } from '../src/engine/run.js';
import type { CompiledPlan } from '../src/engine/graph/compile.js';
import { decide } from '../src/guard/decide.js';
import type { Label } from '../src/guard/label.js';
import { Lineage } from '../src/guard/lineage.js';
import { measure, printTable } from './measure.js';
import { chain, fanOut, routeLoop } from './plans.js';

/** A run whose values are all labelled takes at most so many times as long as one without labels. */
const GOAL = 1.15;
const ROUNDS = 21;
/** Microseconds of a decision, and milliseconds for a text of 64 kB. */
const DECISION = 50;
const INDEX = 1;

const PAGE: Label = { level: 'untrusted', isPrivate: false, sources: ['read@tool#1.1'] };

async function ran(plan: CompiledPlan, influence?: Label): Promise<void> {
  const { outcome, labels } = await startRun(plan, { influence }).result;
  if (outcome !== 'succeeded' || (labels === undefined) !== (influence === undefined)) throw new Error('wrong result');
}

/** What labels cost: of the engine as a ratio in one process, of the guard as times. */
export async function benchLabels(): Promise<string[]> {
  const missed: string[] = [];
  const rows: string[][] = [];
  const row = (name: string, figure: string, goal: string, holds: boolean): void => {
    rows.push([name, figure, goal, holds ? 'yes' : 'NO']);
    if (!holds) missed.push(`labels, ${name}: ${figure} (goal: ${goal})`);
  };
  const plans = {
    'chain of 1,000': chain(1_000),
    'fan-out of 1,000': fanOut(1_000),
    'loop of 1,000': routeLoop(1_000),
  };
  for (const [name, plan] of Object.entries(plans)) {
    const candidates = { without: () => ran(plan), labelled: () => ran(plan, PAGE) };
    const { without = 0, labelled = 0 } = await measure({ name, units: 1, candidates }, ROUNDS);
    const ratio = labelled / without;
    row(name, `${ratio.toFixed(2)} x`, `at most ${GOAL} x`, ratio <= GOAL);
  }
  const call = {
    seesPrivate: true,
    tool: 'github/create_comment',
    input: { repo: 'acme/web', body: 'x'.repeat(2_000) },
  };
  const times = 1_000;
  const text = 'Some text of a page with words and numbers, 1234567. '.repeat(1_250);
  const { decisions = 0, index = 0 } = await measure(
    {
      name: 'guard',
      units: 1,
      candidates: {
        decisions: () => {
          for (let at = 0; at < times; at++) decide({ ...call, effect: 'send' }, PAGE, {});
        },
        index: () => new Lineage([{ source: 'read@tool#1.1', steps: ['read'], text }]).size,
      },
    },
    ROUNDS,
  );
  const micros = (decisions / times) * 1_000;
  row('a decision', `${micros.toFixed(1)} us`, `under ${DECISION} us`, micros < DECISION);
  row('index of 64 kB', `${index.toFixed(2)} ms`, `under ${INDEX} ms`, index < INDEX);
  printTable('Labels', ['', 'figure', 'goal', 'held'], rows);
  return missed;
}
