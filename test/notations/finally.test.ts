import { describe, expect, it } from 'vitest';
import { memoryStore, type SkeinEvent } from 'skein';
import { BROKEN, dag, pipeline, ran, step, wrong } from './loops.js';

const agent = (id: string, prompt = `${id}?`): string => `{ id: ${id}, type: agent, name: w, prompt: "${prompt}" }`;
const LAST = `finally:\n  - ${agent('sweep', '{{ $run.outcome }} {{ $run.error.message }} {{ $steps.b.output }}')}\n`;
const file = (last = LAST): string => `${pipeline(agent('a'), agent('b'))}${last}`;
const swept = (asked: readonly string[]): readonly string[] => asked.filter((each) => each.startsWith('finally'));

describe('[addition 10] finally of a pipeline', () => {
  it('runs when all others have ended, and sees how, and what there is', async () => {
    const good = await ran(file(), { b: ['done'] });
    expect([good.outcome, swept(good.asked)]).toEqual(['succeeded', ['finally/sweep: succeeded  done']]);
    const bad = await ran(file(), { b: [BROKEN] });
    expect([bad.outcome, swept(bad.asked)]).toEqual(['failed', ['finally/sweep: failed no model ']]);
  });

  it('knows in the instructions of agents too how it ended, and warns of no error where there was none', async () => {
    const closing = agent('sweep', '{{ $run.error.message }}{{ $run.error.hint }}').replace('name: w', 'name: c');
    const closer = 'agents:\n  c: { instruction: "It {{ $run.outcome }} {{ $run.error.code }}." }\n';
    const text = `${pipeline(agent('a')).replace('agents:\n', closer)}finally: [${closing}]\n`;
    const told: string[] = [];
    const listeners = [
      (event: SkeinEvent): void => {
        if (event.type === 'step.note' && event.note.kind === 'warning') told.push(event.note.message);
      },
    ];
    const good = await ran(text, {}, { listeners });
    expect([good.systems.at(-1), swept(good.asked), told]).toEqual(['It succeeded .', ['finally/sweep: '], []]);
    const bad = await ran(text, { a: [BROKEN] }, { listeners });
    expect([bad.systems.at(-1), told]).toEqual(['It failed SKEIN_STEP_FAILED.', []]);
  });

  it('degrades a green run by its failure, and changes no other outcome', async () => {
    expect((await ran(file(), { sweep: [BROKEN] })).outcome).toBe('degraded');
    const bad = await ran(file(), { a: [BROKEN], sweep: [BROKEN] });
    expect([bad.outcome, bad.error?.message]).toEqual(['failed', 'no model']);
  });

  it('may have conditions, lists and blocks, which know the outcome too', async () => {
    const last = `finally:
  - { type: condition, condition: '{{ $run.outcome == "failed" }}', true: [${agent('tell', 'It {{ $run.outcome }}.')}], false: [${agent('cheer')}] }
  - { id: both, type: parallel, steps: [${agent('x', '{{ $run.outcome }}')}, ${agent('y')}] }
`;
    const bad = await ran(file(last), { b: [BROKEN] });
    expect(swept(bad.asked)).toEqual(['finally/tell: It failed.', 'finally/both/x: failed', 'finally/both/y: y?']);
    expect(swept((await ran(file(last), {})).asked)[0]).toBe('finally/cheer: cheer?');
  });

  it('does not run while the run waits, and runs once when it has ended', async () => {
    const text = `${pipeline('{ id: ok, type: ask, question: "ok?" }')}finally: [${agent('sweep')}]\n`;
    const store = memoryStore();
    const first = await ran(text, {}, { store });
    expect([first.outcome, first.asked]).toEqual(['paused', []]);
    const again = await ran(text, {}, { store, resume: first.runId, answer: () => Promise.resolve('yes') });
    expect([again.outcome, swept(again.asked)]).toEqual(['succeeded', ['finally/sweep: sweep?']]);
    const third = await ran(text, {}, { store, resume: first.runId });
    expect([third.outcome, third.asked]).toEqual(['succeeded', []]);
  });

  it('prints nothing among the results, and its outputs are of no other step', async () => {
    const { state } = await ran(file(), {});
    expect(Object.keys(state).filter((name) => name.includes('finally') || name.startsWith('run.'))).toEqual([]);
  });

  it('[unknown-member], [unknown-variable], [duplicate-step], [empty-block] are reported', async () => {
    const reading = (text: string): string => file(`finally: [${agent('s', text)}]\n`);
    expect((await wrong(reading('{{ $run.result }}'))).join()).toContain('unknown-member');
    expect((await wrong(pipeline(agent('a', '{{ $run.outcome }}')))).join()).toContain('unknown-variable');
    expect(
      (await wrong(`${pipeline(agent('finally'))}${LAST.replace(' {{ $steps.b.output }}', '')}`)).join(),
    ).toContain('duplicate-step');
    expect((await wrong(file('finally: []\n'))).join()).toContain('empty-block');
  });
});

describe('[addition 10] finally of a DAG workflow', () => {
  const sweep = step('sweep', '{{run.outcome}} {{run.error.message}} {{steps.b.output}}');
  const only = step('only', 'It failed.', 'depends_on: [sweep], condition: { cel: \'run.outcome == "failed"\' }');
  const text = `${dag(step('a', 'a?'), step('b', 'b?', 'depends_on: [a]'))}finally:\n  - ${sweep}\n  - ${only}\n`;

  it('runs when all others have ended, and sees how, and what there is', async () => {
    const good = await ran(text, { b: ['done'] });
    expect([good.outcome, swept(good.asked)]).toEqual(['succeeded', ['finally/sweep: succeeded  done']]);
    const bad = await ran(text, { b: [BROKEN] });
    expect([bad.outcome, swept(bad.asked)]).toEqual([
      'failed',
      ['finally/sweep: failed no model ', 'finally/only: It failed.'],
    ]);
  });

  it('degrades a green run by its failure, and is no step of the others', async () => {
    expect((await ran(text, { sweep: [BROKEN] })).outcome).toBe('degraded');
    const reading = dag(step('a', '{{steps.sweep.output}}'));
    expect((await wrong(`${reading}finally: [${step('sweep', 'x')}]\n`)).join()).toContain('unknown-step');
    expect((await wrong(`${dag(step('finally', 'x'))}finally: [${step('sweep', 'x')}]\n`)).join()).toContain(
      'duplicate-step',
    );
    expect((await wrong(`${dag(step('a', 'x'))}finally: [${step('sweep', '{{run.result}}')}]\n`)).join()).toContain(
      'unknown-member',
    );
  });
});
