import { digestText } from '../../../src/base/hash.js';
import type { StepIo } from '../../../src/engine/ports/durable.js';
import type { Phases, SupervisedAttempt } from '../../../src/engine/ports/supervision.js';
import type { Commitment } from '../../../src/plan/supervision.js';

/** What is said of an attempt: by a supervisor, `ok`, `fix: TEXT`, `halt`, `ask`; by a person `approve`, `revise: TEXT`, `reject`. */
export type Saying = (attempt: SupervisedAttempt, path: string) => string;

const COMMITMENT: Commitment = {
  interpretation: 'as asked',
  scopeIn: [],
  scopeOut: [],
  approach: '',
  predictedOutput: '',
  confidence: 'high',
  assumptions: [],
};

/** Phases whose calls of models are effects that count themselves, and say what the test has them say. */
export class ScriptedPhases implements Phases {
  /** Keys of the effects that really ran, in this order. */
  readonly calls: string[] = [];
  readonly judged: SupervisedAttempt[] = [];
  /** Everything is accepted, whatever else is to be said. */
  accepts = false;

  /** `version`: that of the supervisor, which is part of the identity of its phases. */
  constructor(
    private readonly says: Saying,
    private readonly version = '',
  ) {}

  readonly commit: Phases['commit'] = ({ goal }, context) =>
    context.effect(
      'commit',
      (io) => {
        this.calls.push(keyOf(io));
        return { ...COMMITMENT, interpretation: goal };
      },
      { identity: { digest: () => digestText(goal) } },
    );

  readonly judge: Phases['judge'] = async (attempt, context) => {
    this.judged.push(attempt);
    const { output, corrections, correction = '' } = attempt;
    const said = await context.effect(
      'supervise',
      (io) => {
        this.calls.push(keyOf(io));
        return this.accepts ? 'ok' : this.says(attempt, context.path);
      },
      { identity: { digest: () => digestText(JSON.stringify([output, corrections, correction, this.version])) } },
    );
    if (said !== 'ask') return judgementOf(said, attempt);
    const answer = await context.ask('human', { text: `May '${attempt.node.id}' pass?`, evidence: attempt.output });
    return judgementOf(String(answer), attempt);
  };
}

function judgementOf(said: string, { node, output, commitment }: SupervisedAttempt): ReturnType<Phases['judge']> {
  const [, correction] = /^(?:fix|revise): (.*)$/.exec(said) ?? [];
  if (correction !== undefined) return Promise.resolve({ type: 'corrected', correction });
  if (said === 'ok' || said === 'approve') return Promise.resolve({ type: 'accepted' });
  const code = said === 'reject' ? 'SKEIN_REJECTED' : 'SKEIN_HALTED';
  const details = { output, commitment: { ...commitment }, reason: said };
  return Promise.resolve({ type: 'ended', error: { code, message: `${node.id}: ended by supervision`, details } });
}

function keyOf({ idempotencyKey, place = idempotencyKey }: StepIo): string {
  return place.slice(place.indexOf('/') + 1);
}
