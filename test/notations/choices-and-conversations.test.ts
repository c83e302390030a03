import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { memoryStore, runWorkflow } from 'skein';
import { loadWorkflowText } from 'skein/yaml';
import type { ModelRequest } from '../../src/agent/model.js';
import { ownModels } from '../graph/support-agents.js';
import type { Said } from '../graph/support-agents.js';

type Answers = (request: ModelRequest) => Said;

async function loaded(text: string) {
  const cwd = await mkdtemp(join(tmpdir(), 'skein-choices-'));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  return await loadWorkflowText(text, { file: 'w.yaml', cwd });
}

/** Runs a workflow file whose model is a function; `ran` are the steps that were asked, in order. */
async function run(text: string, answers: Answers, more: object = {}) {
  const workflow = await loaded(text);
  expect(workflow.problems).toEqual([]);
  const { models, requests } = ownModels({ m: answers });
  const { result } = await runWorkflow(workflow, { audit: false, models: { ...models, override: 'own/m' }, ...more });
  const ended = await result;
  const ran = requests.map(({ caller }) => caller.path);
  return { ...ended, ran, requests };
}

const problemsOf = async (text: string): Promise<string[]> =>
  (await loaded(text)).problems.map(({ code, message }) => `${code}: ${message}`);

const choose = (answer: string): Said => ({ text: 'So be it.', calls: [['choose', { answer }]] });
const first =
  (step: string, said: Said): Answers =>
  ({ caller }) =>
    caller.path === step ? said : `${caller.path} done`;

const DAG = `name: desk
agents: { w: { inline: { prompt: You answer., tools: [], model: own/m } } }
steps:
  - id: triage
    agent: w
    prompt: Sort it.
    choose: { refund: { step: refunds, about: They want money back. }, other: desk }
  - { id: refunds, agent: w, prompt: "{{steps.triage.output}}", depends_on: [triage] }
  - { id: desk, agent: w, prompt: Ask., depends_on: [triage] }
  - { id: letter, agent: w, prompt: Write., depends_on: [refunds, desk] }
`;

describe('choose in a DAG workflow', () => {
  it.each([
    ['refund', ['triage', 'refunds', 'letter'], 'desk'],
    ['other', ['triage', 'desk', 'letter'], 'refunds'],
  ])('runs the step of the answer %s alone, and skips the others', async (answer, ran, skipped) => {
    const ended = await run(DAG, first('triage', choose(answer)));
    expect([ended.outcome, ended.ran]).toEqual(['succeeded', ran]);
    expect(ended.steps.map(({ path, outcome }) => [path, outcome])).toEqual([[skipped, 'skipped']]);
    expect(ended.requests[0]?.tools[0]?.description).toContain('refund: They want money back.');
  });

  it('skips all of them without the call', async () => {
    const ended = await run(DAG, first('triage', 'refund'));
    expect([ended.outcome, ended.ran, ended.census.skipped]).toEqual(['succeeded', ['triage', 'letter'], 2]);
  });

  it.each([
    ['other: desc }', 'unknown-step: step "triage" may choose the step "desc", which does not exist'],
    [
      'other: letter }',
      'bad-choice: the step "letter" must depend on "triage", which chooses it, and on no other step',
    ],
    ['other: { about: x } }', 'missing-step: answer "other" of step "triage" leads to no step'],
    ['"a b": desk }', 'bad-name: "a b" is not a valid answer'],
    ['other: "" }', 'wrong-type: answer "other" of step "triage" must name a step, not text'],
  ])('%s is a problem', async (written, problem) => {
    expect(await problemsOf(DAG.replace('other: desk }', written))).toContain(problem);
  });
});

const PIPELINE = `agents:
  w: { instruction: You answer. }
workflow:
  - id: triage
    type: agent
    name: w
    choose:
      refund: [{ type: agent, name: w, id: refunds }, { type: agent, name: w, id: letter, prompt: Write. }]
      other: { about: Anything else., steps: [{ type: agent, name: w, id: desk, prompt: Ask. }] }
      stop: { goto: end }
  - { id: next, type: agent, name: w, prompt: Next. }
  - { id: end, type: agent, name: w, prompt: End. }
`;

describe('choose in a pipeline', () => {
  it.each([
    [choose('refund'), ['triage', 'refunds', 'letter', 'next', 'end']],
    [choose('other'), ['triage', 'desk', 'next', 'end']],
    [choose('stop'), ['triage', 'end']],
    ['I do not know.', ['triage', 'next', 'end']],
  ])('%j runs %j', async (said, ran) => {
    const ended = await run(PIPELINE, first('triage', said));
    expect([ended.outcome, ended.ran]).toEqual(['succeeded', ran]);
  });

  it('may lead back, as often as the file says', async () => {
    const text = PIPELINE.replace('stop: { goto: end }', 'again: [{ goto: triage }]');
    let asked = 0;
    const ended = await run(text, ({ caller }) => {
      if (!caller.path.startsWith('triage')) return 'done';
      asked += 1;
      return choose(asked < 3 ? 'again' : 'other');
    });
    expect([ended.outcome, ended.ran]).toEqual([
      'succeeded',
      ['triage', 'triage#2', 'triage#3', 'desk', 'next', 'end'],
    ]);
  });

  it.each([
    ['refund: []', 'empty-block'],
    ['refund: { about: x }', 'empty-block'],
    ['refund: { goto: nowhere }', 'unknown-step'],
    ['"a b": { goto: end }', 'bad-name'],
  ])('%s is a problem', async (written, code) => {
    const text = PIPELINE.replace(/refund: .*/, written);
    expect((await problemsOf(text)).map((one) => one.split(':')[0])).toContain(code);
  });
});

const texts = ({ messages }: ModelRequest): string[] =>
  messages.flatMap((message) => (message.role === 'user' || message.role === 'assistant' ? [message.text] : []));

describe('a conversation of steps', () => {
  const steps = (more: string) => `name: talk
agents: { w: { inline: { prompt: You answer., tools: [], model: own/m } } }
steps:
  - { id: one, agent: w, prompt: First., conversation: desk }
  - { id: two, agent: w, prompt: Second., depends_on: [one], conversation: desk }
  - { id: three, agent: w, prompt: Third., depends_on: [two], conversation: desk${more} }
`;

  it.each([
    ['', ['First.', 'one done', 'Second.', 'two done', 'Third.']],
    [', recent: 2', ['Second.', 'two done', 'Third.']],
    [', afresh: true', ['Third.']],
  ])('in a DAG workflow, with "%s", sends what was said before', async (more, sent) => {
    const ended = await run(steps(more), ({ caller }) => `${caller.path} done`);
    expect([ended.outcome, texts(ended.requests[2] as ModelRequest)]).toEqual(['succeeded', sent]);
  });

  it('goes on in the next turn of a thread, and with nobody outside of it', async () => {
    const store = memoryStore();
    const turn = () => run(steps(''), ({ caller }) => `${caller.path} done`, { store, thread: 'ada' });
    await turn();
    const { requests } = await turn();
    expect(texts(requests[0] as ModelRequest)).toEqual([
      'First.',
      'one done',
      'Second.',
      'two done',
      'Third.',
      'three done',
      'First.',
    ]);
  });

  it('in a pipeline reaches into blocks and out of them; items of a map begin with it, and keep what they say', async () => {
    const text = `agents:
  w: { instruction: You answer. }
workflow:
  - { id: one, type: agent, name: w, prompt: First., conversation: desk }
  - { id: line, type: sequence, steps: [{ id: two, type: agent, name: w, prompt: Second., conversation: desk }] }
  - { id: list, type: agent, name: w, prompt: List. }
  - { id: each, type: map, over: "{{ $steps.list.output }}", steps: [{ id: item, type: agent, name: w, prompt: Item., conversation: desk }] }
  - { id: last, type: agent, name: w, prompt: Last., conversation: desk, recent: 2 }
`;
    const ended = await run(text, ({ caller }) => (caller.path === 'list' ? '["a"]' : `${caller.path} done`));
    expect(ended.outcome).toBe('succeeded');
    const sent = Object.fromEntries(ended.requests.map((request) => [request.caller.path, texts(request)]));
    const said = (path: string): string[] => (sent[path] ?? []).map((one) => one.split('\n').at(-1) ?? '');
    expect(said('line/two').slice(0, 2)).toEqual(['First.', 'one done']);
    expect(said('each[0]/item').filter((one) => one.endsWith('done'))).toEqual(['one done', 'line/two done']);
    expect(said('last').filter((one) => one.endsWith('done'))).toEqual(['line/two done']);
  });

  it('without a name is ignored, as every empty key', async () => {
    expect(await problemsOf(steps('').replaceAll('desk', '""'))).toEqual([]);
  });

  it('is warned of when recent or afresh stand alone', async () => {
    const text = steps(', recent: 1').replace('Third., depends_on: [two], conversation: desk', 'x, depends_on: [two]');
    expect(await problemsOf(text)).toEqual(['no-effect: recent of step "three" has no effect without a conversation']);
  });
});
