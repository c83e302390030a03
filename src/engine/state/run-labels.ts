import { CLEAN, Labels, TRUSTED, type Label } from '../../guard/label.js';
import type { Cell } from './cell.js';
import type { Version } from './version.js';
import type { ChannelSource, ReadObserver } from './viewed.js';
import { isPlainObject } from '../../base/json.js';
import type { CompiledNode } from '../graph/compile.js';
import type { ChannelWrite } from '../ports/executor.js';

/** The trust labels of a run, as numbers; {@link CLEAN} is trusted and public. A run without labels has no table. */
export class RunLabels {
  private table: Labels | undefined = undefined;
  /** Label of missing values: of what decided, before the run, that nobody wrote them. */
  absent = CLEAN;

  /** True if anything in this run has a label other than {@link CLEAN}. */
  get used(): boolean {
    return this.table !== undefined;
  }

  of(label: Label): number {
    if (this.table === undefined && isClean(label)) return CLEAN;
    return (this.table ??= new Labels()).of(label);
  }

  get(id: number): Label {
    return this.table === undefined ? TRUSTED : this.table.get(id);
  }

  join(a: number, b: number): number {
    return this.table === undefined ? CLEAN : this.table.join(a, b);
  }
}

function isClean({ level, isPrivate, sources, more }: Label): boolean {
  return level === 'trusted' && !isPrivate && sources.length === 0 && more === undefined;
}

export interface Influenced {
  influenced(label: number): void;
}

export interface LabelSource extends ChannelSource {
  readonly run: { readonly labels: RunLabels };
}

export function channelLabel(version: Version, source: LabelSource, name: string): number {
  return cellLabel(version.get(source.channels.index.get(name) ?? -1), source);
}

function cellLabel(cell: Cell | undefined, { run }: LabelSource): number {
  return cell === undefined ? run.labels.absent : cell.label;
}

/** Labels of whole versions, since functions that read all of a version need them repeatedly. */
const known = new WeakMap<Version, number>();

export function versionLabel(version: Version, { run: { labels } }: LabelSource): number {
  if (!labels.used) return CLEAN;
  let label = known.get(version);
  if (label === undefined) {
    let all = labels.absent;
    version.each((_channel, cell) => {
      all = labels.join(all, cell.label);
    });
    label = all;
    known.set(version, label);
  }
  return label;
}

/** Whether functions of the program may read the state while a step of this node runs. */
export function readsInCode({ body, tools, guide }: CompiledNode): boolean {
  return body !== undefined || tools !== undefined || guide !== undefined;
}

/** Reports the labels of what a function reads, if reads are not recorded. */
export class LabelReads implements ReadObserver {
  constructor(
    readonly version: Version,
    readonly source: LabelSource,
    private readonly told: Influenced,
  ) {}

  channel(_name: string, cell: Cell | undefined): void {
    this.told.influenced(cellLabel(cell, this.source));
  }

  all(): void {
    this.told.influenced(versionLabel(this.version, this.source));
  }

  keys(): void {
    this.all();
  }
}

/**
 * Whether a step leaves out a declared write. A missing value can't carry a label and still reveals something, so it counts as a decision
 * about where the run continues. For a function without declared writes, this is unknown.
 */
export function leavesOut(
  { node, output: channel, writes }: CompiledNode,
  output: unknown,
  more: readonly ChannelWrite[] = [],
): boolean {
  if (channel >= 0 && output === undefined) return true;
  const declared = 'outputs' in node && node.outputs !== undefined ? Object.keys(node.outputs) : (writes ?? []);
  const update = channel < 0 && isPlainObject(output) ? output : {};
  for (const name of declared)
    if (name !== node.output && !Object.hasOwn(update, name) && !more.some((write) => write.channel === name))
      return true;
  return false;
}
