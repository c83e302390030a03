import { describe, expect, it } from 'vitest';
import { agents, block, loadText, runPipeline, schema } from './run-pipeline.js';

const NAMES = agents('generator', 'translator', 'publisher', 'researcher', 'summarizer');
const echo = (step: string): string => `out of ${step}`;

describe('how deep can loops go', () => {
  const LOOP = `${agents('translator', ['qa_agent', schema('is_approved')])}workflow:
  HEAD
  steps:
    - {id: trans, type: agent, name: translator}
    - {id: qa, type: agent, name: qa_agent}
    - id: qa_check
      type: condition
      condition: "{{ $steps.qa.output.is_approved }}"
      false:
        - goto: trans
`;
  const never = (step: string): string => (step.startsWith('qa') ? '{"is_approved": false}' : 'x');

  it.each([
    ['max_loop_iterations: 3', 3],
    ['overrides: {max_loop_iterations: 2}', 2],
    ['description: the limit is 100', 100],
  ])('%s: %i jumps, and then the error of the document', async (head, limit) => {
    const text = LOOP.replace('HEAD', limit === 100 ? 'max_loop_iterations: 100' : head);
    const ran = await runPipeline(text, never);
    expect(ran.outcome).toBe('failed');
    expect(ran.error?.message).toBe(`workflow: max loop iterations exceeded (step: trans, limit: ${limit})`);
    expect(ran.asked.filter(({ agent }) => agent === 'translator')).toHaveLength(limit + 1);
  });

  it('the default is 100', async () => {
    const ran = await runPipeline(LOOP.replace('  HEAD\n', ''), never);
    expect(ran.error?.message).toBe('workflow: max loop iterations exceeded (step: trans, limit: 100)');
  });

  it('as many jumps as the limit allows succeed', async () => {
    const text = LOOP.replace('HEAD', 'max_loop_iterations: 3');
    const ran = await runPipeline(text, (step) => (step === 'qa#4' ? '{"is_approved": true}' : never(step)));
    expect(ran.outcome).toBe('succeeded');
  });

  it('the count is per back-edge: two jumps to the same step have one limit each', async () => {
    const text = `${agents('a', ['b', schema('go')], ['c', schema('go')])}workflow:
  max_loop_iterations: 2
  steps:
    - {id: start, type: agent, name: a}
    - {id: one, type: agent, name: b}
    - {type: condition, condition: "{{ $steps.one.output.go }}", false: [{goto: start}]}
    - {id: two, type: agent, name: c}
    - {type: condition, condition: "{{ $steps.two.output.go }}", false: [{goto: start}]}
`;
    // `one` says no in rounds 1 and 3, `two` in rounds 2 and 4: four jumps, two of each.
    const no = ['one', 'one#3', 'two', 'two#2'];
    const ran = await runPipeline(text, (step) => (no.includes(step) ? '{"go": false}' : '{"go": true}'));
    expect(ran.outcome).toBe('succeeded');
    expect(ran.asked.map(({ step }) => step).join(' ')).toBe(
      'start one start#2 one#2 two start#3 one#3 start#4 one#4 two#2 start#5 one#5 two#3',
    );
  });
});

describe('can we nest parallel blocks', () => {
  /** Word for word. */
  const NESTED = `${NAMES}workflow:
  - type: parallel
    id: outer
    steps:
      - type: agent
        name: generator
      - type: parallel
        id: inner
        steps:
          - type: agent
            name: researcher
          - type: agent
            name: summarizer
  - type: agent
    name: publisher
`;

  it('yes: all three run at the same time and the publisher gets all three outputs', async () => {
    let waiting = 0;
    let open = (): void => undefined;
    const all = new Promise<void>((done) => {
      open = done;
    });
    const ran = await runPipeline(NESTED, async (step) => {
      if (step.startsWith('outer/')) {
        waiting += 1;
        if (waiting === 3) open();
        await all;
      }
      return echo(step);
    });
    expect(ran.outcome).toBe('succeeded');
    expect(ran.prompt('step_2')).toBe(
      `${block({
        'outer/step_1 (agent: generator)': 'out of outer/step_1',
        'outer/inner/step_1 (agent: researcher)': 'out of outer/inner/step_1',
        'outer/inner/step_2 (agent: summarizer)': 'out of outer/inner/step_2',
      })}Please proceed with the workflow step.`,
    );
  });

  it.each(['outer/step_1', 'outer/inner/step_1', 'outer/inner/step_2'])(
    'the failure of %s fails the whole workflow',
    async (broken) => {
      const ran = await runPipeline(NESTED, (step) => {
        if (step === broken) throw new Error('broken');
        return echo(step);
      });
      expect(ran.outcome).toBe('failed');
      expect(ran.asked.map(({ agent }) => agent)).not.toContain('publisher');
    },
  );
});

describe('how outputs of parallel agents are structured and accessed', () => {
  const PAR = `workflow:
  - type: parallel
    id: par_gen
    steps:
      - {id: gen_1, type: agent, name: generator}
      - {id: gen_2, type: agent, name: generator}
`;

  it('the next step gets the block of the document, in the declared order whoever ends first', async () => {
    const ran = await runPipeline(
      `${NAMES}${PAR}  - {id: next, type: agent, name: translator}\n`,
      async (step) => {
        if (step === 'par_gen/gen_1') await new Promise((done) => setTimeout(done, 20));
        return step === 'next' ? 'done' : `<generator ${step.at(-1)} output>`;
      },
      { prompt: '<original user prompt>' },
    );
    expect(ran.prompt('next')).toBe(`--- Prior Step Outputs ---

[par_gen/gen_1 (agent: generator)]:
<generator 1 output>

[par_gen/gen_2 (agent: generator)]:
<generator 2 output>

--- End Prior Step Outputs ---

<original user prompt>`);
  });

  it.each([
    ['{{ $steps.par_gen.outputs.gen_1.output }}', 'out of par_gen/gen_1'],
    ['{{ $steps.par_gen.outputs.gen_2.output }}', 'out of par_gen/gen_2'],
    ['{{ $steps.par_gen.outputs[0].output }}', 'out of par_gen/gen_1'],
    ['{{ $steps.par_gen.outputs[1].output }}', 'out of par_gen/gen_2'],
  ])('%s in instructions and prompts', async (reference, output) => {
    const agent = `  own: {instruction: "I: ${reference}."}\n`;
    const step = `  - {id: next, type: agent, name: own, prompt: "P: ${reference}."}\n`;
    const ran = await runPipeline(`${NAMES}${agent}${PAR}${step}`, echo);
    expect(ran.prompt('next')).toMatch(new RegExp(`\n\nP: ${output}\\.$`));
    expect(ran.asked.at(-1)?.system).toContain(`I: ${output}.`);
  });

  it('outputs of nested blocks', async () => {
    const text = `${NAMES}  own: {instruction: "{{ $steps.outer.outputs.inner.outputs.researcher.output }} / {{ $steps.outer.outputs[0].outputs[1].output }}"}
workflow:
  - type: parallel
    id: outer
    steps:
      - type: parallel
        id: inner
        steps:
          - {id: researcher, type: agent, name: researcher}
          - {id: summarizer, type: agent, name: summarizer}
  - {id: next, type: agent, name: own}
`;
    const ran = await runPipeline(text, echo);
    expect(ran.asked.at(-1)?.system).toContain('out of outer/inner/researcher / out of outer/inner/summarizer');
  });

  it.each([
    ['{{ $steps.outer.outputs.inner.researcher.output }}', 'out of outer/inner/researcher'],
    ['{{ $steps.outer.order }}', '["inner"]'],
    ['{{ $steps.outer.outputs.inner.order }}', '["researcher","summarizer"]'],
  ])('%s: the flatter key, and the order', async (reference, value) => {
    const text = `${NAMES}workflow:
  - type: parallel
    id: outer
    steps:
      - type: parallel
        id: inner
        steps:
          - {id: researcher, type: agent, name: researcher}
          - {id: summarizer, type: agent, name: summarizer}
  - {id: next, type: agent, name: publisher, prompt: "P: ${reference}"}
`;
    expect((await runPipeline(text, echo)).prompt('next').split('\n').at(-1)).toBe(`P: ${value}`);
  });

  it.each(['{{ $steps.par_gen.outputs.gen_3.output }}', '{{ $steps.par_gen.outputs[2].output }}'])(
    '%s, which is not there, is found when it is loaded',
    async (reference) => {
      const { plan, problems } = await loadText(
        `${NAMES}${PAR}  - {type: agent, name: translator, prompt: "${reference}"}\n`,
      );
      expect(plan).toBeUndefined();
      expect(problems).toMatchObject([{ severity: 'error', at: { line: 13 } }]);
    },
  );

  it('what is inserted is never looked at again', async () => {
    const text = `${NAMES}${PAR}  - {id: next, type: agent, name: translator, prompt: "{{ $steps.par_gen.outputs.gen_1.output }}"}\n`;
    const ran = await runPipeline(text, () => '{{ $prompt }} {{ $steps.par_gen.outputs.gen_2.output }}', {
      prompt: 'secret',
    });
    expect(ran.prompt('next')).not.toContain('secret');
  });
});

describe('what retry behavior exists', () => {
  const failing = (times: number, message = 'timeout'): ((step: string) => string) => {
    let left = times;
    return (step) => {
      if (step === 'gen' && left-- > 0) throw new Error(message);
      return echo(step);
    };
  };
  const step = (retry: string): string =>
    `${NAMES}workflow:\n  - {id: gen, type: agent, name: generator${retry}}\n  - {id: next, type: agent, name: translator}\n`;

  it('none without retry', async () => {
    const ran = await runPipeline(step(''), failing(1));
    expect([ran.outcome, ran.delays]).toEqual(['failed', []]);
  });

  it.each([
    ['fixed', [1_000, 1_000, 1_000]],
    ['exponential', [1_000, 2_000, 4_000]],
  ])('up to max_attempts retries, with backoff %s', async (backoff, delays) => {
    const ran = await runPipeline(step(`, retry: {max_attempts: 3, backoff: ${backoff}}`), failing(3));
    expect([ran.outcome, ran.delays]).toEqual(['succeeded', delays]);
    const exhausted = await runPipeline(step(`, retry: {max_attempts: 3, backoff: ${backoff}}`), failing(4));
    expect(exhausted.outcome).toBe('failed');
    expect(exhausted.asked).toHaveLength(4);
  });

  it('only on the patterns of `on`', async () => {
    const on = ', retry: {max_attempts: 1, on: ["timeout", "rate_limit"]}';
    expect((await runPipeline(step(on), failing(1, 'Timeout of the model'))).outcome).toBe('succeeded');
    const other = await runPipeline(step(on), failing(1, 'wrong key'));
    expect([other.outcome, other.asked.length]).toEqual(['failed', 1]);
  });

  it('is transparent to later steps', async () => {
    const ran = await runPipeline(step(', retry: {max_attempts: 2}'), failing(2));
    expect(ran.prompt('next')).toBe(
      `${block({ 'gen (agent: generator)': 'out of gen' })}Please proceed with the workflow step.`,
    );
  });

  it('a parallel block is retried as a whole, and fails as a whole', async () => {
    const text = (max: number): string => `${NAMES}workflow:
  - type: parallel
    id: par
    retry: {max_attempts: ${max}}
    steps:
      - {id: a, type: agent, name: generator}
      - {id: b, type: agent, name: generator}
  - {id: next, type: agent, name: translator}
`;
    const answers = (failures: number): ((path: string) => string) => {
      let left = failures;
      return (path) => {
        if (path.endsWith('/b') && left-- > 0) throw new Error('broken');
        return echo(path);
      };
    };
    const ran = await runPipeline(text(1), answers(1));
    expect(ran.outcome).toBe('succeeded');
    expect(ran.asked.map(({ agent }) => agent)).toEqual([
      'generator',
      'generator',
      'generator',
      'generator',
      'translator',
    ]);
    expect(ran.prompt('next').match(/\(agent: generator\)/g)).toHaveLength(2);
    expect((await runPipeline(text(1), answers(2))).outcome).toBe('failed');
  });

  it('works together with loops', async () => {
    const text = `${agents('translator', ['qa_agent', schema('ok')])}workflow:
  - {id: trans, type: agent, name: translator, retry: {max_attempts: 2}}
  - {id: qa, type: agent, name: qa_agent}
  - {type: condition, condition: "{{ $steps.qa.output.ok }}", false: [{goto: trans}]}
`;
    let calls = 0;
    const ran = await runPipeline(text, (path) => {
      if (path.startsWith('trans') && (calls += 1) % 3 !== 0) throw new Error('passing');
      return path === 'qa' ? '{"ok": false}' : '{"ok": true}';
    });
    expect([ran.outcome, calls]).toEqual(['succeeded', 6]);
  });
});
