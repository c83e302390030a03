import { costText } from '../../events/cost-text.js';
import type { Dollars } from '../../events/cost.js';
import type { Spending } from '../../events/spending.js';
import type { Usage } from '../../events/event.js';
import type { RunCosts } from '../../recorded-runs.js';
import { oneLine, printable } from '../view/printable.js';
import { countText, modelText, tokensText } from '../view/step-text.js';
import type { Style } from '../view/style.js';
import { tableLines } from './text.js';

/** The spending of runs by day, by workflow and by model. */
export function costLines({ days, workflows, models, whole, runs, unread }: RunCosts, style: Style): readonly string[] {
  const sections = [
    ['day', days.map((day) => row(day.day, day))],
    [
      'workflow',
      workflows.map(({ workflow, runs: count, ...spent }) =>
        row(`${oneLine(workflow, 40)} (${countText(count, 'run')})`, spent),
      ),
    ],
    ['model', models.map(({ model, calls, ...spent }) => rowOf(modelText(model), calls, spent))],
  ] as const;
  return [
    ...sections.flatMap(([head, rows]) => {
      const [first = '', ...lines] = tableLines([[head, 'model calls', 'cost', 'tokens'], ...rows]);
      return rows.length === 0 ? [] : [style.dim(first), ...lines, ''];
    }),
    [
      `in all ${countText(runs, 'run')}`,
      countText(whole.modelCalls, 'model call'),
      tokensText(whole.usage),
      costText(whole),
    ]
      .filter((part) => part !== '')
      .join(', '),
    ...unread.map(
      ({ id, problem }) => `${style.warn('warning')}: run ${printable(id)} is not in it: ${printable(problem)}`,
    ),
  ];
}

function row(name: string, spent: Spending): readonly string[] {
  return rowOf(name, spent.modelCalls, spent);
}

function rowOf(name: string, calls: number, spent: Dollars & { readonly usage: Usage }): readonly string[] {
  return [name, String(calls), costText(spent), tokensText(spent.usage)];
}
