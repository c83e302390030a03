import { madeOnce } from '../base/collections.js';
import type { GuardRules } from '../guard/decide.js';
import { isDataFile } from '../guard/effects.js';
import type { Label } from '../guard/label.js';
import { CLEAN, Labels } from '../guard/label.js';
import type { WidenedYes } from './loop/guard-question.js';
import { isWithin } from './loop/guard-question.js';
import type { Policy } from '../plan/policy.js';
import type { ToolCall } from './model.js';

/** What a result is known by. */
export type ResultName = Pick<ToolCall, 'id' | 'name'>;

/** Where the project is a stranger's, so is the workflow. */
const PROJECT: Label = { level: 'untrusted', isPrivate: false, sources: ['project'] };

/**
 * What the guard knows of a run, beyond one step. It is state of the interpreter, as the shared memory is: changed by outcomes alone, so that a replay
 * builds it up again.
 */
export class RunTrust {
  readonly labels = new Labels();
  /** What had a say in what the agents share. */
  memory = CLEAN;
  /** Files that were written by who must not decide what runs, as the tools show their paths. */
  readonly written = new Set<string>();
  /**
   * Labels of results that agents of this run heard, by name and id: another one may read them in a conversation that they share. Each step asks
   * for all that it reads, so no key is put together for it.
   */
  private readonly results = new Map<string, Map<string, number>>();
  private readonly widened: WidenedYes[] = [];
  /** Calls of steps by themselves that may be made, by their step and what they are. */
  private readonly allowed = new Set<string>();
  private isPlanted = false;
  /** The label of a step that has heard nothing yet. */
  readonly first: number;

  /**
   * @param start what had a say in the run itself: that of the run that started it
   * @param declared what the user allows
   * @param policies what holds for all agents of the run
   * @param files what is known of files beyond this run
   */
  constructor(
    start: Label | undefined,
    private readonly declared: GuardRules = {},
    readonly policies: readonly Policy[] = [],
    readonly files?: WrittenFiles,
  ) {
    const isForeign = declared.project === 'untrusted';
    const begun = start === undefined ? CLEAN : this.labels.of(start);
    this.first = isForeign ? this.labels.join(begun, this.labels.of(PROJECT)) : begun;
  }

  /** A result with this label was heard. */
  heard(result: ResultName, label: number): void {
    const { name, id } = result;
    const known = madeOnce(this.results, name, () => new Map<string, number>());
    known.set(id, this.labels.join(known.get(id) ?? CLEAN, label));
  }

  /** The label of a result; undefined: this run did not hear it. */
  labelOf(result: ResultName): number | undefined {
    return this.results.get(result.name)?.get(result.id);
  }

  /** A person left arguments of a call free, for the rest of the run. */
  widen(yes: WidenedYes): void {
    this.widened.push(yes);
  }

  /** A call that a step makes by itself may be made. */
  noteCleared(call: string): void {
    this.allowed.add(call);
  }

  hasCleared(call: string): boolean {
    return this.allowed.has(call);
  }

  /** Whether a person has allowed calls like this one of an agent. */
  allows(agent: string, call: ToolCall): boolean {
    return this.widened.some((yes) => isWithin(yes, agent, call));
  }

  get rules(): GuardRules {
    return this.isPlanted ? { ...this.declared, planted: true } : this.declared;
  }

  get planted(): boolean {
    return this.isPlanted;
  }

  /** Another run had written what programs may run. */
  foundPlanted(): void {
    this.isPlanted = true;
  }

  /** A file was written in a conversation with an untrusted label. Commands run what lies in the project, and so what such a file says. */
  wrote(path: string): void {
    this.written.add(path);
    if (!isDataFile(path)) this.isPlanted = true;
  }
}

/**
 * Files that agents wrote in a conversation that had heard something untrusted. It is kept apart from runs, so that other runs know of them too; it
 * holds until a person says otherwise.
 */
export interface WrittenFiles {
  /** Notes a file of the working directory, by its path as tools show it. It has just been written. `runs`: programs may run it. */
  note(path: string, runs: boolean): void;
  /** Whether a file is one of these: by its absolute path, where links have been followed, or by what is in it. */
  has(path: string): boolean;
  /** The same by its path alone, for a file whose name is shown. */
  hasName(path: string): boolean;
  /** Whether one that programs may run is there in the working directory. */
  planted(): boolean;
}
