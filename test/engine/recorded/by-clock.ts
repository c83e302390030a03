import { settled } from '../../../src/base/clock.js';
import type { AnswerQuestion } from '../../../src/engine/durable/memory-questions.js';
import { startRun, type RunResult, type StartOptions } from '../../../src/engine/run.js';
import { RecordedDurable } from '../../../src/engine/durable/recorded/recorded-durable.js';
import { atOnce } from '../../../src/base/slices.js';
import { FamilyReader } from '../../../src/journal/reader.js';
import { NO_SETTINGS } from '../../../src/plan/fields.js';
import { beginSession, resumeSession } from '../../../src/journal/session.js';
import type { Store } from '../../../src/journal/store.js';
import type { Definition } from '../../../src/plan/builder-input.js';
import type { FakeClock } from '../../../src/testing/index.js';

const HOLDER = { id: 'h', host: 'h', pid: 1 };

/** A session of the run `r` by a clock of the test's; it is resumed when the store has it. */
export function sessionAt(
  { plan, bindings }: Definition,
  store: Store,
  clock: FakeClock,
  more: Pick<StartOptions, 'check'> & { readonly answer?: AnswerQuestion } = {},
): Promise<RunResult> {
  const definition = { plan, code: {}, inputs: {}, settings: NO_SETTINGS };
  const known = store.run('r') !== undefined;
  const session = known
    ? atOnce(resumeSession(store, new FamilyReader(store, 'r'), definition, HOLDER, clock))
    : atOnce(beginSession(store, { ...definition, runId: 'r', origin: {} }, HOLDER, clock.now()));
  const durable = new RecordedDurable(session, { clock, answer: more.answer });
  return startRun(plan, { ...more, bindings, durable, listeners: [durable.listen] }).result.then((result) => {
    durable.close(result);
    return result;
  });
}

/** Lets everything happen that needs no time. */
export async function turns(count = 20): Promise<void> {
  for (let at = 0; at < count; at++) await settled();
}
