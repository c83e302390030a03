import { describe, expect, it } from 'vitest';
import { answerRun, memoryStore, readRun } from 'skein';
import { dag, pipeline, ran, step, wrong } from './loops.js';

const agent = (id: string, prompt: string): string => `{ id: ${id}, type: agent, name: w, prompt: "${prompt}" }`;
const CHOICES = '[approve, { value: revise, text: feedback }]';
const gate = pipeline(
  agent('draft', 'Draft {{ $steps.ok.output.feedback }}'),
  `{ id: ok, type: ask, question: "ok?", choices: ${CHOICES} }`,
  `{ type: condition, condition: '{{ $steps.ok.output.choice == "revise" }}', true: { goto: draft } }`,
  agent('send', 'Send.'),
);
const listed = (reference: string, name = 'l'): string =>
  pipeline(
    `{ id: list, type: agent, name: ${name} }`,
    `{ id: pick, type: ask, question: "which?", choices: "${reference}" }`,
  );

describe('[addition 10] a choice that asks for a text', () => {
  it('gives the choice with its text, and the choice alone where it asks for none', async () => {
    const answers: unknown[] = [{ choice: 'revise', feedback: 'shorter' }, { choice: 'approve' }];
    const { outcome, asked, state } = await ran(gate, {}, { answer: () => Promise.resolve(answers.shift()) });
    expect([outcome, asked]).toEqual(['succeeded', ['draft: Draft ', 'draft#2: Draft shorter', 'send: Send.']]);
    expect(state['steps.ok.output']).toEqual({ choice: 'approve' });
  });

  it('is typed with the text behind a colon, by name or number, and asks for what is missing', async () => {
    const store = memoryStore();
    const { runId, questions } = await ran(gate, {}, { store });
    expect(questions.map(({ choices }) => choices)).toEqual([['approve', 'revise']]);
    const refused = (text: string): string => {
      try {
        answerRun(store, runId, { key: 'ok', text });
        return 'taken';
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(refused('revise')).toContain('revise asks for a text: write "revise: FEEDBACK"');
    expect(refused('approve: why not')).not.toBe('taken');
    expect(refused('perhaps')).not.toBe('taken');
    expect(answerRun(store, runId, { key: 'ok', text: '2: make it: shorter' }).value).toEqual({
      choice: 'revise',
      feedback: 'make it: shorter',
    });
    const again = await ran(gate, {}, { store, resume: runId });
    expect([again.outcome, again.asked]).toEqual(['paused', ['draft#2: Draft make it: shorter']]);
    expect(answerRun(store, runId, { text: 'approve' }).value).toEqual({ choice: 'approve' });
    expect((await ran(gate, {}, { store, resume: runId })).outcome).toBe('succeeded');
    expect(readRun(store, runId).questions).toEqual([]);
  });

  it('holds in a DAG workflow, also for the answer that counts when no one gave one', async () => {
    const file = dag(
      step('draft', 'd?'),
      `{ id: ok, type: ask, depends_on: [draft], question: "ok?", choices: ${CHOICES}, expires: 1ms, on_expire: { answer: approve } }`,
      step('send', '{{steps.ok.output.choice}} {{steps.ok.output.feedback?}}', 'depends_on: [ok]'),
    );
    const { asked } = await ran(file, {}, { answer: () => new Promise(() => undefined) });
    expect(asked.at(-1)).toBe('send: approve ');
  });

  it('is reported where it is incomplete, or its text is called as the choice is', async () => {
    const asking = (choices: string): string => pipeline(`{ type: ask, question: "ok?", choices: ${choices} }`);
    expect((await wrong(asking('[{ value: revise }]'))).join()).toContain('missing-answer');
    expect((await wrong(asking('[{ value: revise, text: choice }]'))).join()).toContain('bad-name');
    expect((await wrong(asking('[[a]]'))).join()).toContain('wrong-type');
    expect((await wrong(asking('[]'))).join()).toContain('empty-block');
  });
});

describe('[addition 10] choices from a list', () => {
  it('are those of the value that is named', async () => {
    const seen: unknown[] = [];
    const { state } = await ran(
      listed('{{ $steps.list.output.all }}'),
      { list: ['{"all": ["red", "blue", 3]}'] },
      {
        answer: ({ choices }) => {
          seen.push(choices);
          return Promise.resolve('blue');
        },
      },
    );
    expect([seen, state['steps.pick.output']]).toEqual([[['red', 'blue', '3']], 'blue']);
    const file = `${dag(`{ id: pick, type: ask, question: "which?", choices: inputs.names }`)}inputs: { names: { type: list } }\n`;
    const one = await ran(file, {}, { inputs: { names: ['a', 'b'] }, answer: () => Promise.resolve('a') });
    expect(one.state['steps.pick.output']).toBe('a');
  });
});
