import { roundAddress } from '../../../base/address.js';
import { asBoolean, evaluateConditions } from '../../../lang/condition.js';
import { readRef, refText } from '../../../lang/json-path.js';
import { RoundTexts, withoutLines } from '../../../lang/lines.js';
import { quoteShort, valueText } from '../../../lang/value-text.js';
import { copyingWork } from '../../../lang/work-meter.js';
import { limitHint, limitKey } from '../../../plan/notations.js';
import type { LoopNode } from '../../../plan/plan.js';
import { SkeinError, toErrorData } from '../../../base/errors.js';
import { CLEAN } from '../../../guard/label.js';
import { emptyCensus } from '../../../events/census.js';
import type { StepNote } from '../../../events/event.js';
import { loopText } from '../../../events/step-notes.js';
import { roundNotes } from '../telling.js';
import type { Body, Step } from '../step.js';
import type { ScopeHandle } from '../../services.js';
import { inputCell } from '../../state/cell.js';
import {
  endLike,
  inputsOf,
  keptOf,
  noTicket,
  openInside,
  outputsOf,
  prefixed,
  subPlan,
  succeedWith,
  type FinalState,
  type SubStart,
} from './call.js';

/** Repeats a sub-plan until its condition holds. Rounds are addressed `NODE#ROUND`. */
export const loopBody: Body = { start: startLoop, take: noTicket };

interface Loop {
  readonly step: Step;
  readonly node: LoopNode;
  readonly cap: number;
  /** The round before, if `keep` may need it. */
  before: ScopeHandle | undefined;
  /** Undefined if nothing needs the texts of the rounds. */
  readonly texts: RoundTexts | undefined;
}

function startLoop(step: Step): void {
  const { node } = step.compiled;
  if (node.kind !== 'loop') return;
  const isTold = step.run.reporter.observed || node.stopWhen !== undefined;
  const texts = isTold ? new RoundTexts() : undefined;
  const { value: cap, label } = step.labelOf(() => capOf(step, node));
  step.influenced(label);
  if (node.rounds !== undefined) tell(step, { kind: 'rounds', count: cap });
  const loop: Loop = { step, node, cap, before: undefined, texts };
  const { version, influence } = inputsOf(step, node, subPlan(step));
  runRound(loop, { version, influence: step.run.labels.join(influence, label) }, 1);
}

/** @throws SkeinError `SKEIN_INPUT` */
function capOf(step: Step, { id, maxRounds, rounds }: LoopNode): number {
  if (rounds === undefined) return maxRounds;
  const value = readRef(rounds, step.reader());
  const name = refText(rounds);
  const refuse = (what: string, hint: string): SkeinError =>
    new SkeinError('SKEIN_INPUT', `the rounds of the loop '${id}': ${name} ${what}`, { hint });
  const hint = `give a whole number from 1 to ${maxRounds}`;
  if (value === undefined || value === '') throw refuse('is unresolved: it has no value', hint);
  const text = valueText(value).trim();
  if (!/^[+-]?\d+$/.test(text)) throw refuse(`is not an integer: ${quoteShort(text)}`, hint);
  const count = Number(text);
  if (count < 1) throw refuse(`must be > 0, and is ${text}`, hint);
  if (count > maxRounds) throw refuse(`is ${text}, more than the cap of ${maxRounds}`, `${hint}, or raise the cap`);
  return count;
}

function runRound(loop: Loop, inputs: SubStart, round: number): void {
  const { step, node } = loop;
  openInside(step, subPlan(step), `${roundAddress(step.key, round)}/`, inputs, (scope, end) => {
    if (end.type !== 'done') {
      endLike(step, prefixed(end, node), () => keptOf(step, node, scope));
      return;
    }
    try {
      roundEnded(loop, inputs, scope, round);
    } catch (error) {
      if (step.over) throw error;
      step.fail(toErrorData(error));
    }
  });
}

function roundEnded(loop: Loop, { version, influence }: SubStart, scope: ScopeHandle, round: number): void {
  const { step, node, cap, before } = loop;
  const { labels } = step.run;
  const over = step.labelOf(() => isOver(step, node, scope, round));
  step.influenced(over.label);
  if (over.value) {
    const kept = before ?? (node.keep === 'before' ? withoutMarkers(node, scope) : scope);
    // If a round only reports that nothing changed, the result of the loop is that of the round before.
    if (before === undefined) compare(loop, outputsOf(step, node, kept), round);
    else if (loop.texts !== undefined) tell(step, { kind: 'loop.round', round, change: 0 });
    succeedWith(step, node, kept);
    return;
  }
  const repeats = step.labelOf(() => loop.texts !== undefined && compare(loop, outputsOf(step, node, scope), round));
  // If repetitions are only reported, they decide nothing.
  const repeated = node.stopWhen === undefined ? CLEAN : repeats.label;
  step.influenced(repeated);
  if (repeats.value && node.stopWhen === 'repeated') succeedWith(step, node, scope);
  else if (round < cap) {
    if (node.keep !== undefined) loop.before = scope;
    const decided = labels.join(labels.join(labels.join(influence, scope.control), over.label), repeated);
    runRound(loop, carried(loop, { version, influence: decided }, scope), round + 1);
  } else endAtCap(loop, scope);
}

function isOver(step: Step, node: LoopNode, scope: ScopeHandle, round: number): boolean {
  const { until } = step.compiled;
  const check = (): boolean => asBoolean(until?.(scope.state(), round), `until:${node.id}`);
  const { labelled } = subPlan(step);
  return evaluateConditions(node.until, (channel) => scope.read(channel), check, labelled, step.run).holds;
}

/** The result of the first round, without the lines that ended the loop. */
function withoutMarkers({ id, until }: LoopNode, scope: ScopeHandle): FinalState {
  const markers = new Map<string, string[]>();
  for (const condition of until) {
    if (condition.op !== 'line' || condition.value.path !== undefined) continue;
    const { channel } = condition.value;
    markers.set(channel, [...(markers.get(channel) ?? []), condition.line]);
  }
  const texts = new Map<string, string>();
  for (const [channel, lines] of markers) {
    const text = withoutLines(valueText(scope.read(channel)), lines);
    if (text === '') {
      const said = lines.map((line) => quoteShort(line)).join(', ');
      const message = `the first round of the loop '${id}' gave nothing but ${said}`;
      const hint = 'retry the step, or change the prompt or the model';
      throw new SkeinError('SKEIN_MODEL_EMPTY', message, { hint, details: { loop: id } });
    }
    texts.set(channel, text);
  }
  return {
    read: (channel) => texts.get(channel) ?? scope.read(channel),
    clears: (channel) => scope.clears(channel),
    state: () => ({ ...scope.state(), ...Object.fromEntries(texts) }),
    values: () => scope.values(),
  };
}

/** Reports how the texts of a round differ from those before. Returns true for a repetition. */
function compare({ step, node, texts }: Loop, result: unknown, round: number): boolean {
  const text = textsIn(step, result);
  if (texts === undefined || text === undefined) return false;
  step.run.spend(copyingWork(text.length));
  const change = texts.take(text);
  for (const note of roundNotes(change, round)) {
    tell(step, note);
    if (note.kind !== 'loop.round' && node.stopWhen === undefined)
      tell(step, { kind: 'warning', code: note.kind, message: loopText(note) });
  }
  return change.repeated;
}

/** The texts in the result of a round; undefined if there are none. */
function textsIn(step: Step, result: unknown): string | undefined {
  const values = step.compiled.node.output === undefined ? Object.values(result as object) : [result];
  const texts = values.filter((value) => typeof value === 'string');
  return texts.length === 0 ? undefined : texts.join('\n');
}

function tell(step: Step, note: StepNote): void {
  if (step.run.reporter.observed) step.emit({ type: 'step.note', note });
}

function carried({ step, node }: Loop, inputs: SubStart, scope: ScopeHandle): SubStart {
  const { channels } = subPlan(step);
  const { labels } = step.run;
  let { version, influence } = inputs;
  const carry = (to: string, name: string, isNew: boolean): void => {
    const at = channels.index.get(to);
    const { value, label } = step.labelOf(() => scope.read(name));
    const isCleared = at !== undefined && (scope.clears(name) || (isNew && value === undefined));
    if (isCleared) version = version.without(at);
    // A missing value can't carry a label.
    if (value === undefined) influence = labels.join(influence, label);
    if (at === undefined || value === undefined) return;
    // Otherwise a list that grows with each round would be hashed again each time.
    const digest = step.run.durable.recorded ? scope.digest(name) : undefined;
    version = version.with(at, inputCell(value, channels.reducers[at], labels.join(influence, label), digest));
  };
  for (const name of node.carry ?? []) carry(name, name, false);
  if (node.carryAs !== undefined) for (const [to, name] of Object.entries(node.carryAs)) carry(to, name, true);
  if (node.collect === undefined) return { version, influence };
  for (const [list, name] of Object.entries(node.collect)) {
    const at = channels.index.get(list);
    const { value, label: read } = step.labelOf(() => scope.read(name));
    if (value === undefined) influence = labels.join(influence, read);
    if (at === undefined || value === undefined) continue;
    const cell = version.get(at);
    const before = cell?.value;
    const label = labels.join(labels.join(influence, read), cell?.label ?? CLEAN);
    const values: readonly unknown[] = Array.isArray(before) ? before : [];
    version = version.with(at, inputCell(Object.freeze([...values, value]), channels.reducers[at], label));
  }
  return { version, influence };
}

function endAtCap({ step, node, cap }: Loop, scope: ScopeHandle): void {
  const which = node.rounds === undefined ? `${cap} rounds` : `${cap} rounds of ${refText(node.rounds)}`;
  const message = `the loop '${node.id}' did not end within its ${which}`;
  if (node.onMaxRounds === 'continue' || node.onMaxRounds === 'degrade') {
    tell(step, { kind: 'loop.capped', rounds: cap });
    if (step.run.reporter.observed) step.emit({ type: 'run.warning', code: 'max-rounds', message });
    if (node.onMaxRounds === 'degrade') step.adopt({ ...emptyCensus(), limited: 1, succeeded: -1 }, undefined);
    succeedWith(step, node, scope);
  } else {
    const { notation } = step.compiled;
    const hint = limitHint(notation, 'maxRounds', `set ${limitKey(notation, 'onMaxRounds') ?? ''} to continue`);
    step.fail({ code: 'SKEIN_MAX_ROUNDS', message, hint });
  }
}
