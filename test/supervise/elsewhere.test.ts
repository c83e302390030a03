import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { definePlan, memoryStore, readMoments, readRun, run, runWorkflow } from 'skein';
import type { Supervisor } from 'skein';
import { agent as graphAgent, agentNode, graph } from 'skein/graph';
import { openPack } from 'skein/machine';
import { loadDagText } from 'skein/yaml';
import { DRIFT, FakeModels, HAPPY, runWith } from './support.js';

const agent = { name: 'a', instructions: ['Write.'], models: ['fake/own'], tools: [] };
const writes = (id: string, more: object = {}) =>
  ({ id, kind: 'agent', agent, prompt: ['Write.'], output: id, ...more }) as const;

/** Is corrected once. */
const corrected = (): FakeModels =>
  new FakeModels({
    work: ({ prompt }) => (prompt.includes('shorter') ? 'short' : 'long'),
    post: ({ prompt }) => (prompt.includes('shorter') ? HAPPY.post : DRIFT),
    supervise: (_, count) => (count === 1 ? '{"verdict":"reorient","correction":"shorter"}' : HAPPY.supervise),
  });

describe('supervision in other places', () => {
  it('[addition 3] of a block: its own promise, the model that is named, and the correction in each prompt inside', async () => {
    const models = corrected();
    const block = definePlan({ name: 'block', nodes: [writes('x'), writes('y')] });
    const plan = definePlan({
      name: 'whole',
      nodes: [
        {
          id: 'b',
          kind: 'call',
          plan: block,
          outputs: { x: 'x', y: 'y' },
          supervise: { by: 'model', model: 'fake/judge', instruction: ['Write two lines.'] },
        },
      ],
    });
    const { outcome, census } = await runWith(models, plan);
    expect([outcome, census.succeeded]).toEqual(['succeeded', 3]);
    expect(new Set(models.asked.filter(({ phase }) => phase !== 'work').map(({ model }) => model))).toEqual(
      new Set(['fake/judge']),
    );
    expect(models.of('commit')[0]?.prompt).toContain('CALL: Write two lines.');
    expect(models.calls.filter((call) => call.endsWith('work'))).toEqual([
      'b/x work',
      'b/y work',
      'b~2/x work',
      'b~2/y work',
    ]);
    expect(models.of('work').filter(({ prompt }) => prompt.includes('shorter'))).toHaveLength(2);
    expect(models.of('post')[1]?.prompt).toContain('"x":"short"');
  });

  it('of a graph: the supervisor is an option of its runs', async () => {
    const seen: string[] = [];
    const judge: Supervisor = {
      reconcile: () => ({ triggers: ['always'], escalate: true }),
      supervise: ({ path }) => (seen.push(path), { verdict: 'continue' }),
    };
    const models = new FakeModels();
    const writer = graphAgent({ name: 'writer', instructions: 'Write.', model: 'fake/own' });
    const one = graph({ name: 'g', supervise: true }).node('w', agentNode(writer));
    const { success } = await one.run({ task: 'Write.' } as object, { models: models.options, supervisor: judge });
    expect([success, seen]).toEqual([true, ['w']]);
  });

  it('of a pack: what a state says is told once it is accepted', async () => {
    const pack = {
      id: 'p',
      name: 'P',
      version: '1.0.0',
      template_engine: { version: 'v1', syntax: '{{variable}}' },
      prompts: { chat: { id: 'chat', name: 'Chat', version: '1.0.0', system_template: 'Be kind.' } },
      workflow: {
        version: 2,
        entry: 'talk',
        engine: { skein: { supervise: true } },
        states: { talk: { prompt_task: 'chat', terminal: true } },
      },
    };
    const models = corrected();
    const conversation = await openPack(pack, { models: models.options });
    const texts: string[] = [];
    conversation.on((event) => {
      if (event.type === 'text') texts.push(event.text);
    });
    const { text } = await conversation.send('Hello');
    expect([text, texts]).toEqual(['short', ['short']]);
  });

  it('[S13] a model that nobody knows is told before anything runs', async () => {
    const models = new FakeModels();
    const plan = definePlan({ name: 'p', nodes: [writes('w', { supervise: { by: 'model', model: 'nobody/knows' } })] });
    await expect(
      runWorkflow({ ...plan, problems: [], files: [], settings: {} } as never, { models: models.options }),
    ).rejects.toThrow(/nobody/);
    expect(models.asked).toEqual([]);
  });

  it('a recording answers the phases too', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'skein-supervised-recording-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const plan = definePlan({ name: 'p', nodes: [writes('w', { supervise: { by: 'model' } })] });
    const record = join(folder, 'calls.json');
    const models = corrected();
    const first = await runWith(models, plan, { models: { ...models.options, record } });
    const silent = new FakeModels();
    const again = await runWith(silent, plan, { models: { ...silent.options, replay: record } });
    expect([again.outcome, again.state, silent.asked]).toEqual([first.outcome, { w: 'short' }, []]);
  });

  it('[addition 1] phases that are recorded hold when the run is resumed with other flags about models', async () => {
    const store = memoryStore();
    const plan = definePlan({
      name: 'p',
      nodes: [writes('w', { supervise: { by: 'model' } }), { id: 'gate', kind: 'ask', question: 'Go?' }],
      edges: [['w', 'gate']],
    });
    const first = corrected();
    await runWith(first, plan, { store, runId: 'r' });
    const other = new FakeModels();
    const options = { models: { ...other.options, override: 'fake/other' }, answer: () => Promise.resolve('yes') };
    const { outcome, state } = await runWith(other, plan, { store, resume: 'r', ...options });
    expect([outcome, state['w'], other.asked]).toEqual(['succeeded', 'short', []]);
  });

  it('[addition 11] each phase is told once in the record, also over two sessions', async () => {
    const store = memoryStore();
    const plan = definePlan({ name: 'p', nodes: [writes('w', { supervise: { by: 'human' } })] });
    await runWith(corrected(), plan, { store, runId: 'r' });
    const models = corrected();
    await runWith(models, plan, { store, resume: 'r', answer: () => Promise.resolve('approve') });
    expect(models.asked).toEqual([]);
    const lines = readMoments(store, 'r').filter(({ kind }) => kind === 'supervision');
    expect(lines.map(({ text }) => text.split(':')[0])).toEqual([
      'promises',
      'says of its work',
      'differs',
      'is accepted',
    ]);
    expect(readRun(store, 'r')).toMatchObject({ status: 'succeeded', modelCalls: 3 });
  });

  it('[addition 12] a checkpoint that cannot be written is told, and the run goes on', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'skein-supervised-audit-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const text =
      'name: d\nagents: { a: { inline: { prompt: p } } }\nsteps: [{ id: w, agent: a, prompt: Write., supervise: true }]';
    const workflow = await loadDagText(text, { cwd: folder, file: 'd.yaml' });
    let place = '';
    const started = await runWorkflow(workflow, {
      models: new FakeModels().options,
      audit: { dir: join(folder, 'audit') },
      listeners: [
        (event) => {
          // A file stands where the folder should be.
          if (event.type === 'step.note' && event.note.kind === 'supervision.commit')
            writeFileSync(place, 'in the way');
        },
      ],
    });
    place = join(started.auditFolder ?? '', 'checkpoints');
    const { outcome, auditFailures } = await started.result;
    expect([outcome, auditFailures]).toEqual(['succeeded', [expect.stringMatching(/^checkpoints\/w\.json: /)]]);
  });

  it('what a person must see is kept whole, however long it is', async () => {
    const store = memoryStore();
    const long = `${'line\n'.repeat(400_000)}.`;
    const plan = definePlan({ name: 'p', nodes: [writes('w', { supervise: { by: 'human' } })] });
    const { questions } = await runWith(new FakeModels({ work: long }), plan, { store, runId: 'r' });
    expect((questions[0]?.evidence as { output?: string } | undefined)?.output).toBe(long);
    const { result } = run(plan, {
      models: new FakeModels().options,
      store,
      resume: 'r',
      answer: () => Promise.resolve('reject'),
    });
    const { error } = await result;
    expect(error?.code).toBe('SKEIN_REJECTED');
    expect(JSON.stringify(error).length).toBeLessThan(40_000);
  });
});
