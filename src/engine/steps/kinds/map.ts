import { lazily } from '../../../base/collections.js';
import { isFinal, SkeinError, type ErrorData } from '../../../base/errors.js';
import { escapeKey } from '../../../base/item-key.js';
import { readPath, readRef, refText, JsonTexts } from '../../../lang/json-path.js';
import { limitHint } from '../../../plan/notations.js';
import type { ItemError, MapNode } from '../../../plan/plan.js';
import type { Body, Step } from '../step.js';
import { allowedIn, emptyCensus, type Census } from '../../../events/census.js';
import { isEnough, tooFew, type FailedPart } from '../../graph/required.js';
import type { ScopeEnd, ScopeHandle, Work } from '../../services.js';
import { inputCell } from '../../state/cell.js';
import { endLike, inputsOf, noTicket, openInside, subPlan, taken, type SubStart } from './call.js';

/** Runs a sub-plan for each item of a list, bounded, with results in item order. Items are addressed `NODE[KEY]`. */
export const mapBody: Body = { start: startMap, take: noTicket };

function startMap(step: Step): void {
  const { node } = step.compiled;
  if (node.kind !== 'map') return;
  // The number of the items and their names reveal something about the list.
  const { value: items, label } = step.labelOf(() => itemsOf(step, node));
  step.influenced(label);
  const keys = keysOf(node, items);
  const sub = subPlan(step);
  const channel = sub.channels.index.get(node.item);
  if (channel === undefined) {
    throw new SkeinError('SKEIN_INPUT', `the plan inside of '${node.id}' has no channel '${node.item}'`);
  }
  const { run } = step;
  if (run.reporter.observed) step.emit({ type: 'step.note', note: { kind: 'items', count: items.length } });
  const { version, influence } = inputsOf(step, { inputs: node.inputs ?? {} }, sub);
  const common = { version, influence: run.labels.join(influence, label) };
  new MapRun(step, node, { list: items, keys, channel }, common).goOn();
}

type Waiting = Extract<ScopeEnd, { readonly type: 'paused' | 'out_of_budget' }>;

interface Items {
  readonly list: readonly unknown[];
  readonly keys: readonly string[];
  /** Channel of the sub-plan that receives an item. */
  readonly channel: number;
}

/** A failed item, and what its failures change in the census once they are allowed. */
interface FailedItem extends FailedPart {
  readonly allowed: Census;
}

/** Opens the items one after another, each from the queue of the run, so that items that end at once don't add up in memory. */
class MapRun implements Work {
  readonly leaf = false;
  next: Work | undefined = undefined;
  private readonly results: unknown[];
  /** Failed items whose failure is allowed. */
  private readonly failed = new Map<number, FailedItem>();
  private readonly attempt: number;
  private queued = false;
  /** Set if an item waits for something that can't come in this session: the map then ends like it, with other items not opened if a budget is short. */
  private waits: Waiting | undefined = undefined;
  private opened = 0;
  private open = 0;

  constructor(
    private readonly step: Step,
    private readonly node: MapNode,
    private readonly items: Items,
    private readonly common: SubStart,
  ) {
    this.attempt = step.attempt;
    this.results = items.list.map(() => null);
  }

  isWanted(): boolean {
    return this.step.performs(this.attempt) && this.step.isWanted();
  }

  start(): void {
    this.queued = false;
    if (this.isShort) {
      this.goOn();
      return;
    }
    this.open += 1;
    this.startItem(this.opened++);
    this.goOn();
  }

  /** Opens the next item as soon as one more may be open; ends with the last one. */
  goOn(): void {
    if (!this.isWanted() || this.queued) return;
    const { results, open, step, waits } = this;
    if (this.opened < results.length && !this.isShort) {
      if (open >= (this.node.concurrency ?? Number.POSITIVE_INFINITY)) return;
      this.queued = true;
      step.run.enqueue(this);
    } else if (open === 0) {
      if (waits === undefined) this.finish();
      else endLike(step, waits);
    }
  }

  /** What waits for an answer leaves other items alone, which may have questions of their own; for what waits for budget, there is none. */
  private get isShort(): boolean {
    return this.waits?.type === 'out_of_budget';
  }

  private allow({ allowed }: FailedItem): void {
    this.step.adopt(allowed, undefined);
  }

  /** Runs after the end of all items. */
  private finish(): void {
    const { results, failed, step } = this;
    const { require, onItemError } = this.node;
    const succeeded = results.length - failed.size;
    // In the order of the items, whichever failed first: the state must not depend on timing.
    const inOrder = [...failed].toSorted(([one], [other]) => one - other);
    step.itemErrors = inOrder.map(([at, { error }]) => this.errorOf(at, error));
    const failures = inOrder.map(([, item]) => item);
    if (require !== undefined && !isEnough(require, succeeded, failed.size)) {
      step.fail(tooFew('items', require, succeeded, failures));
      return;
    }
    if (require !== undefined) for (const item of failures) this.allow(item);
    const isWhole = failed.size === 0 || onItemError === 'continue';
    step.succeed(isWhole ? results : results.filter((_, at) => !failed.has(at)));
  }

  private errorOf(index: number, { message }: ErrorData): ItemError {
    return { index, key: this.items.keys[index] ?? String(index), message };
  }

  private allows(error: ErrorData): boolean {
    const { onItemError, require } = this.node;
    if (require !== undefined) return !isFinal(error);
    return onItemError !== undefined && onItemError !== 'fail' && !isFinal(error);
  }

  private startItem(at: number): void {
    const { step } = this;
    const { list, keys, channel } = this.items;
    const sub = subPlan(step);
    const { version: common, influence } = this.common;
    let version = common.with(channel, inputCell(list[at], sub.channels.reducers[channel], influence));
    const put = (name: string | undefined, value: unknown): void => {
      const to = name === undefined ? undefined : sub.channels.index.get(name);
      if (to !== undefined) version = version.with(to, inputCell(value, sub.channels.reducers[to], influence));
    };
    put(this.node.index, at);
    put(this.node.itemKey, keys[at] ?? String(at));
    openInside(step, sub, `${step.key}[${keys[at] ?? at}]/`, { version, influence }, (scope, end) =>
      this.itemEnded(at, scope, end),
    );
  }

  private itemEnded(at: number, scope: ScopeHandle, end: ScopeEnd): void {
    this.open -= 1;
    if (end.type === 'done') {
      this.results[at] = taken(scope, this.node.result) ?? null;
    } else if (end.type === 'failed' && this.allows(end.error)) {
      const path = `${this.step.path}[${this.items.keys[at] ?? at}]`;
      // An unreadable state at the end of an item is not the failure of one of its steps.
      const inside = allowedIn(scope.census);
      const allowed = inside.degraded > 0 ? inside : { ...emptyCensus(), degraded: 1 };
      const item = { path, error: end.error, allowed };
      this.failed.set(at, item);
      if (this.node.require === undefined) this.allow(item);
    } else if (end.type === 'paused' || (end.type === 'out_of_budget' && end.how === 'waited')) {
      if (this.waits?.type !== 'out_of_budget') this.waits = end;
    } else {
      if (end.type === 'failed') this.step.itemErrors = [this.errorOf(at, end.error)];
      endLike(this.step, end);
      return;
    }
    this.goOn();
  }
}

function itemsOf(step: Step, node: MapNode): readonly unknown[] {
  const texts = new JsonTexts(step.run);
  const items = readRef(node.over, step.reader(), texts);
  const list = typeof items === 'string' ? texts.parse(items) : items;
  if (!Array.isArray(list)) {
    const message = `'${node.id}' maps over ${refText(node.over)}, which is not a list`;
    throw new SkeinError('SKEIN_NOT_A_LIST', message, { hint: 'give a list, or a text that is one as JSON' });
  }
  if (list.length > node.maxItems) {
    throw new SkeinError('SKEIN_MAX_ITEMS', `'${node.id}' got ${list.length} items, and ${node.maxItems} are allowed`, {
      hint: limitHint(step.compiled.notation, 'maxItems', 'shorten the list before'),
    });
  }
  return list;
}

/** Names of the items in paths: the index, or the value at `key`, which must be unique. */
function keysOf(node: MapNode, items: readonly unknown[]): string[] {
  const { key } = node;
  if (key === undefined) return items.map((_, at) => String(at));
  const values = items.map((item) => {
    const value = readPath(item, key);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  });
  const alike = new Map<string, number>();
  for (const value of new Set(values)) alike.set(plainName(value), (alike.get(plainName(value)) ?? 0) + 1);
  const names = new Set<string>();
  return values.map((value, at) => {
    const plain = plainName(value);
    // Items that would share a name get their full names.
    const name = plain !== value && (alike.get(plain) ?? 0) > 1 ? fullName(value) : plain;
    if (value === '' || names.has(name)) {
      const why = value === '' ? 'has no text or number' : `repeats '${value}'`;
      throw new SkeinError('SKEIN_INPUT', `item ${at} of '${node.id}' ${why} at its key '${key.join('.')}'`);
    }
    names.add(name);
    return name;
  });
}

/** What ends a name in a path, white space, and characters that are not seen: two names that look the same must not differ. */
const NOT_PLAIN = lazily(() => /[/[\]\s\p{Cc}\p{Cf}]/gu);

function plainName(value: string): string {
  return value.replaceAll(NOT_PLAIN(), '_');
}

function fullName(value: string): string {
  return escapeKey(value).replaceAll(NOT_PLAIN(), encodeURIComponent);
}
