import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ModelRegistryOptions } from '../../src/agent/models/registry-options.js';
import { createModelRegistry } from '../../src/agent/models/registry.js';
import { recordUntil } from './support/counted-agent.js';
import type { Recorded } from './support/step.js';
import { outputOf, runAgent, tool } from './support/run-agent.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-resumed-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const LOOK = tool('look', () => 'seen');
const CALL = '{ tools: [{ name: look, input: { path: a } }] }';

async function scriptFile(name: string, text: string): Promise<Partial<ModelRegistryOptions>> {
  await writeFile(join(folder, name), text);
  return { script: name, cwd: folder };
}

function registry(models: Partial<ModelRegistryOptions>) {
  return createModelRegistry({ env: {}, noProbe: true, cwd: folder, ...models });
}

/** What is recorded of a step until its process dies. */
function died(dieAt: string, models: Partial<ModelRegistryOptions>, path = 'review') {
  return recordUntil(dieAt, { said: [], tools: [LOOK], models, path, spec: { models: [] } });
}

function resumed(models: ReturnType<typeof registry>, replay: ReadonlyMap<string, Recorded>, path = 'review') {
  return runAgent({ registry: models, tools: [LOOK], replay, path, spec: { models: [] } });
}

describe('a strict script in a run that is resumed', () => {
  it.each(['model#1', 'tool#1.1', 'model#2', 'model#3', 'close'])(
    'gives each turn its own answer after a crash at %s, and is used up',
    async (dieAt) => {
      const models = await scriptFile('turns.yaml', `rules: [{ answers: [${CALL}, ${CALL}, third] }]`);
      const record = await died(dieAt, models);
      const again = registry(models);
      expect(outputOf((await resumed(again, record)).result)).toBe('third');
      await again.finish();
    },
  );

  it('with rules for some prompts, and rules that count for the whole run', async () => {
    const text = `
rules:
  - { prompt: the change, once: true, answers: [${CALL}, one more] }
  - { agent: reviewer, answers: [x] }
`;
    const models = await scriptFile('rules.yaml', text);
    const first = await died('model#2', models, 'first');
    const again = registry(models);
    expect(outputOf((await resumed(again, first, 'first')).result)).toBe('one more');
    expect(outputOf((await resumed(again, new Map(), 'second')).result)).toBe('x');
    await again.finish();
  });

  it('counts answers that were errors', async () => {
    const models = await scriptFile('errors.yaml', `rules: [{ answers: [{ error: { status: 500 } }, ${CALL}, last] }]`);
    const record = await died('model#2', models);
    expect([...record.keys()]).toEqual(['open', 'model#1', 'model#1.2', 'tool#1.1']);
    const again = registry(models);
    const { result, step } = await resumed(again, record);
    expect(outputOf(result)).toBe('last');
    expect(step.performed).toEqual(['model#2', 'close']);
    await again.finish();
  });

  it('still fails a call that it does not plan', async () => {
    const models = await scriptFile('short.yaml', `rules: [{ answers: [${CALL}] }]`);
    const record = await died('model#2', models);
    const { result } = await resumed(registry(models), record);
    expect(result).toMatchObject({ type: 'failed', error: { code: 'SKEIN_SCRIPT' } });
  });

  it('is not even read for agents that were finished, when an agent names it', async () => {
    await writeFile(join(folder, 'named.yaml'), 'rules: [{ answer: a }]');
    const spec = { models: ['script/named.yaml'] };
    const before = await runAgent({ registry: registry({}), spec });
    await rm(join(folder, 'named.yaml'));
    const again = registry({});
    const after = await runAgent({ registry: again, spec, replay: before.step.record });
    expect(outputOf(after.result)).toBe('a');
    await again.finish();
  });

  it('answers the person after a resume, although its model is not asked', async () => {
    const text =
      'rules: [{ answers: [{ question: Which colour? }, ok] }]\nanswers: [{ question: colour, answer: red }]';
    await writeFile(join(folder, 'asks.yaml'), text);
    const spec = { interactive: true };
    const paused = await runAgent({ registry: registry({ script: 'asks.yaml' }), spec });
    expect(paused.result).toMatchObject({ type: 'paused', question: { text: 'Which colour?' } });
    const again = registry({ script: 'asks.yaml' });
    const asked = await runAgent({ registry: again, spec, replay: paused.step.record });
    expect(asked.result.type).toBe('paused');
    expect(await again.scriptAnswer('Which colour?')).toBe('red');
  });
});

describe('recordings of resumed runs', () => {
  const turns = `rules: [{ answers: [${CALL}, ${CALL}, third] }]`;

  it('say how many calls they lack', async () => {
    const models = await scriptFile('part.yaml', turns);
    const record = await died('model#3', models);
    const recording = registry({ ...models, record: 'part.jsonl' });
    await resumed(recording, record);
    await recording.finish();
    const lines = (await readFile(join(folder, 'part.jsonl'), 'utf8')).trimEnd().split('\n');
    expect(JSON.parse(lines[0] ?? '')).toEqual({ skein: 'recording', format: 1, missing: 2 });
    expect(lines).toHaveLength(2);
    const { result } = await resumed(registry({ replay: 'part.jsonl' }), new Map());
    expect(result).toMatchObject({ type: 'failed', error: { code: 'SKEIN_REPLAY_MISS' } });
    expect(JSON.stringify(result)).toContain('It was recorded from a resumed run and lacks 2 of its calls.');
  });

  it('answer a resumed run with the calls that are left', async () => {
    const models = await scriptFile('whole.yaml', 'rules: [{ once: true, answers: [first, second] }]');
    const recording = registry({ ...models, record: 'whole.jsonl' });
    for (const answer of ['first', 'second'])
      expect(outputOf((await resumed(recording, new Map())).result)).toBe(answer);
    await recording.finish();
    const replay = { replay: 'whole.jsonl' };
    const one = await resumed(registry(replay), new Map());
    expect(outputOf(one.result)).toBe('first');
    const again = registry(replay);
    expect(outputOf((await resumed(again, one.step.record)).result)).toBe('first');
    expect(outputOf((await resumed(again, new Map())).result)).toBe('second');
  });
});
