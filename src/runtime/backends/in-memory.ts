import { SkeinError } from '../../base/errors.js';
import { MemoryDurable } from '../../engine/durable/memory-durable.js';
import type { RunResult } from '../../engine/run.js';
import { answerBy } from '../answers.js';
import { withAdvice } from '../check-run.js';
import type { RunOptions } from '../options.js';
import type { Backend, BackendDefinition, OpenedRun } from './backend.js';

/** Nothing stays of a run but its result. */
export const inMemory: Backend = {
  open({ runId, models }: BackendDefinition, options: RunOptions): OpenedRun {
    checkNothingRecorded(options);
    const { inputs = {} } = options;
    return {
      inputs,
      settings: options,
      begin: () => ({
        start: { runId, inputs, durable: new MemoryDurable(runId, { answer: answerBy(models, options.answer) }) },
        close: adviseOn(options),
      }),
    };
  },
};

/** Holds the options only: of a run that is over, nothing but its result is kept. */
function adviseOn(options: RunOptions): (result: RunResult) => RunResult {
  return (result) => withAdvice(result, options);
}

/** Without the store, a run that should go on would do everything again. */
function checkNothingRecorded({ resume, fork, thread }: RunOptions): void {
  if (resume === undefined && fork === undefined && thread === undefined) return;
  const option = resume !== undefined ? 'resume' : fork !== undefined ? 'fork' : 'thread';
  const what = option === 'thread' ? 'its turns are' : 'the run is';
  throw new SkeinError('SKEIN_USAGE', `${option} needs the store in which ${what} recorded`, {
    hint: `run(workflow, { store, ${option}: ... })`,
  });
}
