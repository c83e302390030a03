import { describe, expect, it } from 'vitest';
import type { Model, ModelPart, ModelRequest } from '../../src/agent/model.js';
import { SkeinError } from '../../src/base/errors.js';
import type { SkeinEvent } from '../../src/events/event.js';
import { runWorkflow } from '../../src/runtime.js';
import type { WorkflowResult } from '../../src/runtime.js';
import { flow, load } from './project.js';

/** What the model answers to a step, by its path. */
type Answers = (step: string, request: ModelRequest) => string | Promise<string>;

interface Ran extends WorkflowResult {
  readonly outputs: Record<string, unknown>;
  readonly prompts: ReadonlyMap<string, string>;
  readonly started: readonly string[];
  readonly retries: number;
}

/** Runs a workflow whose model is a function. */
async function runFlow(text: string, answers: Answers, inputs: Record<string, string> = {}): Promise<Ran> {
  const model = (name: string): Model => ({
    id: `own/${name}`,
    async *stream(request): AsyncGenerator<ModelPart> {
      if (name === 'gone') throw new SkeinError('SKEIN_MODEL_UNAVAILABLE', 'no such model');
      yield { type: 'text', text: await answers(request.caller.path, request) };
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
    },
  });
  const events: SkeinEvent[] = [];
  const workflow = await load(text, {}, { inputs: Object.keys(inputs) });
  const { result } = await runWorkflow(workflow, {
    inputs,
    audit: false,
    models: { env: {}, noProbe: true, providers: { own: model } },
    listeners: [(event) => events.push(event)],
  });
  const ended = await result;
  const prompts = events.flatMap((event): [string, string][] =>
    event.type === 'step.note' && event.note.kind === 'prompt' ? [[event.path, event.note.prompt]] : [],
  );
  const outputs: Record<string, unknown> = {};
  for (const [channel, value] of Object.entries(ended.state)) {
    if (channel.startsWith('steps.')) outputs[channel.slice('steps.'.length, -'.output'.length)] = value;
  }
  return {
    ...ended,
    outputs,
    prompts: new Map(prompts),
    started: events.flatMap((event) => (event.type === 'step.started' ? [event.path] : [])),
    retries: events.filter((event) => event.type === 'step.retrying').length,
  };
}

const OWN = 'config: {model: own/m}\n';
const echo: Answers = (step) => `out of ${step}`;

describe('running a DAG', () => {
  it('22: a diamond: each step sees what the steps before it wrote', async () => {
    const ran = await runFlow(
      flow(
        `  - {id: a, agent: a, prompt: "start {{inputs.q}}"}
  - {id: b, agent: a, prompt: "b: {{steps.a.output}}", depends_on: [a]}
  - {id: c, agent: a, prompt: "c: {{steps.a.output}}", depends_on: [a]}
  - {id: d, agent: a, prompt: "{{steps.b.output}} + {{steps.c.output}} + {{steps.a.output}}", depends_on: [b, c]}
`,
        `${OWN}inputs: {q: }\n`,
      ),
      echo,
      { q: 'now' },
    );
    expect(ran.outcome).toBe('succeeded');
    expect(ran.prompts.get('a')).toBe('start now');
    expect(ran.prompts.get('d')).toBe('out of b + out of c + out of a');
    expect(ran.started).toEqual(['a', 'b', 'c', 'd']);
  });

  it('23: a step waits for its own dependencies and for nothing else', async () => {
    let release = (): void => undefined;
    const next = new Promise<void>((done) => {
      release = done;
    });
    const ran = await runFlow(
      flow(
        `  - {id: slow, agent: a, prompt: p}
  - {id: quick, agent: a, prompt: p}
  - {id: after, agent: a, prompt: p, depends_on: [quick]}
`,
        OWN,
      ),
      async (step) => {
        // With a barrier between levels, "after" would never start and the test would time out.
        if (step === 'slow') await next;
        if (step === 'after') release();
        return step;
      },
    );
    expect(ran.outcome).toBe('succeeded');
  });

  it('24: max_concurrency bounds how many steps run at once', async () => {
    let running = 0;
    let most = 0;
    const steps = [1, 2, 3, 4, 5].map((at) => `  - {id: s${at}, agent: a, prompt: p}\n`).join('');
    await runFlow(flow(steps, 'config: {model: own/m, max_concurrency: 2}\n'), async (step) => {
      running += 1;
      most = Math.max(most, running);
      // Long enough for the others to start: how many turns an agent needs for that depends on what is loaded.
      for (let turn = 0; turn < 50; turn += 1) await new Promise((done) => setImmediate(done));
      running -= 1;
      return step;
    });
    expect(most).toBe(2);
  });

  it('38: what a model says is never a template', async () => {
    const ran = await runFlow(
      flow(
        '  - {id: a, agent: a, prompt: p}\n  - {id: b, agent: a, prompt: "<{{steps.a.output}}>", depends_on: [a]}\n',
        `${OWN}inputs: {secret: {default: s3cret}}\n`,
      ),
      (step) => (step === 'a' ? '{{inputs.secret}} {{steps.a.output}} $& $1' : 'done'),
    );
    expect(ran.prompts.get('b')).toBe('<{{inputs.secret}} {{steps.a.output}} $& $1>');
  });

  it('59, 60: the next model of the list answers when one is unavailable', async () => {
    const ran = await runFlow(
      flow('  - {id: s, agent: a, prompt: p, model: own/gone}\n', 'config: {model: own/there}\n'),
      echo,
    );
    expect(ran.outcome).toBe('succeeded');
    expect(ran.outputs).toEqual({ s: 'out of s' });
  });

  it('96: no step sees the conversation of another', async () => {
    const seen: number[] = [];
    await runFlow(
      flow('  - {id: a, agent: a, prompt: p}\n  - {id: b, agent: a, prompt: p, depends_on: [a]}\n', OWN),
      (step, request) => {
        seen.push(request.messages.length);
        return step;
      },
    );
    expect(seen).toEqual([2, 2]);
  });
});

describe('conditions at run time', () => {
  const steps = (condition: string): string =>
    flow(
      `  - {id: scan, agent: a, prompt: p}
  - {id: fix, agent: a, prompt: p, depends_on: [scan], condition: {step: scan, ${condition}}}
  - {id: report, agent: a, prompt: "<{{steps.fix.output}}>", depends_on: [fix]}
`,
      OWN,
    );
  const says =
    (text: string): Answers =>
    (step) =>
      step === 'scan' ? text : step;

  it('29, 103: a skipped step is empty for dependents, which still run; the run has succeeded', async () => {
    const ran = await runFlow(steps('contains: RUN'), says('nothing to do'));
    expect(ran.outcome).toBe('succeeded');
    expect(ran.census).toMatchObject({ succeeded: 2, skipped: 1 });
    expect(ran.prompts.get('report')).toBe('<>');
    expect(ran.steps).toMatchObject([{ path: 'fix', outcome: 'skipped' }]);
    expect(ran.steps[0]?.reason).toContain('RUN');
  });

  it.each([
    ['contains: RUN', 'please RUN', 'fix'],
    ['contains: RUN', 'please run', undefined],
    ['equals: yes', '  yes\n', 'fix'],
    ['equals: yes', 'yes!', undefined],
    ['not_contains: NO', 'yes', 'fix'],
    ['contains: a, not_contains: b', 'a and b', undefined],
    ['contains: a, not_contains: b', 'a and c', 'fix'],
    ['matches_json: {ok: true}', '```json\n{"ok": true, "n": 1}\n```', 'fix'],
    ['matches_json: {ok: true}', 'ok', undefined],
    ['cel: "output.n > 2"', '{"n": 3}', 'fix'],
    ['cel: "output.n > 2"', '{"n": 2}', undefined],
  ])('44, decision 5: {%s} over %j', async (condition, text, output) => {
    const ran = await runFlow(steps(condition), says(text));
    expect(ran.outputs['fix']).toBe(output);
  });
});

describe('failures at run time', () => {
  const broken = new SkeinError('SKEIN_MODEL_REFUSED', 'refused');
  const shaky = new SkeinError('SKEIN_MODEL_FAILED', 'down', { retryable: true });
  const failing =
    (times: number, error = broken): Answers =>
    (step) => {
      if (step !== 'bad' || times <= 0) return `out of ${step}`;
      times -= 1;
      throw error;
    };
  const steps = (keys: string): string =>
    flow(
      `  - {id: bad, agent: a, prompt: p${keys}}
  - {id: next, agent: a, prompt: "<{{steps.bad.output}}>", depends_on: [bad], condition: {step: bad, not_contains: x}}
  - {id: last, agent: a, prompt: p, depends_on: [next]}
`,
      OWN,
    );

  it('26, 95: on_error fail, the default: the run stops with the error', async () => {
    const ran = await runFlow(steps(''), failing(9));
    expect(ran).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_MODEL_REFUSED' } });
    expect(ran.started).toEqual(['bad']);
  });

  it('27, 28: on_error continue: dependents and conditions see the empty text, and the run is degraded', async () => {
    const ran = await runFlow(steps(', on_error: continue'), failing(9));
    expect(ran.outcome).toBe('degraded');
    expect(ran.prompts.get('next')).toBe('<>');
    expect(ran.outputs['last']).toBe('out of last');
  });

  it('decision 3: on_error skip: whatever depends on the step is skipped', async () => {
    const ran = await runFlow(steps(', on_error: skip'), failing(9));
    expect(ran.outcome).toBe('degraded');
    expect(ran.census).toMatchObject({ succeeded: 0, skipped: 2, failed: 0, degraded: 1 });
  });

  it('32: retry_count repeats what may go better, and nothing else', async () => {
    // The call alone is made again.
    const again = await runFlow(steps(', retry_count: 1'), failing(1, shaky));
    expect(again).toMatchObject({ outcome: 'succeeded', retries: 0 });
    expect(await runFlow(steps(', retry_count: 1'), failing(2, shaky))).toMatchObject({ outcome: 'failed' });
    expect(await runFlow(steps(', retry_count: 1'), failing(1))).toMatchObject({ outcome: 'failed', retries: 0 });
  });

  it('decision 3: on_error retry repeats any failure once, then fails', async () => {
    expect(await runFlow(steps(', on_error: retry'), failing(1))).toMatchObject({ outcome: 'succeeded', retries: 1 });
    expect(await runFlow(steps(', on_error: retry'), failing(2))).toMatchObject({ outcome: 'failed', retries: 1 });
  });

  it('33, 34, decision 6: a timeout is per attempt, is reported as one, and is retried', async () => {
    let calls = 0;
    const hangsOnce: Answers = async (step, request) => {
      calls += 1;
      if (step !== 'bad' || calls > 1) return 'late';
      return await new Promise((_, fail) => {
        request.signal.addEventListener('abort', () => fail(new Error('aborted')));
      });
    };
    const retried = await runFlow(steps(', timeout: 1500ms, retry_count: 1'), hangsOnce);
    expect(retried).toMatchObject({ outcome: 'succeeded', retries: 1 });
    calls = 0;
    const once = await runFlow(steps(', timeout: 1500ms, on_error: continue'), hangsOnce);
    expect(once.steps[0]).toMatchObject({ path: 'bad', outcome: 'timed_out', error: { code: 'SKEIN_TIMEOUT' } });
  });

  it('35: an answer with nothing in it is a failure', async () => {
    const ran = await runFlow(steps(''), (step) => (step === 'bad' ? ' \n' : 'x'));
    expect(ran).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_MODEL_EMPTY' } });
  });
});
