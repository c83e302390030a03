import { visitAddress } from '../../base/address.js';
import { isFinal, toErrorData, type ErrorData } from '../../base/errors.js';
import { addCensus, countAllowed, emptyCensus, type StepOutcome } from '../../events/census.js';
import type { CompiledNode } from './compile.js';
import { cutOffBy } from './closing.js';
import {
  failureOf,
  goesOnPast,
  limitBody,
  pastMaxVisits,
  releaseBody,
  skipReason,
  tooDeep,
  tooOften,
  type Ending,
  type PassedOver,
} from './explain.js';
import { Flow, type FlowOwner } from './flow.js';
import { branchEnds } from './required.js';
import { ScopeAtEnd } from './scope-at-end.js';
import { END } from '../../plan/plan.js';
import { bodyOf } from '../steps/kinds/bodies.js';
import type { Question } from '../ports/durable.js';
import type { ChannelWrite } from '../ports/executor.js';
import { chooseRoutes } from './routes.js';
import { labelsOfInputs } from '../../guard/label.js';
import type { Leaving, PlanEnd, RunServices, ScopeHandle, ScopeOptions, StateEdits } from '../services.js';
import { editedOutput, editedWrites, writeChannels, writeEnding, writeOutput } from '../state/state-writer.js';
import { Step, type StepOwner } from '../steps/step.js';
import { leavesOut } from '../state/run-labels.js';
import { removeStep } from '../work-queue.js';
import { tokenOf, type Arrivals, type Choice, type Decided, type Firing, type Token } from './token.js';
import type { Version } from '../state/version.js';

/**
 * One execution of a plan: its state and its steps; its tokens are in a {@link Flow}. It knows nothing about time, back ends or policies:
 * steps report how they ended, and it determines which nodes are ready.
 *
 * - C1 Everything that becomes ready is put into the run's queue; nothing starts from here. So there is no recursion, and steps that become
 * ready together start in plan order (E9).
 * - C4 A new epoch (V2) begins when a step ends and is the only thread of control: nothing else runs, waits, or has ended unseen.
 */
export class Scope extends ScopeAtEnd implements StepOwner, FlowOwner, ScopeHandle {
  readonly bodyOf = bodyOf;
  protected readonly flow: Flow;

  constructor(run: RunServices, options: ScopeOptions) {
    super(run, options);
    this.flow = new Flow(this, options.compiled, options.inputs);
    this.flow.decided(options.influence);
  }

  /** Starts the nodes of E6. */
  start(): void {
    for (const at of this.compiled.starts)
      this.flow.fireAlone(at, this.inputs, { depth: 0, round: 0, influence: this.flow.control });
    if (this.outstanding === 0) this.run.rest(this);
  }

  succeeded(step: Step, given: unknown, goto?: unknown, writes?: readonly ChannelWrite[]): void {
    const { compiled } = step;
    const set = editsOf(this.run, step);
    const output = editedOutput(compiled, given, set);
    let version: Version;
    try {
      if (this.outstanding === 1 && this.pausedSteps === 0 && this.flow.coveredBy(step.input)) this.epoch += 1;
      version = writeOutput(this, step, output, editedWrites(writes, set));
    } catch (error) {
      step.failForGood(toErrorData(error));
      return;
    }
    this.run.reporter.wrote(step, writes);
    if (step.given !== step.control && (compiled.survives || leavesOut(compiled, output, writes)))
      step.decides(step.given);
    if (!compiled.survives) this.passed(step.given);
    if (compiled.routes.length === 0) this.goOn(step, version, output, undefined);
    else this.askRoutes(step, version, output, goto);
  }

  private askRoutes(step: Step, version: Version, output: unknown, goto: unknown, ending?: PassedOver): void {
    chooseRoutes(step, { version, goto }, (choice) => this.goOn(step, version, output, choice, ending));
  }

  ignored(step: Step, error: ErrorData): void {
    this.passedOver(step, { outcome: failureOf(error), error });
  }

  leftOut(step: Step, reason: string): void {
    this.visits.skipped(step.compiled.index);
    this.passedOver(step, { outcome: 'skipped', reason });
  }

  /** The steps after it run as if its result were empty. */
  private passedOver(step: Step, ending: PassedOver): void {
    const { compiled, input } = step;
    step.decides(step.influence);
    if (compiled.routes.length === 0) this.goOn(step, input, undefined, undefined, ending);
    else this.askRoutes(step, input, undefined, undefined, ending);
  }

  failed(step: Step, error: ErrorData): void {
    if (step.compiled.counted && !step.refused) this.run.leafEnded(false);
    this.finish(step, failureOf(error), { error });
    step.decides(step.influence);
    this.flow.decided(step.control);
    const input = writeEnding(this, step, step.input, { outcome: failureOf(error), error });
    const { compiled, path, depth, round, control: influence } = step;
    const { onErrorTo, node } = compiled;
    const { onError } = node;
    const isPart = this.compiled.require !== undefined && (onError ?? 'fail') === 'fail' && !isFinal(error);
    if (!isPart && (step.refused || !goesOnPast(onError, error))) {
      this.end({ type: 'failed', error, path }, [input]);
      return;
    }
    const failure = { from: compiled.id, path, error };
    if (isPart || onError === 'settle') (this.settled ??= []).push({ node: compiled, ...failure, inside: step.inside });
    else countAllowed(this.census, failureOf(error), step.inside);
    if (onErrorTo < 0) this.flow.branchEnded(input);
    const kind = onError === 'continue' ? 'failed' : onErrorTo < 0 ? 'poison' : 'dead';
    this.flow.sendDead(compiled, tokenOf(kind, input, step, influence, failure));
    if (onErrorTo >= 0)
      this.flow.fireHandler(compiled, onErrorTo, { version: input, depth, round, influence, failure });
    this.restIfIdle();
  }

  skipped(step: Step, reason: string): void {
    const { compiled, depth, round, influence } = step;
    const input = writeEnding(this, step, step.input, { outcome: 'skipped' });
    this.visits.skipped(compiled.index);
    this.finish(step, 'skipped', { reason });
    this.flow.branchEnded(input);
    this.flow.sendDead(compiled, tokenOf('dead', input, { depth: depth - 1, round }, influence));
    this.restIfIdle();
  }

  paused(step: Step, question: Question, reason: string): void {
    this.interrupted(step, 'paused', { reason: question.text === '' ? reason : question.text });
  }

  ranShort(step: Step, error: ErrorData): void {
    this.short ??= { type: 'out_of_budget', error, path: step.path, how: 'waited' };
    this.interrupted(step, 'out_of_budget', { error });
  }

  private interrupted(step: Step, outcome: StepOutcome, ending: Ending): void {
    this.pausedSteps += 1;
    this.flow.decided(step.influence);
    this.flow.branchEnded(step.input);
    this.finish(step, outcome, ending);
    this.restIfIdle();
  }

  /** As at the first exit, the final state is the view and writes of the ending step. A step around it is cut off. */
  ended(step: Step, { path, error, out }: PlanEnd, { reason, writes = [] }: Leaving): void {
    const own = step.path === path;
    this.flow.decided(step.influence);
    const endedAs = error === undefined ? 'succeeded' : 'failed';
    this.finish(step, own ? endedAs : 'cancelled', own ? { error, reason } : { reason: `ended by ${path}` });
    this.run.reporter.wrote(step, writes);
    const version = writeChannels(this, step, step.input, editedWrites(writes, editsOf(this.run, step)));
    this.final = version;
    if (out > 0 && this.parent !== '') this.end({ type: 'ended', path, error, out: out - 1 });
    else if (error !== undefined) this.end({ type: 'failed', error, path });
    else {
      this.stopSteps(cutOffBy({ type: 'ended', path, out }));
      this.finishWith({ version, conflict: undefined });
    }
  }

  ranOut(step: Step, error: ErrorData, writes: readonly ChannelWrite[]): void {
    const { compiled, input, path } = step;
    const set = editsOf(this.run, step);
    if (compiled.counted) this.run.leafEnded(false);
    this.flow.decided(step.influence);
    this.finish(step, 'out_of_budget', { error });
    this.run.reporter.wrote(step, writes);
    const kept = writeChannels(this, step, input, editedWrites(writes, set));
    this.end({ type: 'out_of_budget', error, path, how: 'at once' }, [kept]);
  }

  /** Applies E4, or ends the scope. */
  rested(): void {
    if (this.over || this.outstanding > 0) return;
    if (this.pausedSteps > 0) this.end(this.short ?? { type: 'paused' });
    if (this.over) return;
    const released = this.flow.release();
    if (released === undefined) {
      this.finishWith(this.flow.mergeEnds([]));
      return;
    }
    const { node, missing } = released;
    if (this.run.reporter.observed)
      this.run.reporter.emit(this.prefix + node.id, this.parent, releaseBody(node, missing));
    this.restIfIdle();
  }

  fire(node: CompiledNode, firing: Firing): void {
    if (this.over) return;
    const cap = node.node.maxVisits;
    const runs = this.visits.runs(node.index);
    const counted = cap === undefined ? firing : this.flow.counted(firing);
    if (cap !== undefined && runs >= cap) this.pastCap(node, counted, cap);
    else if (firing.depth >= this.maxSteps) this.refuse(node, firing, tooDeep(this.maxSteps));
    else if (runs >= this.maxSteps * this.compiled.nodes.length) this.refuse(node, firing, tooOften(node, runs));
    else {
      this.visits.countAnew(node.countsAnew);
      this.enqueue(new Step(this, node, counted, this.visits.next(node.index)));
    }
  }

  /** Creates a step that fails before its body starts. */
  refuse(node: CompiledNode, firing: Firing, error: ErrorData): void {
    this.enqueue(new Step(this, node, firing, this.visits.next(node.index), error));
  }

  /** A skip waits its turn in the queue like a step (C1). */
  skip(node: CompiledNode, arrivals: Arrivals, origin: Decided, poison: boolean): void {
    this.outstanding += 1;
    const visit = this.visits.next(node.index);
    this.visits.skipped(node.index);
    const [first = this.inputs, ...more] = this.flow.endBranches(arrivals);
    const version = this.toldSkipped(node, { ...origin, version: first }, visit);
    const start = (): void => {
      this.outstanding -= 1;
      this.tell(node, visitAddress(this.prefix, node.id, visit), 'skipped', 0, {
        reason: skipReason(this.compiled, node, arrivals, poison),
      });
      const token = tokenOf(poison ? 'poison' : 'dead', version, origin, origin.influence);
      this.flow.sendDead(node, more.length === 0 ? token : { ...token, more });
      this.restIfIdle();
    };
    this.run.enqueue({ leaf: false, next: undefined, isWanted: () => !this.over, start });
  }

  /** The version after a skipped node, with its end if the node writes that. */
  private toldSkipped(node: CompiledNode, firing: Firing, visit: number): Version {
    if (node.node.ending === undefined) return firing.version;
    const version = writeEnding(this, new Step(this, node, firing, visit), firing.version, { outcome: 'skipped' });
    this.flow.branchEnded(version);
    return version;
  }

  /** Continues with a live token; `ending`: an ignored failure, or a skip after which the plan continues. */
  private goOn(step: Step, version: Version, output: unknown, choice: Choice | undefined, ending?: PassedOver): void {
    step.close();
    this.outstanding -= 1;
    removeStep(this, step);
    const { compiled } = step;
    if (ending !== undefined) this.tellPassed(step, ending);
    else {
      this.countStep(compiled, 'succeeded');
      const { reporter, options } = this.run;
      if (reporter.followed) {
        const isTold = options.streamState === true && compiled.node.kind !== 'pass';
        reporter.succeeded(step, output, choice, isTold ? this.plain(version) : undefined);
      }
    }
    if (compiled.counted && ending?.outcome !== 'skipped') this.run.leafEnded(ending === undefined);
    if (choice?.around !== undefined) this.around = [...(this.around ?? []), ...choice.around];
    if (this.run.check !== undefined && ending === undefined && this.isStopped(step, version)) return;
    const told = writeEnding(this, step, version, ending ?? { outcome: 'succeeded' });
    const live = tokenOf('live', told, step, step.control);
    if (ending === undefined) this.reached += branchEnds(compiled, choice);
    if (compiled.exit) this.leaveByExit(compiled, live);
    else this.flow.send(compiled, live, choice);
    this.restIfIdle();
  }

  private tellPassed({ compiled, path, attempt, inside }: Step, ending: PassedOver): void {
    const { outcome } = ending;
    this.tell(compiled, path, outcome, outcome === 'skipped' ? 0 : attempt, ending);
    if (outcome !== 'skipped') countAllowed(this.census, outcome, inside);
  }

  /** Runs the check for steps of the run's own plan, except for those that do nothing and leave the state unchanged. */
  private isStopped({ compiled, path }: Step, version: Version): boolean {
    if (this.parent !== '' || compiled.node.kind === 'pass') return false;
    const state = this.checkedState(version);
    const error = this.run.check?.({ node: compiled.id, path, state, census: { ...this.census } });
    if (error === undefined) return false;
    this.end({ type: 'failed', error, path }, [version]);
    return true;
  }

  /** Ends a branch at an exit (E7). */
  private leaveByExit(node: CompiledNode, live: Token): void {
    this.flow.decided(live.influence);
    this.flow.branchEnded(live.version);
    if (this.compiled.plan.firstExitWins === true) {
      this.stopSteps();
      this.finishWith({ version: live.version, conflict: undefined });
    } else if (node.hops.length > 0) this.flow.sendDead(node, { ...live, kind: 'dead' });
  }

  private pastCap(node: CompiledNode, firing: Firing, cap: number): void {
    const { version } = firing;
    const { onMaxVisits } = node.node;
    if (typeof onMaxVisits === 'object' && 'to' in onMaxVisits && onMaxVisits.degraded === true)
      this.limited(node, cap);
    if (typeof onMaxVisits === 'object' && 'to' in onMaxVisits && onMaxVisits.to === END) this.endAtCap(node, firing);
    else if (node.onMaxVisitsTo >= 0 && !this.visits.capsGoRound(node))
      this.flow.fireHandler(node, node.onMaxVisitsTo, firing);
    else if (node.node.onMaxVisits === 'skip')
      this.skip(node, [tokenOf('live', version, firing, firing.influence)], firing, false);
    else this.refuse(node, firing, pastMaxVisits(node, cap));
  }

  private limited(node: CompiledNode, cap: number): void {
    addCensus(this.census, { ...emptyCensus(), limited: 1 });
    const { reporter } = this.run;
    if (reporter.observed) reporter.emit(this.prefix + node.id, this.parent, limitBody(node, cap));
  }

  private endAtCap(node: CompiledNode, { version, depth, round, influence }: Firing): void {
    this.flow.branchEnded(version);
    this.flow.sendDead(node, tokenOf('dead', version, { depth, round }, influence));
  }
}

/** The values that replace what a step writes. Those that the user does not control influence it. */
function editsOf({ options, labels }: RunServices, step: Step): StateEdits[string] | undefined {
  const set = options.edits?.[step.path];
  if (set === undefined) return undefined;
  for (const [name, label] of labelsOfInputs(options)) if (Object.hasOwn(set, name)) step.replaced(labels.of(label));
  return set;
}
