import type { SkeinEvent } from '../events/event.js';
import type { StepEnding } from '../events/census.js';
import { isSupervisionNote, type SupervisionNote } from '../events/supervision.js';
import { isPlainObject, present } from '../base/json.js';
import type { Spending } from '../events/spending.js';
import { StepTallies } from '../events/call-fold.js';
import { spendingFields, type Fields } from './record-fields.js';
import { UniqueNames, safeName } from './safe-name.js';
import type { Keeper, KeeperOptions } from './keeper.js';

interface Attempt {
  post?: unknown;
  reconcile?: Fields;
  supervise?: Fields;
  human?: Fields;
}

interface Trail {
  readonly pre: unknown;
  readonly attempts: Attempt[];
}

/** Collects the supervision notes of each step, for people to read later, and passes them on when it is accepted or ends. */
export class CheckpointLog {
  private readonly trails = new Map<string, Trail>();
  private readonly names = new UniqueNames();
  private readonly tallies = new StepTallies();

  /** `name` is a unique file name, made from the path of the step after `shown`. */
  constructor(
    private readonly write: (name: string, checkpoint: Fields) => void,
    private readonly shown: (path: string) => string = (path) => path,
  ) {}

  readonly listen = (event: SkeinEvent): void => {
    const { type, path } = event;
    const spent = this.tallies.take(event);
    if (type === 'step.note' && isSupervisionNote(event.note)) this.note(path, event.note, spent);
    else if (type === 'step.ended' && event.outcome !== 'paused') this.ended(path, event, spent);
  };

  private note(path: string, note: SupervisionNote, spent: Spending): void {
    if (note.kind === 'supervision.commit') {
      this.trails.set(path, { pre: note.commitment, attempts: [{}] });
      return;
    }
    const attempt = this.trails.get(path)?.attempts.at(-1);
    if (attempt === undefined) return;
    switch (note.kind) {
      case 'supervision.post':
        attempt.post = note.assessment;
        break;
      case 'supervision.reconcile':
        attempt.reconcile = { triggers: note.triggers, escalate: note.escalate };
        break;
      case 'supervision.verdict':
        attempt.supervise = { verdict: note.verdict, reason: note.reason };
        break;
      case 'approval.requested':
        attempt.human = { question: note.question };
        break;
      case 'approval.decided':
        attempt.human = { ...attempt.human, verdict: note.verdict, ...present({ by: note.by }) };
        break;
      case 'supervision.corrected': {
        const whose = attempt.human === undefined ? 'supervise' : 'human';
        attempt[whose] = { ...attempt[whose], correction: note.correction };
        this.trails.get(path)?.attempts.push({});
        break;
      }
      case 'supervision.accepted':
        this.end(path, spent, { outcome: 'accepted' });
        break;
    }
  }

  /** An accepted step has already been passed on. */
  private ended(path: string, { outcome, error }: StepEnding, spent: Spending): void {
    const word = ENDINGS[error?.code ?? ''] ?? outcome;
    const { details } = error ?? {};
    const output = isPlainObject(details) ? details['output'] : undefined;
    this.end(path, spent, { outcome: word, reason: error?.message, output });
  }

  private end(path: string, spent: Spending, ending: Fields): void {
    const trail = this.trails.get(path);
    this.trails.delete(path);
    if (trail === undefined) return;
    const name = safeName(this.shown(path).replaceAll('/', '.'), 'step', 80);
    this.write(this.names.take(name), { path, ...trail, ...ending, spent: spendingFields(spent) });
  }
}

const ENDINGS: Readonly<Record<string, string>> = { SKEIN_HALTED: 'halted', SKEIN_REJECTED: 'rejected' };

/** Writes `checkpoints/`: a file for each supervised step that was accepted or ended. */
export function keepCheckpoints({ writer, redactor }: KeeperOptions): Keeper {
  const log = new CheckpointLog((name, checkpoint) => {
    writer.write(`checkpoints/${name}.json`, () => `${redactor.json(checkpoint, 2)}\n`);
  }, redactor.text);
  return { listen: log.listen };
}
