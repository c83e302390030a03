import { describe, expect, it } from 'vitest';
import { classifyStatus } from '../../../src/agent/models/http-status.js';
import { SkeinError } from '../../../src/base/errors.js';
import type { SkeinEvent } from '../../../src/events/event.js';
import { FakeClock } from '../../../src/testing/index.js';
import { quickTime } from '../../quick-time.js';
import { agents, brief, loadText, runPipeline, schema } from './run-pipeline.js';
import type { Answers } from './run-pipeline.js';

quickTime();

const NAMES = agents('a', 'b', 'c', ['qa', schema('ok')]);
const messages = async (text: string): Promise<string> =>
  (await loadText(text)).problems.map(({ message, hint }) => `${message} (${hint ?? ''})`).join('\n');

/** Delays before further tries, of steps and of calls. */
const triesAgain = (events: readonly SkeinEvent[]): readonly number[] =>
  events.flatMap((event) => {
    if (event.type === 'step.retrying') return [event.delayMs];
    return event.type === 'step.note' && event.note.kind === 'model.retrying' ? [event.note.delayMs] : [];
  });

describe('decision 1: what the document promises works, also where the original code does not', () => {
  it('a condition inside of a parallel block, and a block inside of the block', async () => {
    const text = `${NAMES}workflow:
  - {id: first, type: agent, name: qa}
  - type: parallel
    id: par
    steps:
      - type: condition
        condition: "{{ $steps.first.output.ok }}"
        true:
          - {id: one, type: agent, name: a}
          - {id: two, type: agent, name: b}
        false:
          - {id: other, type: agent, name: c}
      - type: parallel
        id: deep
        steps:
          - {id: x, type: agent, name: a}
  - {id: last, type: agent, name: c, prompt: "{{ $steps.par.outputs.two.output }}{{ $steps.par.outputs.deep.outputs.x.output }}"}
`;
    const ran = await runPipeline(text, (step) => (step === 'first' ? '{"ok": true}' : `<${step}>`));
    expect(ran.outcome).toBe('succeeded');
    expect(ran.asked.map(({ step }) => step).toSorted()).toEqual(
      ['first', 'last', 'par/deep/x', 'par/one', 'par/two'].toSorted(),
    );
    // Within the block, a branch is a sequence: each step sees the ones before it, and not those at its side.
    expect(ran.prompt('par/two')).toContain('[par/one (agent: a)]:');
    expect(ran.prompt('par/two')).not.toContain('deep');
    expect(ran.prompt('last')).toMatch(/\n\n<par\/two><par\/deep\/x>$/);
  });

  it('agents that fail fail the workflow; the rest of the list does not run', async () => {
    const text = `${NAMES}workflow:\n  - {id: x, type: agent, name: a}\n  - {id: y, type: agent, name: b}\n`;
    const ran = await runPipeline(text, () => {
      throw new Error('broken');
    });
    expect([ran.outcome, ran.asked.length]).toEqual(['failed', 1]);
  });
});

describe('decision 2: branches and jumps', () => {
  const loop = (branch: string): string => `${NAMES}workflow:
  - {id: first, type: agent, name: a}
  - {id: again, type: agent, name: b}
  - {id: check, type: agent, name: qa}
  - type: condition
    condition: "{{ $steps.check.output.ok }}"
    false: [${branch}]
  - {id: last, type: agent, name: c}
`;
  const second = (step: string): string => (step === 'check' ? '{"ok": false}' : '{"ok": true}');

  it.each(['goto: again', 'goto: 1', 'id: again, type: agent, name: b', 'type: goto, goto: again'])(
    '{%s} continues from there',
    async (jump) => {
      const ran = await runPipeline(loop(`{${jump}}`), second);
      expect(ran.asked.map(({ step }) => step)).toEqual(['first', 'again', 'check', 'again#2', 'check#2', 'last']);
    },
  );

  it('the last step of a longer branch can be the jump', async () => {
    const ran = await runPipeline(loop('{id: fix, type: agent, name: c}, {goto: again}'), second);
    expect(ran.asked.map(({ step }) => step)).toEqual(['first', 'again', 'check', 'fix', 'again#2', 'check#2', 'last']);
    expect(ran.prompt('again#2')).toContain('[fix (agent: c)]:');
  });

  it('a new id with the agent of an earlier step runs it once and falls through; a hint points to goto', async () => {
    const text = loop('{id: back_to_again, type: agent, name: b}');
    const { problems } = await loadText(text);
    expect(problems.map(({ severity }) => severity)).not.toContain('error');
    expect(problems.map(({ hint }) => hint).join()).toContain('goto: again');
    const ran = await runPipeline(text, second, { problems: brief(problems) });
    expect(ran.asked.map(({ step }) => step)).toEqual(['first', 'again', 'check', 'back_to_again', 'last']);
  });

  it('a jump to what does not exist is a problem with a hint', async () => {
    expect(await messages(loop('{goto: agian}'))).toContain('did you mean "again"');
  });
});

describe('decision 3: the limit of loops', () => {
  const loop = (head: string): string => `${NAMES}workflow:
  ${head}
  steps:
    - {id: x, type: agent, name: a}
    - {type: condition, condition: $steps.x.output, false: {goto: x}}
`;

  it.each(['max_loop_iterations: 2', 'overrides: {max_loop_iterations: 2}'])('%s', async (head) => {
    const ran = await runPipeline(loop(head), () => 'no');
    expect(ran.error?.message).toBe('workflow: max loop iterations exceeded (step: x, limit: 2)');
    expect(ran.asked.map(({ step }) => step)).toEqual(['x', 'x#2', 'x#3']);
  });

  it('a limit that is misspelt is a problem with a hint', async () => {
    expect(await messages(loop('overrides: {max_loop_iteration: 2}'))).toContain('did you mean "max_loop_iterations"');
  });

  it('a loop that nothing leaves is a problem', async () => {
    const text = `${NAMES}workflow:\n  - {id: x, type: agent, name: a}\n  - {goto: x}\n`;
    expect(brief((await loadText(text)).problems)).toEqual([expect.stringMatching(/^8:\d+ error endless-loop$/)]);
  });
});

describe('decision 4: ids', () => {
  it('steps without an id get a unique one by their place', async () => {
    const text = `${NAMES}workflow:
  - {type: agent, name: a}
  - {type: agent, name: a}
  - type: parallel
    steps:
      - {type: agent, name: b}
      - {type: agent, name: b}
`;
    const ran = await runPipeline(text, (step) => `<${step}>`);
    expect(ran.asked.map(({ step }) => step)).toEqual(['step_1', 'step_2', 'par_3/step_1', 'par_3/step_2']);
    expect([ran.output('step_1'), ran.output('step_2')]).toEqual(['<step_1>', '<step_2>']);
  });

  it('ids that occur twice are a problem at the second one', async () => {
    const text = `${NAMES}workflow:\n  - {id: x, type: agent, name: a}\n  - {id: x, type: agent, name: b}\n`;
    expect(brief((await loadText(text)).problems)).toEqual(['8:10 error duplicate-step']);
  });
});

describe('decision 5: a condition on a step that cannot have run is a problem', () => {
  it.each([
    [
      'a later step',
      '  - {type: condition, condition: $steps.x.output, true: [{type: agent, name: a}]}\n  - {id: x, type: agent, name: a}\n',
    ],
    [
      'a step of its own branch',
      '  - {type: condition, condition: $steps.x.output, true: [{id: x, type: agent, name: a}]}\n',
    ],
    [
      'a step beside it',
      '  - type: parallel\n    steps:\n      - {id: x, type: agent, name: a}\n      - {type: condition, condition: $steps.x.output, true: [{type: agent, name: a}]}\n',
    ],
  ])('%s', async (_, steps) => {
    const { plan, problems } = await loadText(`${NAMES}workflow:\n${steps}`);
    expect(plan).toBeUndefined();
    expect(problems.filter(({ severity }) => severity === 'error')).toHaveLength(1);
    expect(problems[0]?.message).toContain('"x"');
  });

  it('a step of the other branch can have run when a loop leads there', async () => {
    const text = `${NAMES}workflow:
  - {id: qa, type: agent, name: qa}
  - type: condition
    condition: "{{ $steps.qa.output.ok }}"
    true: [{id: y, type: agent, name: b, prompt: "{{ $steps.fix.output }}"}]
    false: [{id: fix, type: agent, name: a}, {goto: qa}]
`;
    const answers: Record<string, string> = { qa: '{"ok": false}', 'qa#2': '{"ok": true}', fix: 'fixed' };
    const ran = await runPipeline(text, (step) => answers[step] ?? 'done');
    expect(ran.prompt('y')).toMatch(/\n\nfixed$/);
  });
});

describe('decision 6: retry', () => {
  const flow = (retry: string): string => `${NAMES}workflow:\n  - {id: x, type: agent, name: a, retry: {${retry}}}\n`;
  const failing = (error: unknown): (() => string) => {
    return () => {
      throw error;
    };
  };

  it.each([
    ['max_attempts: 2', [1_000, 1_000]],
    ['retries: 2', [1_000, 1_000]],
    ['max_attempts: 2, backoff: fixed, initial_delay: 3s', [3_000, 3_000]],
    ['max_attempts: 3, backoff: exponential', [1_000, 2_000, 4_000]],
    ['max_attempts: 3, backoff: exponential, initial_delay: 10ms', [10, 20, 40]],
  ])('%s: retries after the first try, after %j ms', async (retry, delays) => {
    const ran = await runPipeline(flow(retry), failing(new Error('broken')));
    expect([ran.outcome, ran.delays, ran.asked.length]).toEqual(['failed', delays, delays.length + 1]);
  });

  it.each([
    ['timeout', 'SKEIN_TIMEOUT'],
    ['rate_limit', 'SKEIN_MODEL_OVERLOADED'],
    ['network', 'SKEIN_NETWORK'],
    ['server', 'SKEIN_MODEL_FAILED'],
    ['tool', 'SKEIN_TOOL_FAILED'],
  ] as const)('the class %s means errors such as %s, and no others', async (name, code) => {
    const tried = async (error: SkeinError): Promise<number> =>
      triesAgain((await runPipeline(flow(`max_attempts: 1, on: [${name}]`), failing(error))).events).length;
    expect(await tried(new SkeinError(code, 'it failed'))).toBe(1);
    expect(await tried(new SkeinError('SKEIN_NO_KEY', 'it failed'))).toBe(0);
  });

  it.each([
    ['server', 429, 0],
    ['server', 500, 1],
    ['server', 503, 1],
    ['rate_limit', 429, 1],
    ['rate_limit', 503, 0],
    ['overloaded', 503, 1],
    ['overloaded', 529, 1],
    ['overloaded', 429, 0],
    ['overloaded', 500, 0],
    ['timeout', 408, 1],
  ])('[XP9] the class %s and an answer %i of the provider: tried again %i times', async (name, status, times) => {
    const { code, retryable } = classifyStatus(status, 'try later');
    const error = new SkeinError(code, `m: the provider answered ${status}: server is busy`, { retryable });
    const ran = await runPipeline(flow(`max_attempts: 1, on: [${name}]`), failing(error));
    expect([ran.asked.length, triesAgain(ran.events).length]).toEqual([1 + times, times]);
  });

  it('[XP9] a word that is almost the name of a class is told, with the class', async () => {
    const { problems } = await loadText(flow('max_attempts: 1, on: [overload, rate-limit, "stack overflow", SERVER]'));
    expect(problems).toMatchObject([
      { code: 'unknown-value', severity: 'warning', hint: 'did you mean "overloaded"?' },
      { code: 'unknown-value', severity: 'warning', hint: 'did you mean "rate_limit"?' },
    ]);
  });

  it('what Retry-After asks for takes the place of the delay', async () => {
    const error = new SkeinError('SKEIN_MODEL_OVERLOADED', 'too many requests', { retryAfterMs: 7_000 });
    const ran = await runPipeline(flow('max_attempts: 1, on: [rate_limit]'), failing(error));
    expect(triesAgain(ran.events)).toEqual([7_000]);
    expect(new Set(ran.delays)).toEqual(new Set([7_000]));
  });

  it('jitter is off unless it is asked for', async () => {
    const ran = await runPipeline(flow('max_attempts: 1, jitter: 0.5'), failing(new Error('broken')));
    expect(ran.delays[0]).toBeGreaterThanOrEqual(500);
    expect(ran.delays[0]).toBeLessThanOrEqual(1_500);
    expect(ran.delays[0]).not.toBe(1_000);
  });

  it.each([
    'max_attempts: -1',
    'max_attempts: many',
    'backoff: linear',
    'initial_delay: soon',
    'on: {}',
    'max_atempts: 2',
  ])('%s is a problem', async (retry) => {
    const { plan, problems } = await loadText(flow(retry));
    expect(plan).toBeUndefined();
    expect(problems[0]?.at?.line).toBe(7);
  });
});

describe('the time of a step', () => {
  it('ends at its timeout: the model is cut off, and where the step may fail the run goes on without it', async () => {
    const clock = new FakeClock();
    const text = `${NAMES}workflow:
  - {id: x, type: agent, name: a, timeout: 5s, on_error: continue}
  - {id: y, type: agent, name: b}
`;
    const answers: Answers = async (step, { signal }) => {
      if (step === 'y') return 'done';
      const cut = new Promise<string>((done) => {
        signal.addEventListener('abort', () => done('too late'));
      });
      clock.advance(4_999);
      expect(signal.aborted).toBe(false);
      clock.advance(1);
      return await cut;
    };
    const ran = await runPipeline(text, answers, { clock, prompt: 'Go' });
    expect([ran.outcome, ran.census.degraded]).toEqual(['degraded', 1]);
    expect(ran.prompt('y')).toBe('Go');
  });
});

describe('decision 7: any failure in a parallel block aborts its siblings, and on_error: continue is the opt-out', () => {
  it('of a step in the block', async () => {
    const text = `${NAMES}workflow:
  - type: parallel
    id: par
    steps:
      - {id: x, type: agent, name: a, on_error: continue}
      - {id: y, type: agent, name: b}
  - {id: last, type: agent, name: c}
`;
    const ran = await runPipeline(text, (step) => {
      if (step === 'par/x') throw new Error('broken');
      return `<${step}>`;
    });
    expect(ran.outcome).toBe('degraded');
    expect(ran.prompt('last')).toContain('[par/y (agent: b)]:\n<par/y>');
    expect(ran.prompt('last')).not.toContain('par/x');
  });

  it('of the block', async () => {
    const text = `${NAMES}workflow:
  - type: parallel
    id: par
    on_error: continue
    steps:
      - {id: x, type: agent, name: a}
  - {id: last, type: agent, name: c}
`;
    const ran = await runPipeline(text, (step) => {
      if (step === 'par/x') throw new Error('broken');
      return 'fine';
    });
    expect(ran.outcome).toBe('degraded');
    expect(ran.prompt('last')).toBe('Please proceed with the workflow step.');
  });
});

describe('decision 8: the language of conditions', () => {
  it('has both forms, and JSON in a code fence is JSON', async () => {
    const text = (condition: string): string => `${NAMES}workflow:
  - {id: qa, type: agent, name: qa}
  - {type: condition, condition: '${condition}', true: [{id: yes, type: agent, name: a}]}
`;
    for (const condition of ['$steps.qa.output.ok', '{{ $steps.qa.output.ok }}', '{{ $steps.qa.output.ok == true }}']) {
      const ran = await runPipeline(text(condition), () => 'Here it is:\n```json\n{"ok": true}\n```\n');
      expect([condition, ran.asked.at(-1)?.step]).toEqual([condition, 'yes']);
    }
  });
});

describe('decision 9: whole agent configurations of cagent', () => {
  it('load, and what is not supported is a warning with its line', async () => {
    const text = `version: "4"
metadata: {author: x}
models:
  fast: {provider: openai, model: gpt-5-mini, temperature: 0.1, max_tokens: 100}
agents:
  root:
    model: fast
    description: d
    instruction: i
    add_date: true
    add_environment_info: true
    max_iterations: 3
    welcome_message: hi
    toolsets: [{type: filesystem}, {type: shell}, {type: think}, {type: todo}, {type: memory}, {type: mcp, command: node}]
  other: {model: fast, instruction: i}
workflow:
  - {type: agent, name: root}
`;
    const { plan, problems } = await loadText(text);
    expect(plan?.nodes[0]).toMatchObject({
      agent: { models: ['openai/gpt-5-mini'], settings: { temperature: 0.1, maxOutputTokens: 100 }, maxTurns: 3 },
    });
    expect(problems.map(({ severity }) => severity)).toEqual(['warning']);
    expect(problems[0]?.at?.line).toBe(13);
  });
});

describe('decision 11: the keys true, false and on are text', () => {
  it('however they are written', async () => {
    const text = `${NAMES}workflow:
  - {id: qa, type: agent, name: qa, retry: {max_attempts: 1, on: [timeout]}}
  - type: condition
    condition: "{{ $steps.qa.output.ok }}"
    "true": [{id: yes, type: agent, name: a}]
    false: [{id: no, type: agent, name: b}]
`;
    const ran = await runPipeline(text, () => '{"ok": false}');
    expect(ran.asked.at(-1)?.step).toBe('no');
  });
});
