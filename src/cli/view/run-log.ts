import { nodePathOf } from '../../base/address.js';
import { wasAsked } from '../../base/errors.js';
import type { ErrorData } from '../../base/errors.js';
import type { SkeinEvent, StepNote, Usage } from '../../events/event.js';
import type { StepOutcome } from '../../events/outcome.js';
import type { Plan } from '../../plan/plan.js';
import { decisionText, jumpTarget } from './decision.js';
import type { PlacedNode } from './node-path.js';
import { nodesByPath } from './node-path.js';
import { Progress, VISIT } from './progress.js';

/** What is known of a step so far. Times are milliseconds since 1970. */
export interface StepLog {
  readonly path: string;
  /** What people see: the path, or of a jump where it leads. */
  readonly name: string;
  readonly node: string;
  readonly kind: string;
  /** Path of the step that it runs inside; empty at the top. */
  readonly parent: string;
  status: 'running' | StepOutcome;
  startedAt: number;
  endedAt: number | undefined;
  attempts: number;
  /** The model that answered last, or is asked. */
  model: string | undefined;
  /** Name of its agent, where it has one. */
  readonly agent: string | undefined;
  /** Those that failed are counted, too. */
  modelCalls: number;
  /** The model that is being asked. */
  asked: string | undefined;
  toolCalls: number;
  /** Tools that are running, by call. */
  readonly openTools: Map<string, string>;
  usage: Usage;
  /** What it does in addition to running: `waits 2.0s`, for example. */
  activity: string | undefined;
  /** The end of the text that its model is writing, with nothing changed in it; empty while it writes none. */
  said: string;
  output: unknown;
  reason: string | undefined;
  error: ErrorData | undefined;
  /** It comes from the record: it did not run here, so far. */
  reused: boolean;
}

type Begun = SkeinEvent & { readonly type: 'step.started' | 'step.ended' };

/** How much of the text that is being written is kept, in UTF-16 units: more than the widest line shows. */
const KEPT_TEXT = 500;

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

/**
 * Follows a run by its events, with the paths of {@link asSeen}. Views and reports read it; it writes nothing. Of a step that is tried again
 * with others inside of it, only what the new attempt does counts; what the one before cost stays.
 *
 * @example
 * const log = new RunLog(plan);
 * await runWorkflow(workflow, { listeners: [(event) => log.listen(asSeen(event))] });
 */
export class RunLog {
  /** By path, in the order in which they started; a step that runs again is moved to the end. */
  readonly steps = new Map<string, StepLog>();
  /** The newest visit of each place in a plan, by its path without the number of the visit. Some have been forgotten since. */
  private readonly visits = new Map<string, StepLog>();
  /** Calls by the model that answered. */
  readonly callsByModel = new Map<string, number>();
  readonly warnings: string[] = [];
  usage: Usage = NO_USAGE;
  modelCalls = 0;
  /** Of these, those without an answer. */
  failedModelCalls = 0;
  toolCalls = 0;
  startedAt = 0;
  now = 0;
  /** How many steps there are, and how many have ended. */
  readonly progress: Progress;
  private readonly open = new Map<string, StepLog>();
  /** Paths of the steps that ran inside of a step. */
  private readonly inside = new Map<string, Set<string>>();
  /** Steps of attempts that failed, for what they cost. */
  private readonly failed = new Map<string, StepLog>();
  private readonly nodes: ReadonlyMap<string, PlacedNode>;

  /** Times are those at which events arrive: a cancelled run ends now, not at its last outcome. */
  constructor(
    readonly plan: Plan,
    private readonly clock: () => number = Date.now,
  ) {
    this.nodes = nodesByPath(plan);
    this.progress = new Progress(plan, this.nodes);
  }

  /** What a condition decided, in words. */
  decision(event: SkeinEvent): string | undefined {
    if (event.type !== 'step.ended' || event.to === undefined) return undefined;
    const placed = this.nodes.get(nodePathOf(event.path));
    return placed === undefined ? undefined : decisionText(placed.plan, placed.node.id, event.to);
  }

  private nameOf(path: string): string {
    const placed = this.nodes.get(nodePathOf(path));
    const target = placed === undefined ? undefined : jumpTarget(placed.plan, placed.node);
    return target === undefined ? path : `goto ${path.slice(0, path.lastIndexOf('/') + 1)}${target}`;
  }

  /** The step of a place, such as `loop#3/critic`: of several visits the newest. */
  at(place: string): StepLog | undefined {
    const step = this.visits.get(place);
    return step !== undefined && this.steps.get(step.path) === step ? step : undefined;
  }

  /** Steps that run now, those around others included, in the order in which they started. */
  running(): Iterable<StepLog> {
    return this.open.values();
  }

  listen(event: SkeinEvent): void {
    this.now = this.clock();
    if (isPassed(event)) return;
    if (event.replayed !== true) this.wake(this.steps.get(event.path));
    switch (event.type) {
      case 'run.started':
        this.startedAt = this.now;
        return;
      case 'run.warning':
        this.warnings.push(event.message);
        return;
      case 'run.ended':
        return;
      case 'run.resumed':
        for (const step of this.open.values()) this.wake(step);
        return;
      case 'step.started':
        this.begin(event);
        return;
      case 'step.retrying': {
        const step = this.steps.get(event.path);
        if (step === undefined) return;
        step.attempts = event.attempt;
        step.openTools.clear();
        step.said = '';
        this.gaveUp(step, event.replayed);
        this.forgetInside(event.path);
        this.progress.again(event.path);
        step.activity = `failed (${event.error.code}), tries again`;
        return;
      }
      case 'step.ended':
        this.end(event);
        return;
      case 'step.note':
        // What is reported again was paid before.
        if (event.note.kind === 'items') this.progress.items(event.path, event.note.count);
        this.ask(this.steps.get(event.path), event.note);
        if (event.replayed !== true) this.note(this.steps.get(event.path), event.note);
    }
  }

  /** A step that was begun in an earlier session goes on here. */
  private wake(step: StepLog | undefined): void {
    if (step?.reused !== true) return;
    step.reused = false;
    step.startedAt = this.now;
  }

  /** What ran inside of a step that is tried again. Steps are nested 50 deep at most (see checkPlan), so recursion is safe here. */
  private forgetInside(path: string): void {
    const inner = this.inside.get(path) ?? [];
    this.inside.delete(path);
    for (const each of inner) {
      const step = this.steps.get(each);
      if (step !== undefined) {
        this.failed.set(each, step);
        this.progress.forget(each, step.status);
      }
      this.steps.delete(each);
      this.open.delete(each);
      this.forgetInside(each);
    }
  }

  private begin({ path, node, kind, parent, replayed }: Begun): StepLog {
    const before = this.failed.get(path);
    const step: StepLog = {
      path,
      name: this.nameOf(path),
      node,
      kind,
      parent,
      status: 'running',
      startedAt: this.now,
      endedAt: undefined,
      attempts: 1,
      model: undefined,
      agent: agentOf(this.nodes.get(nodePathOf(path))),
      asked: undefined,
      modelCalls: before?.modelCalls ?? 0,
      toolCalls: before?.toolCalls ?? 0,
      openTools: new Map(),
      usage: before?.usage ?? NO_USAGE,
      activity: undefined,
      said: '',
      output: undefined,
      reason: undefined,
      error: undefined,
      reused: replayed === true,
    };
    const around = this.inside.get(parent);
    if (around !== undefined) around.add(path);
    else if (parent !== '') this.inside.set(parent, new Set([path]));
    this.steps.delete(path);
    this.steps.set(path, step);
    this.open.set(path, step);
    this.visits.set(path.replace(VISIT, ''), step);
    this.progress.begin(step);
    return step;
  }

  private end(event: SkeinEvent & { readonly type: 'step.ended' }): void {
    const known = this.steps.get(event.path);
    // What is skipped has never started; a step that is visited again may be skipped then.
    const step = known?.status === 'running' ? known : this.begin(event);
    this.open.delete(event.path);
    // Behind a step that runs again, what is in the record shows only at its end.
    if (event.replayed === true) step.reused = true;
    step.status = event.outcome;
    step.endedAt = this.now;
    step.attempts = event.attempts;
    step.activity = undefined;
    step.said = '';
    step.openTools.clear();
    this.progress.end(step, event.outcome);
    this.gaveUp(step, event.replayed);
    step.reason = event.reason;
    step.error = event.error;
    const channel = this.nodes.get(nodePathOf(event.path))?.node.output;
    step.output = channel === undefined ? event.update : ownChannel(event.update, channel);
  }

  private note(step: StepLog | undefined, note: StepNote): void {
    if (step === undefined) return;
    switch (note.kind) {
      case 'prompt':
        step.model = note.model;
        return;
      case 'model.started':
        step.activity = undefined;
        step.said = '';
        return;
      case 'model.retrying':
        step.activity = `${note.error.code}, asks again`;
        return;
      case 'model.fallback':
        step.model = note.to;
        return;
      case 'model.failed':
        if (wasAsked(note.error)) this.countFailed(step);
        return;
      case 'model.ended':
        this.count(step, note.model, note.usage);
        step.said = '';
        return;
      case 'tool.started':
        step.toolCalls += 1;
        this.toolCalls += 1;
        step.openTools.set(note.id, note.tool);
        return;
      case 'tool.ended':
        step.openTools.delete(note.id);
        return;
      case 'question':
        step.activity = 'waits for an answer';
        return;
      case 'answer':
        step.activity = undefined;
        return;
      case 'warning':
        this.warnings.push(`${step.path}: ${note.message}`);
        return;
      case 'model.delta':
        step.said = (step.said + note.text).slice(-KEPT_TEXT);
        return;
      case 'items':
      case 'memory':
      case 'event':
    }
  }

  /** A call may have begun while the record was gone through, and end here. */
  private ask(step: StepLog | undefined, note: StepNote): void {
    if (step === undefined) return;
    if (note.kind === 'model.started') step.asked = step.model = note.model;
    if (note.kind === 'model.ended' || note.kind === 'model.failed') step.asked = undefined;
  }

  /** What is asked when a step ends, such as at its timeout, has been asked. */
  private gaveUp(step: StepLog, replayed: true | undefined): void {
    if (step.asked !== undefined && replayed !== true) this.countFailed(step);
    step.asked = undefined;
  }

  private countFailed(step: StepLog): void {
    step.modelCalls += 1;
    this.modelCalls += 1;
    this.failedModelCalls += 1;
  }

  private count(step: StepLog, model: string, usage: Usage): void {
    step.model = model;
    step.modelCalls += 1;
    this.modelCalls += 1;
    this.callsByModel.set(model, (this.callsByModel.get(model) ?? 0) + 1);
    step.usage = addUsage(step.usage, usage);
    this.usage = addUsage(this.usage, usage);
  }
}

/**
 * A node that does nothing counts as a step only when it did not work, such as a condition that is neither true nor false.
 *
 * @example
 * if (isPassed(event)) return;
 */
export function isPassed(event: SkeinEvent): boolean {
  if (event.type === 'step.started') return event.kind === 'pass';
  return event.type === 'step.ended' && event.kind === 'pass' && ['succeeded', 'skipped'].includes(event.outcome);
}

function agentOf(placed: PlacedNode | undefined): string | undefined {
  return placed?.node.kind === 'agent' ? placed.node.agent.name : undefined;
}

function addUsage(a: Usage, b: Usage): Usage {
  const cached = (a.cachedTokens ?? 0) + (b.cachedTokens ?? 0);
  const reasoning = (a.reasoningTokens ?? 0) + (b.reasoningTokens ?? 0);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...(cached === 0 ? {} : { cachedTokens: cached }),
    ...(reasoning === 0 ? {} : { reasoningTokens: reasoning }),
  };
}

function ownChannel(update: Readonly<Record<string, unknown>> | undefined, channel: string): unknown {
  return update !== undefined && Object.hasOwn(update, channel) ? update[channel] : undefined;
}
