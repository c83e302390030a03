import { describe, expect, it } from 'vitest';
import { agents, runPipeline, schema } from './run-pipeline.js';
import type { Answers, Ran } from './run-pipeline.js';

/** One workflow in which every row of the summary table of the source document has a part. */
const ALL = `${agents('generator', 'researcher', 'summarizer', 'publisher', ['qa_agent', schema('is_approved')])}workflow:
  max_loop_iterations: 2
  steps:
    - id: outer
      type: parallel
      steps:
        - {id: gen, type: agent, name: generator, retry: {max_attempts: 1}}
        - id: inner
          type: parallel
          steps:
            - {id: researcher, type: agent, name: researcher}
            - {id: summarizer, type: agent, name: summarizer}
    - id: pub
      type: agent
      name: publisher
      prompt: "{{ $steps.outer.outputs.gen.output }} | {{ $steps.outer.outputs[1].outputs[0].output }}"
    - {id: qa, type: agent, name: qa_agent}
    - {type: condition, condition: "{{ $steps.qa.output.is_approved }}", false: {goto: pub}}
`;

const good: Answers = (step) => (step.startsWith('qa') ? '{"is_approved": true}' : `<${step}>`);
const run = (answers: Answers): Promise<Ran> => runPipeline(ALL, answers, { prompt: 'Go' });
const times = (ran: Ran, agent: string): number => ran.asked.filter((one) => one.agent === agent).length;

/** Fails a step the first times that it is asked. */
function failing(step: string, count: number): Answers {
  let left = count;
  return (path, request) => {
    if (path.replaceAll(/~\d+/g, '') === step && left-- > 0) throw new Error('broken');
    return good(path, request);
  };
}

describe('the summary table, row by row', () => {
  it('Loop depth: max_loop_iterations, counted for each cycle', async () => {
    const ran = await run((step, request) => (step.startsWith('qa') ? '{"is_approved": false}' : good(step, request)));
    expect(ran.error?.message).toBe('workflow: max loop iterations exceeded (step: pub, limit: 2)');
    expect(times(ran, 'publisher')).toBe(3);
  });

  it('Nested parallel: yes', async () => {
    const ran = await run(good);
    expect(ran.outcome).toBe('succeeded');
    expect(ran.asked.slice(0, 3).map(({ step }) => step)).toEqual([
      'outer/gen',
      'outer/inner/researcher',
      'outer/inner/summarizer',
    ]);
  });

  it('Parallel output shape: one blob to the next step, in declared order', async () => {
    const labels = [...(await run(good)).prompt('pub').matchAll(/^\[(\S+) \(/gm)].map(([, label]) => label);
    expect(labels).toEqual(['outer/gen', 'outer/inner/researcher', 'outer/inner/summarizer']);
  });

  it('Retry: per step, and the workflow fails after', async () => {
    const ran = await run(failing('outer/gen', 1));
    expect([ran.outcome, times(ran, 'generator')]).toEqual(['succeeded', 2]);
    expect((await run(failing('outer/gen', 2))).outcome).toBe('failed');
  });

  it('Access to parallel outputs: by id and by index', async () => {
    expect((await run(good)).prompt('pub')).toMatch(/\n\n<outer\/gen> \| <outer\/inner\/researcher>$/);
  });

  it('Parallel failure: any fails the whole workflow', async () => {
    const ran = await run(failing('outer/inner/summarizer', 1));
    expect([ran.outcome, times(ran, 'publisher')]).toEqual(['failed', 0]);
  });
});
