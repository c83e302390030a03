import { describe, expect, it } from 'vitest';
import { formatCensus } from 'skein';
import { agents, brief, loadText, runPipeline, schema } from './run-pipeline.js';
import type { Ran } from './run-pipeline.js';

const NAMES = agents('planner', ['judge', schema('good')], 'writer');

const file = (jump: string, more = ''): string => `${NAMES}workflow:
${more === '' ? '' : `  ${more}\n`}  steps:
    - { id: plan, type: agent, name: planner }
    - { id: check, type: agent, name: judge }
    - { type: condition, id: enough, condition: "{{ $steps.check.output.good }}", false: ${jump} }
    - { id: write, type: agent, name: writer }
`;

const never = (step: string): string => (step.startsWith('check') ? '{"good": false}' : 'text');
const asked = ({ asked: all }: Ran): string => all.map(({ step }) => step).join(' ');
const warnings = ({ events }: Ran): readonly string[] =>
  events.flatMap((event) => (event.type === 'run.warning' ? [event.message] : []));

describe('[addition 4] max and on_limit of a jump back', () => {
  it('[G2] on_limit: continue goes on behind the condition, and the run is degraded', async () => {
    const ran = await runPipeline(file('{ goto: plan, max: 2, on_limit: continue }'), never);
    expect(ran.outcome).toBe('degraded');
    expect(asked(ran)).toBe('plan check plan#2 check#2 plan#3 check#3 write');
    expect(formatCensus(ran.census)).toBe('7 succeeded, 1 limit reached');
    expect(warnings(ran)).toEqual([expect.stringMatching(/^limit reached: 'enough_false_1' ran 2 times/)]);
  });

  it('on_limit: fail, the default, fails the run with what to raise', async () => {
    const ran = await runPipeline(file('{ goto: plan, max: 1 }'), never);
    expect([ran.outcome, ran.error?.code, asked(ran)]).toEqual([
      'failed',
      'SKEIN_MAX_VISITS',
      'plan check plan#2 check#2',
    ]);
    expect(ran.error?.message).toBe('workflow: max loop iterations exceeded (step: plan, limit: 1)');
    expect(ran.error?.hint).toContain('raise max of the jump');
  });

  it('max counts its own jump, whatever max_loop_iterations says of the others', async () => {
    const ran = await runPipeline(file('{ goto: plan, max: 3, on_limit: continue }', 'max_loop_iterations: 1'), never);
    expect([ran.outcome, ran.asked.length]).toEqual(['degraded', 9]);
  });

  it('on_limit without max is about max_loop_iterations', async () => {
    const ran = await runPipeline(file('{ goto: plan, on_limit: continue }', 'max_loop_iterations: 1'), never);
    expect([ran.outcome, asked(ran)]).toEqual(['degraded', 'plan check plan#2 check#2 write']);
  });

  it('a run that comes to its end before the limit is not degraded', async () => {
    const ran = await runPipeline(file('{ goto: plan, max: 2, on_limit: continue }'), (step) =>
      step === 'check#3' ? '{"good": true}' : never(step),
    );
    expect([ran.outcome, ran.census.limited]).toEqual(['succeeded', undefined]);
  });

  it('at the end of the list the run ends with what it has', async () => {
    const text = `${NAMES}workflow:
  - { id: plan, type: agent, name: planner }
  - { id: check, type: agent, name: judge }
  - { type: condition, condition: "{{ $steps.check.output.good }}", false: { goto: plan, max: 1, on_limit: continue } }
`;
    const ran = await runPipeline(text, never);
    expect([ran.outcome, asked(ran)]).toEqual(['degraded', 'plan check plan#2 check#2']);
    expect(ran.output('check')).toEqual({ good: false });
  });

  it('a jump without a condition repeats its steps so often, and goes on', async () => {
    const text = `${NAMES}workflow:
  - { id: plan, type: agent, name: planner }
  - { goto: plan, max: 2, on_limit: continue }
  - { id: write, type: agent, name: writer }
`;
    const ran = await runPipeline(text, never);
    expect([ran.outcome, asked(ran)]).toEqual(['degraded', 'plan plan#2 plan#3 write']);
  });

  it('an answer of choose may jump so, too', async () => {
    const text = `${NAMES}workflow:
  - { id: plan, type: agent, name: planner }
  - { id: check, type: agent, name: writer, choose: { again: { about: Once more., goto: plan, max: 1, on_limit: continue } } }
`;
    const { plan, problems } = await loadText(text);
    expect(brief(problems)).toEqual([]);
    expect(plan?.nodes.at(-1)).toMatchObject({ maxVisits: 1, onMaxVisits: { to: 'END', degraded: true } });
  });

  it('inside of a map, each item has its own count, and the run is degraded', async () => {
    const text = `${NAMES}workflow:
  - { id: plan, type: agent, name: planner }
  - type: map
    over: "{{ $steps.plan.output }}"
    steps:
      - { id: one, type: agent, name: judge }
      - { type: condition, condition: "{{ $steps.one.output.good }}", false: { goto: one, max: 1, on_limit: continue } }
      - { id: last, type: agent, name: writer }
`;
    const ran = await runPipeline(text, (step) => (step === 'plan' ? '[1, 2]' : never('check')));
    expect([ran.outcome, ran.census.limited, ran.asked.length]).toEqual(['degraded', 2, 7]);
  });

  it.each([
    ['max: 2', 'max'],
    ['on_limit: continue', 'on_limit'],
  ])('[no-effect] %s of a jump forward is a warning: only jumps back are counted', async (key, name) => {
    const text = `${NAMES}workflow:
  - { id: plan, type: agent, name: judge }
  - { type: condition, condition: "{{ $steps.plan.output.good }}", true: { goto: write, ${key} } }
  - { id: other, type: agent, name: planner }
  - { id: write, type: agent, name: writer }
`;
    const { problems } = await loadText(text);
    expect(brief(problems)).toEqual([expect.stringMatching(/^\d+:\d+ warning no-effect$/)]);
    expect(problems[0]?.message).toContain(`${name} of `);
  });

  it.each([
    ['{ goto: plan, max: 0 }', 'out-of-range'],
    ['{ goto: plan, max: often }', 'wrong-type'],
    ['{ goto: plan, max: 2, on_limit: stop }', 'unknown-value'],
    ['{ goto: plan, maximum: 2 }', 'unknown-key'],
  ])('%s is %s', async (jump, code) => {
    const { problems } = await loadText(file(jump));
    expect(problems.map((problem) => problem.code)).toEqual([code]);
  });

  it('a jump that nothing leaves says what helps', async () => {
    const { problems } = await loadText(
      `${NAMES}workflow:\n  - { id: plan, type: agent, name: planner }\n  - { goto: plan }\n`,
    );
    expect(problems.map(({ code, hint }) => [code, hint])).toEqual([
      ['endless-loop', expect.stringContaining('on_limit: continue')],
    ]);
  });
});
