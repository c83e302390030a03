import type { Command } from 'commander';
import { changeBudget, readBudget } from '../../index.js';
import type { BudgetWish, Standing } from '../../recorded-runs.js';
import { runNeedsYes } from '../run/needs-yes.js';
import type { JsonFlag } from '../run/run-flags.js';
import { RUN, findRun, recordedIn, shortId } from '../runs/find-run.js';
import { shellWord } from '../runs/text.js';
import { withStore } from '../runs/with-store.js';
import { CONTINUED, nextSteps, trustFlag } from '../view/next-steps.js';
import { jsonText, printable } from '../view/printable.js';
import { printNote, printResult } from '../view/streams.js';

interface Flags extends JsonFlag {
  readonly of?: string;
}

/** `skein budget RUN [AMOUNTS]`. */
export function define(command: Command): void {
  command
    .argument(...RUN)
    .argument('[amounts]', '+0.50 adds, 0.50 replaces; also 200k-tokens, 20-calls, 50-tool-calls, 10m')
    .option('--of <step>', 'the budget of a step instead of that of the run')
    .option('--json', 'print the standing as one JSON document')
    .addHelpText('after', HELP)
    .action(budget);
}

const HELP = `
A run in progress applies the change within a second. A run that has stopped continues with skein resume.`;

async function budget(run: string, amounts: string | undefined, { of, json = false }: Flags): Promise<void> {
  const { limitName, readLimit, standingText } = await import('../../recorded-runs.js');
  await withStore(async (store) => {
    const recorded = recordedIn(store);
    const id = await findRun(recorded, run);
    const short = shortId(id, recorded.ids);
    const wish: BudgetWish | undefined = amounts === undefined ? undefined : { budget: amounts, limit: of };
    const now = (): readonly Standing[] => (of === undefined ? readBudget(store, id) : readLimit(store, id, of));
    const standing = wish === undefined ? now() : changeBudget(store, id, wish);
    if (json) return printResult(jsonText({ run: id, limits: standing }));
    if (standing.length === 0) return printResult(`run ${printable(short)} has no budget`);
    const line = (one: Standing): string => `${limitName(one)}: ${standingText(one)}`;
    printResult(standing.map((one) => printable(line(one))).join('\n'));
    const isOver = store.run(id)?.outcome === 'out_of_budget';
    if (wish === undefined || !isOver) return;
    const flag = trustFlag(await runNeedsYes(store, id));
    for (const words of nextSteps(CONTINUED, `skein resume ${shellWord(short)}${flag}`)) printNote(words);
  });
}
