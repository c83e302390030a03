import { roundAddress } from '../../../base/address.js';
import { asBoolean, evaluateConditions } from '../../../lang/condition.js';
import { readRef, refText } from '../../../lang/json-path.js';
import { RoundTexts, withoutLines } from '../../../lang/lines.js';
import { quoteShort, valueText } from '../../../lang/value-text.js';
import { copyingWork } from '../../../lang/work-meter.js';
import type { LoopNode } from '../../../plan/plan.js';
import { SkeinError, toErrorData } from '../../../base/errors.js';
import type { StepNote } from '../../../events/event.js';
import { loopText } from '../../../events/loop-notes.js';
import { roundNotes } from './round-notes.js';
import type { Body, Step } from '../step.js';
import type { ScopeHandle } from '../../services.js';
import { inputCell } from '../../state/cell.js';
import type { Version } from '../../state/version.js';
import type { FinalState } from './call.js';
import { endLike, inputsOf, keptOf, noTicket, openInside, outputsOf, prefixed, subPlan, succeedWith } from './call.js';

/** A sub-plan again and again, until its condition holds. Rounds are addressed `NODE#ROUND`. */
export const loopBody: Body = { start: startLoop, take: noTicket };

/** One attempt of a loop. */
interface Loop {
  readonly step: Step;
  readonly node: LoopNode;
  /** Rounds at most. */
  readonly cap: number;
  /** Where `keep` may ask for it: the round before. */
  before: ScopeHandle | undefined;
  /** Absent where nobody wants to know what the rounds gave. */
  readonly texts: RoundTexts | undefined;
}

function startLoop(step: Step): void {
  const { node } = step.compiled;
  if (node.kind !== 'loop') return;
  const isTold = step.run.reporter.observed || node.stopWhen !== undefined;
  const texts = isTold ? new RoundTexts() : undefined;
  const loop: Loop = { step, node, cap: capOf(step, node), before: undefined, texts };
  runRound(loop, inputsOf(step, node, subPlan(step)), 1);
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

function runRound(loop: Loop, inputs: Version, round: number): void {
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

function roundEnded(loop: Loop, inputs: Version, scope: ScopeHandle, round: number): void {
  const { step, node, cap, before } = loop;
  if (isOver(step, node, scope, round)) {
    const kept = node.keep === undefined ? scope : (before ?? withoutMarkers(node, scope));
    // Of a round that only says that nothing changed, the result of the loop is the one before.
    if (before === undefined) compare(loop, outputsOf(step, node, kept), round);
    else if (loop.texts !== undefined) tell(step, { kind: 'loop.round', round, change: 0 });
    succeedWith(step, node, kept);
    return;
  }
  const repeats = loop.texts !== undefined && compare(loop, outputsOf(step, node, scope), round);
  if (repeats && node.stopWhen === 'repeated') succeedWith(step, node, scope);
  else if (round < cap) {
    if (node.keep !== undefined) loop.before = scope;
    runRound(loop, carried(loop, inputs, scope), round + 1);
  } else endAtCap(loop, scope);
}

function isOver(step: Step, node: LoopNode, scope: ScopeHandle, round: number): boolean {
  const { until } = step.compiled;
  const check = (): boolean => asBoolean(until?.(scope.state(), round), `until:${node.id}`);
  const { labelled } = subPlan(step);
  return evaluateConditions(node.until, (channel) => scope.read(channel), check, labelled, step.run).holds;
}

/** The first round, without the lines by which it said that it is over. */
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
      throw new SkeinError('SKEIN_MODEL_EMPTY', message, { hint: 'retry the step, or change the prompt or the model' });
    }
    texts.set(channel, text);
  }
  return {
    read: (channel) => texts.get(channel) ?? scope.read(channel),
    clears: (channel) => scope.clears(channel),
    state: () => ({ ...scope.state(), ...Object.fromEntries(texts) }),
  };
}

/** Tells how the texts of a round differ from those of the ones before. True for a repetition. */
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

/** The texts among what a round gives; undefined when there are none. */
function textsIn(step: Step, result: unknown): string | undefined {
  const values = step.compiled.node.output === undefined ? Object.values(result as object) : [result];
  const texts = values.filter((value) => typeof value === 'string');
  return texts.length === 0 ? undefined : texts.join('\n');
}

function tell(step: Step, note: StepNote): void {
  if (step.run.reporter.observed) step.emit({ type: 'step.note', note });
}

function carried({ step, node }: Loop, inputs: Version, scope: ScopeHandle): Version {
  const { channels } = subPlan(step);
  let version = inputs;
  for (const name of node.carry ?? []) {
    const at = channels.index.get(name);
    const value = scope.read(name);
    if (at !== undefined && scope.clears(name)) version = version.without(at);
    if (at === undefined || value === undefined) continue;
    // A list that grows from round to round would be digested anew each time.
    const digest = step.run.durable.recorded ? scope.digest(name) : undefined;
    version = version.with(at, inputCell(value, channels.reducers[at], digest));
  }
  for (const [list, name] of Object.entries(node.collect ?? {})) {
    const at = channels.index.get(list);
    const value = scope.read(name);
    if (at === undefined || value === undefined) continue;
    const before = version.get(at)?.value;
    const values: readonly unknown[] = Array.isArray(before) ? before : [];
    version = version.with(at, inputCell(Object.freeze([...values, value]), channels.reducers[at]));
  }
  return version;
}

function endAtCap({ step, node, cap }: Loop, scope: ScopeHandle): void {
  const which = node.rounds === undefined ? `maxRounds of ${cap}` : `${cap} rounds of ${refText(node.rounds)}`;
  const message = `the loop '${node.id}' did not end within its ${which}`;
  if (node.onMaxRounds === 'continue') {
    tell(step, { kind: 'loop.capped', rounds: cap });
    if (step.run.reporter.observed) step.emit({ type: 'run.warning', code: 'max-rounds', message });
    succeedWith(step, node, scope);
  } else {
    step.fail({ code: 'SKEIN_MAX_ROUNDS', message, hint: 'raise maxRounds, or set onMaxRounds to continue' });
  }
}
