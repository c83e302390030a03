import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { memoryStore, run, runWorkflow } from 'skein';
import { agent, agentNode, graph } from 'skein/graph';
import { openPack } from 'skein/machine';
import type { ScriptInput } from 'skein/testing';
import { goal } from 'skein/tree';
import { loadDagText, loadPipelineText } from 'skein/yaml';
import { packOf } from '../machine/support/talking.js';

const folder = mkdtempSync(join(tmpdir(), 'skein-scripts-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const modelsOf = (script: ScriptInput) => ({ env: {}, noProbe: true, script });

const TWO = await loadDagText(`
name: two
agents: { a: { inline: { prompt: You help. } } }
steps:
  - { id: first, agent: a, prompt: one }
  - { id: second, agent: a, prompt: "two {{steps.first.output}}", depends_on: [first] }
`);

const writer = agent({ name: 'writer', instructions: 'You write.' });
const said = (text: string): ScriptInput => ({ rules: [{ answer: text }] });

const DOORS: Readonly<Record<string, (script: ScriptInput) => Promise<unknown>>> = {
  'a DAG by run': async (script) => (await run(await oneStep('dag'), { models: modelsOf(script) }).result).state,
  'a DAG by runWorkflow': async (script) =>
    (await (await runWorkflow(await oneStep('dag'), { models: modelsOf(script) })).result).state,
  'a pipeline': async (script) => (await run(await oneStep('pipeline'), { models: modelsOf(script) }).result).state,
  'a graph': async (script) => {
    const flow = graph<{ task: string }>().node('draft', agentNode(writer)).setEntry('draft');
    return (await flow.run({ task: 'Looms.' }, { models: modelsOf(script) })).state;
  },
  'an agent': async (script) => (await writer.run('Looms.', { models: modelsOf(script) })).answer,
  'a tree': async (script) =>
    (await goal('draft', 'Write.').execute({}, undefined, { models: modelsOf(script) })).outputs,
  'a pack': async (script) => {
    const conversation = await openPack(packOf({ hall: {} }), { models: modelsOf(script) });
    return (await conversation.send('Hello.')).text;
  },
  'a run inside a run': async (script) => {
    const inner = graph<{ task: string }>().node('draft', agentNode(writer)).setEntry('draft');
    const outer = graph<{ task: string }>()
      .node('all', async ({ task }, step) => (await inner.runOrThrow({ task }, step.runOptions)).draft)
      .setEntry('all');
    return (await outer.run({ task: 'Looms.' }, { models: modelsOf(script) })).state;
  },
};

async function oneStep(notation: 'dag' | 'pipeline') {
  return notation === 'dag'
    ? await loadDagText(
        'name: one\nagents: { a: { inline: { prompt: You help. } } }\nsteps: [{ id: first, agent: a, prompt: one }]',
      )
    : await loadPipelineText(
        'agents: { a: { instruction: You help. } }\nworkflow: [{ type: agent, name: a, prompt: one }]',
      );
}

for (const [door, answerOf] of Object.entries(DOORS)) {
  test(`a script in code answers the agents of ${door}`, async () => {
    expect(JSON.stringify(await answerOf(said('woven')))).toContain('woven');
  });
}

test('it answers like the file with the same content, with the same events, usage and verdict', async () => {
  const script: ScriptInput = {
    rules: [
      {
        step: 'first',
        answers: [
          { text: 'half', cut: true },
          { json: { a: [1] }, usage: { input: 3, output: 4 } },
        ],
      },
      { prompt: 'two {', answer: { error: { status: 400, message: 'no' } } },
    ],
  };
  writeFileSync(join(folder, 'same.yaml'), JSON.stringify(script));
  const told = async (given: ScriptInput | string) => {
    const events: unknown[] = [];
    const listeners = [({ type, path }: { type: string; path: string }) => void events.push([type, path])];
    const models = { env: {}, noProbe: true, script: given, cwd: folder };
    const { outcome, state, census, error, spent } = await run(TWO, { models, listeners }).result;
    return { outcome, state, census, spent, code: error?.code, events };
  };
  const inCode = await told(script);
  expect(inCode).toEqual(await told('same.yaml'));
  expect(inCode).toMatchObject({ outcome: 'failed', state: { 'steps.first.output': '{"a":[1]}' } });
});

test('calls that are not planned, and rules that are not used, name the rule', async () => {
  const outcomeOf = async (script: ScriptInput) => (await run(TWO, { models: modelsOf(script) }).result).error;
  expect(await outcomeOf({ rules: [{ step: 'first', answer: 'x' }] })).toMatchObject({
    code: 'SKEIN_SCRIPT',
    message: expect.stringMatching(
      /^the script of the run does not plan this call: step second[^]*rule 1 \(step first\)/,
    ) as string,
  });
  const unused = [{ answer: 'x' }, { step: 'third', answer: 'y' }];
  expect(await outcomeOf({ rules: unused })).toMatchObject({
    message: 'the script of the run was not used up:\n  rule 2 (step third) was never used',
  });
  expect(await outcomeOf({ strict: false, rules: unused })).toBeUndefined();
});

test('all of its problems are told at once, with their paths', async () => {
  const loop: { rules: unknown[] } = { rules: [] };
  loop.rules.push(loop);
  const problemsOf = async (script: unknown) => {
    const { outcome, error, state } = await run(TWO, { models: modelsOf(script as ScriptInput) }).result;
    expect([outcome, error?.code, state]).toEqual(['failed', 'SKEIN_DEFINITION', {}]);
    const { problems = [] } = (error?.details ?? {}) as {
      readonly problems?: readonly { code: string; path?: string }[];
    };
    return problems.map(({ code, path = '' }) => `${path} ${code}`);
  };
  const wrong = {
    rules: [
      { step: 'a', anser: 'x' },
      { step: 7, answers: [() => 'computed', { error: { status: 99 } }] },
      { answer: { delay: 'soon' } },
    ],
    answers: [{ question: 'Why?' }],
  };
  expect(await problemsOf(wrong)).toEqual([
    'rules[1].answers[0] not-data',
    'rules[0].anser unknown-key',
    'rules[0] script-answers',
    'rules[1].answers[1].error.status out-of-range',
    'rules[1].answers[1].error script-error-code',
    'rules[2].answer script-answers',
    'rules[2].answer.delay bad-duration',
    'answers[0] script-answers',
  ]);
  expect(await problemsOf(5)).toEqual([' wrong-type']);
  expect(await problemsOf(null)).toEqual([' wrong-type']);
  expect(await problemsOf(loop)).toContain(' not-data');
  expect(await problemsOf({ rules: [{ answer: { json: Number.NaN } }] })).toEqual(['rules[0].answer.json not-data']);
});

test('a key named like a property of objects is an unknown key', async () => {
  const script = JSON.parse('{"rules":[{"answer":"x","__proto__":{"optional":true}}]}') as ScriptInput;
  const { error } = await run(TWO, { models: modelsOf(script) }).result;
  expect(error?.message).toContain('rules[0].__proto__: error unknown-key');
});

test('a script is read as it was when the run was started', async () => {
  const rules = [
    { step: 'first', answer: 'before' },
    { step: 'second', answer: 'before' },
  ];
  const { result } = run(TWO, { models: modelsOf({ rules }) });
  for (const rule of rules) rule.answer = 'after';
  expect(Object.values((await result).state)).toEqual(['before', 'before']);
});

test('a resumed run takes the answers that were not given yet, and another script answers only what is left', async () => {
  const store = memoryStore();
  const failing = { rules: [{ once: true, answers: ['one', { error: { status: 400 } }, 'two'] }] };
  const first = await run(TWO, { store, models: modelsOf(failing) }).result;
  expect(first.outcome).toBe('failed');
  const { runId } = first;
  const again = await run(TWO, {
    store,
    resume: runId,
    models: modelsOf({ rules: [{ prompt: 'two one', answer: 'new' }] }),
  }).result;
  expect(again.reused).toBe(1);
  expect(again).toMatchObject({ outcome: 'succeeded', state: { 'steps.second.output': 'new' } });
});

test('a script in code answers for the person, and for steps and tools that are not called', async () => {
  const workflow = await loadPipelineText(`
agents: { a: { instruction: You help. } }
workflow:
  - { type: ask, id: sure, question: Shall I go on? }
  - { type: run, id: tests, run: [npm, test] }
  - { type: agent, name: a, prompt: "{{ $steps.sure.output }} {{ $steps.tests.output }}" }
`);
  expect(workflow.problems).toEqual([]);
  const script: ScriptInput = {
    rules: [
      { step: 'tests', answer: '7 passed' },
      { agent: 'a', prompt: '7 passed', answer: 'fine' },
    ],
    answers: [{ question: 'go on', answer: 'gladly' }],
  };
  const { outcome, state } = await run(workflow, { models: modelsOf(script) }).result;
  expect([outcome, Object.values(state)]).toEqual([
    'succeeded',
    expect.arrayContaining(['gladly', '7 passed', 'fine']),
  ]);
});

test('its problems speak of arrays and objects, not of YAML', async () => {
  const wrong = {
    strict: 'no',
    rules: [
      7,
      { step: ['a'], answer: { tools: { name: 'look' } } },
      { answers: 'x' },
      { answer: { question: { text: 'Q?', choices: 'yes' } } },
      { answer: { text: 'x', times: '2' } },
    ],
    answers: { question: 'Q?', answer: 'yes' },
  };
  const { error } = await run(TWO, { models: modelsOf(wrong as unknown as ScriptInput) }).result;
  const { problems = [] } = (error?.details ?? {}) as {
    readonly problems?: readonly { message: string; hint?: string }[];
  };
  expect(problems.map(({ message, hint = '' }) => `${message}; ${hint}`)).toEqual(
    [
      'strict of a script must be true or false, not text; write false',
      'rule 1 must be an object, not a number; its keys are: step, agent, prompt, phase, answer, real, answers, repeat, once, optional',
      'tools of answer 1 of rule 2 must be an array, not an object; give an array: [...]',
      'step of rule 2 must be text, not an array; give a string',
      'answers of rule 3 must be an array, not text; give an array: [...]',
      'choices of question of answer 1 of rule 4 must be an array of texts, not text; give an array: ["yes"]',
      'times of answer 1 of rule 5 must be a whole number, not "2"; give a number, not a string',
      'answers of a script must be an array, not an object; give an array: [...]',
    ].map((line) => expect.stringContaining(line) as string),
  );
});
