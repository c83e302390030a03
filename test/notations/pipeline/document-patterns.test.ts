import { describe, expect, it } from 'vitest';
import { agents, block, brief, loadText, runPipeline, schema } from './run-pipeline.js';

/** The examples of sections 1 to 3 of the source document, word for word. */
const SEQUENTIAL = `workflow:
  - type: agent
    name: generator
  - type: agent
    name: translator
  - type: agent
    name: publisher
`;

const CONDITIONAL = `workflow:
  - id: gen
    type: agent
    name: generator
  - id: trans
    type: agent
    name: translator
  - id: qa_check
    type: condition
    name: qa_check
    condition: "{{ $steps.qa.output.is_approved }}"
    true:
      - type: agent
        name: publisher
    false:
      - id: back_to_trans
        type: agent
        name: translator
  - id: qa
    type: agent
    name: qa_agent
`;

const PARALLEL = `workflow:
  - type: parallel
    id: par_gen
    steps:
      - id: gen_1
        type: agent
        name: generator
      - id: gen_2
        type: agent
        name: generator
  - type: agent
    name: translator
`;

const WRITERS = agents('generator', 'translator', 'publisher', ['qa_agent', schema('is_approved')]);

describe('section 1: sequential execution', () => {
  it('runs the agents one after the other, each with all outputs before it and the prompt of the user', async () => {
    const ran = await runPipeline(WRITERS + SEQUENTIAL, (step) => `out of ${step}`, { prompt: 'Announce it' });
    expect(ran.outcome).toBe('succeeded');
    expect(ran.asked.map(({ agent }) => agent)).toEqual(['generator', 'translator', 'publisher']);
    expect(ran.prompt('step_1')).toBe('Announce it');
    const first = { 'step_1 (agent: generator)': 'out of step_1' };
    expect(ran.prompt('step_2')).toBe(`${block(first)}Announce it`);
    const both = { ...first, 'step_2 (agent: translator)': 'out of step_2' };
    expect(ran.prompt('step_3')).toBe(`${block(both)}Announce it`);
  });

  it('has exactly the context block of the document', async () => {
    const text = `${WRITERS}workflow:\n  - {id: step_id, type: agent, name: generator}\n  - {type: agent, name: translator}\n`;
    const ran = await runPipeline(text, () => "<generator's output>", { prompt: '<original user prompt>' });
    expect(ran.prompt('step_2')).toBe(`--- Prior Step Outputs ---

[step_id (agent: generator)]:
<generator's output>

--- End Prior Step Outputs ---

<original user prompt>`);
  });

  it('makes the outputs accessible by template expressions', async () => {
    const text = `${WRITERS}workflow:
  - {id: gen, type: agent, name: generator}
  - {id: trans, type: agent, name: translator, prompt: "Translate {{ $steps.gen.output }}!"}
`;
    const ran = await runPipeline(text, (step) => `out of ${step}`);
    expect(ran.prompt('trans')).toMatch(/\n\nTranslate out of gen!$/);
  });

  it('the output is the last message of the agent, whatever it said before', async () => {
    const ran = await runPipeline(WRITERS + SEQUENTIAL, (step) => (step === 'step_1' ? 'a\nb\n' : 'c'));
    expect(ran.output('step_1')).toBe('a\nb\n');
  });
});

describe('section 2: conditional branching and loops', () => {
  it('its example reads a step that has not run: that is said at the condition, and the loop that is meant', async () => {
    const { plan, problems } = await loadText(WRITERS + CONDITIONAL);
    expect(plan).toBeUndefined();
    const line = (WRITERS + CONDITIONAL).split('\n').findIndex((one) => one.includes('$steps.qa')) + 1;
    expect(brief(problems).filter((one) => one.includes('error'))).toEqual([
      expect.stringMatching(new RegExp(`^${line}:\\d+ error `)),
    ]);
    expect(problems.map(({ hint }) => hint).join('\n')).toContain('goto: trans');
  });

  /** The example as its prose describes it: the review before the condition, and a branch that goes back. */
  const meant = `${WRITERS}workflow:
  - {id: gen, type: agent, name: generator}
  - {id: trans, type: agent, name: translator}
  - {id: qa, type: agent, name: qa_agent}
  - id: qa_check
    type: condition
    name: qa_check
    condition: "{{ $steps.qa.output.is_approved }}"
    true:
      - type: agent
        name: publisher
    false:
      - goto: trans
`;

  it('is_approved: the workflow goes on to the publisher', async () => {
    const ran = await runPipeline(meant, (step) => (step === 'qa' ? '{"is_approved": true}' : step));
    expect(ran.outcome).toBe('succeeded');
    expect(ran.asked.map(({ agent }) => agent)).toEqual(['generator', 'translator', 'qa_agent', 'publisher']);
  });

  it('not approved: it goes back to the step that runs the translator, which sees the review', async () => {
    const ran = await runPipeline(meant, (step) =>
      step.startsWith('qa') ? `{"is_approved": ${step === 'qa#3'}}` : `out of ${step}`,
    );
    expect(ran.outcome).toBe('succeeded');
    const round = ['translator', 'qa_agent'];
    expect(ran.asked.map(({ agent }) => agent)).toEqual(['generator', ...round, ...round, ...round, 'publisher']);
    expect(ran.prompt('trans#2')).toBe(
      `${block({
        'gen (agent: generator)': 'out of gen',
        'trans (agent: translator)': 'out of trans',
        'qa (agent: qa_agent)': '{"is_approved":false}',
      })}Please proceed with the workflow step.`,
    );
    expect(ran.prompt('qa_check_true_1')).toContain('[trans (agent: translator)]:\nout of trans#3\n');
  });

  it('steps that do not exist and values that a schema does not declare are found when it is loaded', async () => {
    const unknown = await loadText(meant.replace('$steps.qa.', '$steps.qaa.'));
    expect(unknown.problems).toMatchObject([{ severity: 'error', hint: expect.stringContaining('"qa"') as string }]);
    const undeclared = await loadText(meant.replace('output.is_approved', 'output.is_aproved'));
    expect(undeclared.problems).toMatchObject([
      { severity: 'error', hint: expect.stringContaining('is_approved') as string },
    ]);
    const without = await loadText(meant.replace('$steps.qa.', '$steps.trans.'));
    expect(without.problems).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('no schema') as string },
    ]);
  });
});

describe('section 3: parallel execution', () => {
  it('runs both at the same time, waits for both, and gives both outputs to the next step', async () => {
    let arrived = 0;
    let open = (): void => undefined;
    const both = new Promise<void>((done) => {
      open = done;
    });
    const ran = await runPipeline(
      WRITERS + PARALLEL,
      async (step) => {
        if (step.startsWith('par_gen/')) {
          arrived += 1;
          if (arrived === 2) open();
          await both;
        }
        return `out of ${step}`;
      },
      { prompt: 'Go' },
    );
    expect(ran.outcome).toBe('succeeded');
    expect(ran.asked.map(({ step }) => step)).toEqual(['par_gen/gen_1', 'par_gen/gen_2', 'step_2']);
    expect(ran.prompt('step_2')).toBe(
      `${block({
        'par_gen/gen_1 (agent: generator)': 'out of par_gen/gen_1',
        'par_gen/gen_2 (agent: generator)': 'out of par_gen/gen_2',
      })}Go`,
    );
    expect(ran.prompt('par_gen/gen_2')).toBe('Go');
  });

  it('any failure fails the whole workflow at once: the others are aborted, and nothing runs behind the block', async () => {
    let aborted = false;
    const ran = await runPipeline(WRITERS + PARALLEL, async (step, { signal }) => {
      if (step === 'par_gen/gen_2') throw new Error('broken');
      await new Promise<void>((done) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          done();
        });
      });
      return 'too late';
    });
    expect(ran.outcome).toBe('failed');
    expect(ran.error?.message).toContain('broken');
    expect(aborted).toBe(true);
    expect(ran.asked.map(({ step }) => step)).not.toContain('step_2');
    expect(ran.output('par_gen/gen_1')).toBeUndefined();
  });
});
