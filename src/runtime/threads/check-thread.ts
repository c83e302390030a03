import { SkeinError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import { checkThreadId, threadOfRow, threadOfRun } from '../../journal/thread-rows.js';
import type { RunOptions } from '../options.js';

const CHOICES = { onFailed: ['skip', 'retry'], onBusy: ['wait', 'refuse'] } as const;

export function isOnThread({ thread, resume, store }: RunOptions): boolean {
  if (thread !== undefined) return true;
  return resume !== undefined && threadOfRun(store?.run(resume) ?? {}) !== undefined;
}

/** @throws SkeinError `SKEIN_USAGE` for options that conflict */
export function checkThreadOptions({ thread, resume, fork, runId }: RunOptions): void {
  if (threadOfRow(runId) !== undefined)
    throw new SkeinError('SKEIN_USAGE', "the id of a run can't begin with 'thread:'", { hint: 'give it another id' });
  if (thread === undefined) return;
  if (resume !== undefined || fork !== undefined) {
    const hint =
      resume === undefined
        ? 'forkThread(store, from, to) continues a conversation from one of its turns'
        : 'the next turn, or resume alone, continues an interrupted turn';
    throw new SkeinError(
      'SKEIN_USAGE',
      `a run can't have both thread and ${resume === undefined ? 'fork' : 'resume'}`,
      {
        hint,
      },
    );
  }
  if (typeof thread !== 'object' || thread === null) checkThreadId(thread);
  else {
    checkThreadId(thread.id);
    for (const [name, value] of Object.entries(thread)) checkOption(name, value);
  }
}

function checkOption(name: string, value: unknown): void {
  if (name === 'id' || value === undefined) return;
  const choices: readonly string[] | undefined = Object.hasOwn(CHOICES, name)
    ? CHOICES[name as keyof typeof CHOICES]
    : undefined;
  if (choices?.some((choice) => choice === value) === true) return;
  const [what, hint] =
    choices === undefined
      ? [
          `a thread has no option ${JSON.stringify(name)}`,
          didYouMean(name, Object.keys(CHOICES)) ?? 'options are: id, onFailed, onBusy',
        ]
      : [`${name} is ${JSON.stringify(value)}`, `it is one of: ${choices.join(', ')}`];
  throw new SkeinError('SKEIN_USAGE', what, { hint });
}
