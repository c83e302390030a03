import { run } from 'skein';
import type { Listener, RunOptions, RunResult, Runnable, SkeinEvent, StepNote } from 'skein';
import type { Model, ModelRequest } from 'skein/agent';
import type { Phase } from '../../src/events/supervision.js';

/** What models of a test are asked: who asks, in which phase, and the text. */
export interface Asked {
  readonly path: string;
  /** `work` is the agent itself. */
  readonly phase: Phase | 'work';
  readonly model: string;
  readonly system: string;
  readonly prompt: string;
  readonly signal: AbortSignal;
}

/** Promises, finds nothing wrong, lets it pass; the work is `done`. */
export const HAPPY = {
  commit: '{"interpretation":"write it","confidence":"high"}',
  work: 'done',
  post: '{"met_commitment":true}',
  supervise: '{"verdict":"continue"}',
  screen: '{"verdict":"safe","reason":""}',
  review: '{"verdict":"allow","reason":""}',
} as const;

/** A test that the work does not pass by itself. */
export const DRIFT = '{"met_commitment":false,"deviations":["too long"]}';

type Says = Partial<Record<Asked['phase'], string | ((asked: Asked, count: number) => string | Promise<string>)>>;

/** The models `fake/NAME`, which say what the test has them say, and what they were asked. */
export class FakeModels {
  readonly asked: Asked[] = [];

  constructor(private readonly says: Says = {}) {}

  /** `path phase` of all calls. */
  get calls(): readonly string[] {
    return this.asked.map(({ path, phase }) => `${path} ${phase}`);
  }

  readonly options: Required<Pick<RunOptions, 'models'>>['models'] = {
    env: { SKEIN_MODEL: 'fake/own' },
    noProbe: true,
    providers: { fake: (name) => this.model(`fake/${name}`) },
  };

  of(phase: Asked['phase']): readonly Asked[] {
    return this.asked.filter((one) => one.phase === phase);
  }

  private model(id: string): Model {
    const answer = (request: ModelRequest) => this.answer(id, request);
    return {
      id,
      async *stream(request) {
        yield { type: 'text', text: await answer(request) };
        yield { type: 'finish', reason: 'stop', usage: { inputTokens: 10, outputTokens: 1 } };
      },
    };
  }

  private async answer(model: string, { messages, caller, signal }: ModelRequest): Promise<string> {
    const { path, phase = 'work' } = caller;
    const text = (role: 'system' | 'user'): string =>
      messages.flatMap((message) => (message.role === role ? [message.text] : [])).join('\n');
    const asked: Asked = { path, phase, model, system: text('system'), prompt: text('user'), signal };
    this.asked.push(asked);
    const says = this.says[phase] ?? HAPPY[phase];
    return typeof says === 'string' ? says : await says(asked, this.of(phase).length);
  }
}

/** Runs a plan with such models; gives its result and what was told. */
export async function runWith(
  models: FakeModels,
  workflow: Runnable,
  options: RunOptions = {},
): Promise<RunResult & { readonly events: readonly SkeinEvent[]; readonly notes: readonly StepNote[] }> {
  const events: SkeinEvent[] = [];
  const listen: Listener = (event) => void events.push(event);
  const { result } = run(workflow, { models: models.options, ...options, listeners: [listen] });
  const ended = await result;
  return { ...ended, events, notes: events.flatMap((event) => (event.type === 'step.note' ? [event.note] : [])) };
}
