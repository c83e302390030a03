import { describe, expect, it } from 'vitest';
import { NOTATIONS, runSteps } from './support/both.js';
import type { Notation } from './support/both.js';

const ref = (notation: Notation): string => (notation === 'dag' ? '{{ inputs.x }}' : '{{ $prompt }}');
const head = (notation: Notation): string => (notation === 'dag' ? 'inputs: { x: { default: y } }\n' : '');
const input = (notation: Notation): string => (notation === 'dag' ? 'x' : 'prompt');

describe.each(NOTATIONS)('the door of steps without a model of a %s', (notation) => {
  const run = (steps: string, more: Parameters<typeof runSteps>[2] = {}): ReturnType<typeof runSteps> =>
    runSteps(notation, steps, { head: head(notation), ...more });

  it('asks a person before a step that says so, shows the call, and makes it once', async () => {
    const asked: unknown[] = [];
    const answer = (question: { readonly text: string; readonly evidence?: unknown }): Promise<string> => {
      asked.push([question.text, question.evidence]);
      return Promise.resolve('allow');
    };
    const steps = '  - { id: go, run: [echo, hi], approve: true }\n';
    const { outcome, output } = await run(steps, { answer });
    expect([outcome, output('go')]).toEqual(['succeeded', 'hi']);
    expect(asked).toEqual([['May the step "go" call shell?', { tool: 'shell', input: { argv: ['echo', 'hi'] } }]]);
    const refused = await run(steps, { answer: () => Promise.resolve('deny') });
    expect(refused.error).toMatchObject({ code: 'SKEIN_TOOL_REFUSED', message: 'a person refused this call' });
    const paused = await run(steps);
    expect(paused.outcome).toBe('paused');
  });

  it('asks before a command with an argument that an untrusted input influenced, and not before others', async () => {
    const untrusted = [input(notation)];
    const inArgument = `  - { id: go, run: [echo, "${ref(notation)}"] }\n`;
    expect((await run(inArgument, { untrusted })).outcome).toBe('paused');
    expect((await run(inArgument)).outcome).toBe('succeeded');
    const fixed = `  - { id: go, run: [cat], stdin: "${ref(notation)}" }\n`;
    expect((await run(fixed, { untrusted })).outcome).toBe('succeeded');
  });

  it('labels what a command gives: what follows from it is untrusted', async () => {
    const after = notation === 'dag' ? 'depends_on: [one], ' : '';
    const steps = `  - { id: one, run: [echo, x] }\n  - { id: two, ${after}run: [echo, "{{ $steps.one.output }}"] }\n`;
    const { outcome, labels } = await run(steps);
    expect(outcome).toBe('paused');
    expect(labels?.['steps.one.output']).toMatchObject({ level: 'untrusted', sources: ['one@tool#1.1'] });
  });

  it('keeps to policies: what one denies fails the step before anything runs', async () => {
    const policy = [{ file: 'p.yaml', deny: ['shell:cmd=echo *'] }];
    const { error } = await run('  - { id: go, run: [echo, x] }\n', { policy });
    expect(error?.code).toBe('SKEIN_TOOL_REFUSED');
  });

  it('counts as a call of a tool, also for budgets, and is told as one', async () => {
    const steps = '  - { id: a, run: [echo, x] }\n';
    const { events } = await run(steps);
    const notes = events.flatMap((event) => (event.type === 'step.note' ? [event.note.kind] : []));
    expect(notes.filter((kind) => kind.startsWith('tool.'))).toEqual(['tool.started', 'tool.ended']);
    const poor = await run(`${steps}  - { id: b, run: [echo, x] }\n`, { budget: { toolCalls: 1 } });
    expect(poor.outcome).toBe('out_of_budget');
  });
});

describe('permissions of a pipeline', () => {
  it('refuse and ask, also of its steps; what they do not speak of its author wants', async () => {
    const rules = 'permissions: { deny: ["shell:cmd=rm *"], ask: ["shell:cmd=touch *"] }\n';
    const run = (argv: string) => runSteps('pipeline', `  - { id: go, run: ${argv} }\n`, { head: rules });
    expect((await run('[rm, x]')).error?.code).toBe('SKEIN_TOOL_REFUSED');
    expect((await run('[touch, x]')).outcome).toBe('paused');
    expect((await run('[echo, x]')).outcome).toBe('succeeded');
  });
});
