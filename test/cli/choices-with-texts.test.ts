import { describe, expect, test } from 'vitest';
import { documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';
import { noTerminal, screenOf, startOnTerminal } from './support/terminal.js';

const missing = noTerminal();
if (missing !== undefined) console.log(`tests of the terminal are skipped: ${missing}`);

const CHOICES = '[approve, { value: revise, text: feedback }]';
/** A draft is asked about until it is approved; what is to be revised is part of the next prompt. */
const pipeline = `agents: { a: { instruction: x } }
workflow:
  - { id: draft, type: agent, name: a, prompt: "Draft <{{ $steps.ok.output.feedback? }}>", context: none }
  - { id: ok, type: ask, question: Good?, choices: ${CHOICES} }
  - { type: condition, condition: '{{ $steps.ok.output.choice == "revise" }}', true: { goto: draft, max: 3 } }
output: { values: { said: "{{ $steps.draft.output }}", choice: "{{ $steps.ok.output.choice }}" } }
`;
const dag = `name: d
agents: { a: { inline: { prompt: x, tools: [] } } }
steps:
  - { id: ok, type: ask, question: Good?, choices: ${CHOICES} }
  - { id: draft, agent: a, depends_on: [ok], prompt: "Draft <{{steps.ok.output.feedback?}}>" }
output: { values: { said: "{{steps.draft.output}}", choice: "{{steps.ok.output.choice}}" } }
`;

describe.skipIf(missing !== undefined)('[addition 10] a choice with a text on a terminal', () => {
  test('is typed with its text behind a colon; without one it is asked for again, and a number is a choice', async () => {
    const cwd = await makeProject({ 'flow.yaml': pipeline });
    const running = startOnTerminal(['exec', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    await running.seen(') > ');
    running.child.stdin?.write('revise\n');
    await running.seen('revise asks for a text: write "revise: FEEDBACK"');
    running.child.stdin?.write('2: make it: shorter\n');
    await running.seen('Draft <make it: shorter>');
    running.child.stdin?.write('1\n');
    const end = await running.ended;
    expect(end.code, end.stdout).toBe(0);
    const screen = screenOf(end.stdout).join('\n');
    expect(screen).toContain('"output": "Draft <make it: shorter>"');
    expect(screen).toContain('"choice": "approve"');
  });

  test('is typed in a DAG likewise', async () => {
    const cwd = await makeProject({ 'flow.yaml': dag });
    const running = startOnTerminal(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    await running.seen(') > ');
    running.child.stdin?.write('revise: say "why" & how\n');
    const end = await running.ended;
    expect(end.code, end.stdout).toBe(0);
    expect(screenOf(end.stdout).join('\n')).toContain('Draft <say \\"why\\" & how>');
  });
});

describe.each([
  ['pipeline', pipeline],
  ['DAG', dag],
])('[addition 10] a choice with a text of a %s that waits, by skein answer', (_notation, file) => {
  test('takes the choice with its text, and refuses one without', async () => {
    const cwd = await makeProject({ 'flow.yaml': file });
    const paused = await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    expect(paused.code).toBe(5);
    const bare = await served(['answer', '-1', 'ok', 'revise'], { cwd });
    expect([bare.code, bare.stderr]).toEqual([
      2,
      expect.stringContaining('revise asks for a text: write "revise: FEEDBACK"'),
    ]);
    expect((await served(['answer', '-1', 'ok', 'perhaps'], { cwd })).code).toBe(2);
    expect((await served(['answer', '-1', 'ok', 'revise: shorter, please'], { cwd })).code).toBe(0);
    const next = await served(['resume', '-1', '--json'], { cwd });
    expect(Object.values(documentOf(next).steps as object)).toContainEqual(
      expect.objectContaining({ output: 'Draft <shorter, please>' }),
    );
    if (next.code === 5) {
      expect((await served(['answer', '-1', 'ok', 'approve'], { cwd })).code).toBe(0);
      expect(documentOf(await served(['resume', '-1', '--json'], { cwd }))).toMatchObject({ outcome: 'succeeded' });
    }
  });
});
