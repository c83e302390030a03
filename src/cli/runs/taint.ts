import type { RunOverview } from '../../index.js';
import type { DecidedCall, Endorsement } from '../../events/trust.js';
import { decidedText, endorserText, sourcesText, trustText } from '../../events/trust.js';
import { oneLine, printable } from '../view/printable.js';
import { countText } from '../view/step-text.js';
import type { Style } from '../view/style.js';
import { tableLines } from './text.js';

/** Lists the steps of a run with an influence other than the user's, its sources, and the decisions about their calls. */
export function taintLines({ id, name, steps, guarded, endorsed }: RunOverview, style: Style): readonly string[] {
  const labelled = steps.flatMap((step) => (step.label === undefined ? [] : [{ ...step, label: step.label }]));
  const rows = labelled.map(({ path, label }) => [
    oneLine(path, 60),
    trustText(label),
    label.sources.length === 0 ? '' : `from ${oneLine(sourcesText(label), 300)}`,
  ]);
  return [
    `${style.bold(printable(name))}, run ${printable(id)}`,
    '',
    labelled.length === 0
      ? 'only you influenced the steps'
      : `others influenced ${labelled.length} of ${countText(steps.length, 'step')}`,
    ...tableLines(rows).map((line) => `  ${line}`),
    '',
    guarded.length === 0
      ? 'no call was asked about or denied'
      : `${countText(guarded.length, 'call')} asked about or denied`,
    ...guarded.flatMap((one) => callLines(one, style)),
    ...(endorsed.length === 0 ? [] : ['', `${countText(endorsed.length, 'result')} endorsed`]),
    ...tableLines(endorsed.map(endorsedRow)).map((line) => `  ${line}`),
  ];
}

function endorsedRow(one: Endorsement): readonly string[] {
  const was = `was ${trustText(one)}, from ${oneLine(sourcesText(one), 300)}`;
  return [oneLine(one.path, 60), `${endorserText(one)}, ${new Date(one.at).toISOString()}`, was];
}

function callLines(call: DecidedCall, style: Style): readonly string[] {
  const { path, tool, rule, why, lineage, findings, declare } = call;
  const said = decidedText(call);
  return [
    `  ${style.bold(oneLine(path, 60))} ${oneLine(tool, 80)}: ${said} ${style.dim(`(${oneLine(rule, 80)})`)}`,
    ...[
      ...(why === undefined ? [] : [why]),
      `influenced by: ${sourcesText(call)}`,
      ...lineage,
      ...(findings === undefined ? [] : [`found there: ${findings.join(', ')}`]),
      ...(declare === undefined ? [] : [`would allow it: ${declare}`]),
    ].map((line) => `    ${oneLine(line, 500)}`),
  ];
}
