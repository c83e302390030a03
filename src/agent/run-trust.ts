import { madeOnce } from '../base/collections.js';
import type { GuardRules } from '../guard/decide.js';
import { isDataFile } from '../guard/effects.js';
import { CLEAN, Labels, type Label } from '../guard/label.js';
import { isWithin, type WidenedYes } from './loop/guard-question.js';
import type { Policy } from '../plan/policy.js';
import type { ToolCall } from './model.js';

export type ResultName = Pick<ToolCall, 'id' | 'name'>;

/** In a stranger's project, the workflow is a stranger's too. */
const PROJECT: Label = { level: 'untrusted', isPrivate: false, sources: ['project'] };

/** What a run, and the runs that its functions start, wrote under an influence that must not decide what runs. */
export class WrittenHere {
  private readonly all: { readonly paths: Set<string>; readonly begun: Set<string>; planted: boolean; lost: boolean };

  /**
   * @param around the files of the run whose function started this run: both know the same files
   * @param tell receives each file that this run writes, for the record of the call that started it
   */
  constructor(
    private readonly around?: WrittenHere,
    private readonly tell?: (path: string) => void,
  ) {
    this.all = around?.all ?? { paths: new Set(), begun: new Set(), planted: false, lost: false };
  }

  /** Paths as the tools show them. */
  get paths(): ReadonlySet<string> {
    return this.all.paths;
  }

  /** Whether programs may run some of it. */
  get planted(): boolean {
    return this.all.planted;
  }

  /** Whether a file counts as written for whoever reads it now: its text may be there before the outcome of the call is. */
  has(path: string): boolean {
    return this.all.paths.has(path) || this.all.begun.has(path);
  }

  /**
   * Records that a call with an untrusted label is about to write a file, or wrote it in an earlier session, whose record the replay has
   * not reached yet. Only what is recorded may depend on it, since a replay sees it at other moments.
   */
  begin(path: string): void {
    this.all.begun.add(path);
  }

  /** Whether programs may run some of the files that are known so far. The same holds for it. */
  get mayBePlanted(): boolean {
    return this.planted || [...this.all.begun].some((path) => !isDataFile(path));
  }

  /** Whether some are not known: then each file of the project may be one of them. */
  get isLost(): boolean {
    return this.all.lost;
  }

  lose(): void {
    this.all.lost = true;
    this.foundPlanted();
  }

  /** Records that another run wrote files that programs may run. */
  foundPlanted(): void {
    this.all.planted = true;
  }

  /** Commands run project files, and so the contents of such a file. */
  add(path: string): void {
    this.all.paths.add(path);
    if (!isDataFile(path)) this.foundPlanted();
    this.tellOf(path);
  }

  private tellOf(path: string): void {
    this.tell?.(path);
    this.around?.tellOf(path);
  }
}

/**
 * What the guard knows about a run, beyond one step. It is state of the interpreter, like the shared memory: only outcomes change it, so
 * that a replay rebuilds it.
 */
export class RunTrust {
  readonly labels = new Labels();
  /** The label of the agents' shared memory. */
  memory = CLEAN;
  /**
   * Labels of tool results in this run, by name and id: another agent may read them in a shared conversation. Each step looks up everything
   * that it reads, so the map is nested instead of building a key for each look-up.
   */
  private readonly results = new Map<string, Map<string, number>>();
  private readonly widened: WidenedYes[] = [];
  /** Cleared calls of steps that call a tool directly, by step and digest of the call. */
  private readonly allowed = new Set<string>();
  /** The label with which each step begins. */
  readonly first: number;

  /**
   * @param start the label of what influenced the run itself: that of its parent run
   * @param declared what the user allows
   * @param policies policies for all agents of the run
   * @param files the record of written files, beyond this run
   * @param here the files written so far by this run and those around it
   */
  constructor(
    start: Label | undefined,
    private readonly declared: GuardRules = {},
    readonly policies: readonly Policy[] = [],
    readonly files?: WrittenFiles,
    readonly here = new WrittenHere(),
  ) {
    const isForeign = declared.project === 'untrusted';
    const begun = start === undefined ? CLEAN : this.labels.of(start);
    this.first = isForeign ? this.labels.join(begun, this.labels.of(PROJECT)) : begun;
  }

  heard(result: ResultName, label: number): void {
    const { name, id } = result;
    const known = madeOnce(this.results, name, () => new Map<string, number>());
    known.set(id, this.labels.join(known.get(id) ?? CLEAN, label));
  }

  /** The label of a result; undefined if it is unknown in this run. */
  labelOf(result: ResultName): number | undefined {
    return this.results.get(result.name)?.get(result.id);
  }

  /** Records arguments that a person left free for the rest of the run. */
  widen(yes: WidenedYes): void {
    this.widened.push(yes);
  }

  /** Records that a call which a step makes directly is cleared. */
  noteCleared(call: string): void {
    this.allowed.add(call);
  }

  hasCleared(call: string): boolean {
    return this.allowed.has(call);
  }

  /** Whether a person has allowed such calls of an agent. */
  allows(agent: string, call: ToolCall): boolean {
    return this.widened.some((yes) => isWithin(yes, agent, call));
  }

  get rules(): GuardRules {
    return this.planted ? { ...this.declared, planted: true } : this.declared;
  }

  get planted(): boolean {
    return this.here.planted;
  }

  /** Files written under an influence that must not decide what runs, with their paths as the tools show them. */
  get written(): ReadonlySet<string> {
    return this.here.paths;
  }

  /** Records that a run inside was interrupted. Without a record of written files, any file may be one that it wrote. */
  lostFiles(): void {
    if (this.files === undefined) this.here.lose();
  }
}

/**
 * Files that agents wrote in a conversation with untrusted content. The record is separate from runs, so that other runs see it too; it
 * remains until a person vouches for the file.
 */
export interface WrittenFiles {
  /**
   * Adds a file of the working directory right before it gets this text, so that no crash leaves it unknown. The path is as tools show it;
   * `runs`: programs may run it.
   */
  note(path: string, runs: boolean, text: string): void;
  /** Whether a file is in the record: by its absolute path, which may be that of a link, or by its content. */
  has(path: string): boolean;
  /** The same by path alone, for a file whose name is shown. */
  hasName(path: string): boolean;
  /** Whether the working directory contains a recorded file that programs may run. */
  planted(): boolean;
}
