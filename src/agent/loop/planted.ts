import { digestText } from '../../base/hash.js';
import type { StepContext } from '../../engine/ports/executor.js';
import type { ToolCall } from '../model.js';
import type { RunTrust } from '../run-trust.js';
import { runsCommands, type Opened } from '../session.js';

interface Parts {
  readonly step: StepContext;
  readonly run: RunTrust;
  readonly opened: Opened;
}

interface Deciding {
  readonly calls: readonly ToolCall[];
  /** Whether the call was made, so that it is not made again. */
  readonly isMade: (call: ToolCall, index: number) => boolean;
}

/**
 * Finds out, before commands of a step are decided about, whether programs were planted: by this run, by one that a function of it started,
 * or by another one after the step opened. It decides, so it is recorded: what another step did may go with the process before a record of
 * it, and a resumed run would make a command that a person refused.
 */
export class PlantedPrograms {
  /** Turns in which some were found. */
  private readonly found = new Map<number, Promise<void>>();

  constructor(private readonly parts: Parts) {}

  /**
   * Looks before calls of a turn are decided about. A turn of which a call was made is decided already.
   *
   * @returns undefined if nothing was found
   */
  look(turn: number, { calls, isMade }: Deciding): Promise<void> | undefined {
    const { run, opened } = this.parts;
    const known = this.found.get(turn) ?? this.recall(turn);
    // What was found as the step opened is in its record.
    if (known !== undefined || opened.planted === true || !this.hasCommands(calls)) return known;
    if (calls.some((call, at) => isMade(call, at + 1))) return undefined;
    return run.here.mayBePlanted || run.files?.planted() === true ? this.record(turn) : undefined;
  }

  /** Takes what was found in a turn before, which may be inside a model call that is not made again. */
  recall(turn: number): Promise<void> | undefined {
    if (this.found.has(turn) || !this.parts.step.isRecorded(nameOf(turn))) return undefined;
    return this.record(turn);
  }

  private record(turn: number): Promise<void> {
    const { step, run } = this.parts;
    const identity = { digest: () => digestText('') };
    const recorded = step.effect(nameOf(turn), () => Promise.resolve(true), { effect: 'read', identity });
    const found = recorded.then(() => run.here.foundPlanted());
    this.found.set(turn, found);
    return found;
  }

  private hasCommands(calls: readonly ToolCall[]): boolean {
    const { tools } = this.parts.opened;
    return calls.some(({ name }) => tools.some((tool) => tool.name === name && runsCommands(tool)));
  }
}

function nameOf(turn: number): string {
  return `planted#${turn}`;
}
