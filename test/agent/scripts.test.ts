import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createModelRegistry } from '../../src/agent/models/registry.js';
import { readScript } from '../../src/agent/script/read-script.js';
import { errorOf, outputOf, runAgent, tool } from './support/run-agent.js';
import type { FakeStep } from './support/step.js';
import { rejected } from '../thrown.js';

let folder: string;
let count = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-script-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A registry whose answers come from a script, written to a real file. */
async function scripted(text: string) {
  const file = `${(count += 1)}.script.yaml`;
  await writeFile(join(folder, file), text);
  return createModelRegistry({ env: {}, script: file, cwd: folder });
}

/** Cancels a step as soon as its model is called. */
function cancelAtModel(step: FakeStep): void {
  const tell = step.note.bind(step);
  step.note = (told) => {
    tell(told);
    if (told.kind === 'model.started') setImmediate(() => step.controller.abort(new Error('cancelled')));
  };
}

describe('a scripted model (statement 88)', () => {
  it('answers by step, agent and prompt, the first rule that fits first', async () => {
    const registry = await scripted(`
rules:
  - { step: other, answer: not this }
  - { agent: someone, answer: nor this }
  - { step: review, prompt: the change, answer: Looks fine. }
  - { step: review, answer: anything else }
`);
    const first = await runAgent({ registry, prompt: 'Review the change.' });
    const second = await runAgent({ registry, prompt: 'Say something.' });
    expect([outputOf(first.result), outputOf(second.result)]).toEqual(['Looks fine.', 'anything else']);
  });

  it.each([
    ['review', 'review'],
    ['review', 'loop#3/review'],
    ['review', 'scan[a/b.ts]/review#2'],
    ['loop#3/review', 'loop#3/review'],
    ['loop/review', 'loop#1/review'],
  ])('a rule for step %s fits the path %s', async (step, path) => {
    const registry = await scripted(`rules: [{ step: ${JSON.stringify(step)}, answer: yes it does }]`);
    expect(outputOf((await runAgent({ registry, path })).result)).toBe('yes it does');
  });

  it('gives its answers in sequence, each step from the beginning; tool calls and JSON among them', async () => {
    const registry = await scripted(`
rules:
  - agent: reviewer
    answers:
      - text: Looking.
        tools: [{ name: look, input: { path: a.ts } }]
        usage: { input: 100, output: 20 }
      - json: { ok: true }
`);
    for (const path of ['one', 'two']) {
      const { result, step } = await runAgent({ registry, path, tools: [tool('look', () => 'seen')] });
      expect(outputOf(result)).toBe('{"ok":true}');
      expect(step.of('tool.started')[0]?.input).toEqual({ path: 'a.ts' });
      expect(step.of('model.ended')[0]?.usage).toEqual({ inputTokens: 100, outputTokens: 20 });
    }
    await registry.finish();
  });

  it('fails as a provider would, and is tried again', async () => {
    const registry = await scripted(`
rules:
  - answers:
      - error: { status: 429, retry_after: 3 }
      - { text: half of, cut: true }
      - text: At last.
`);
    const { result, step } = await runAgent({ registry });
    expect(outputOf(result)).toBe('At last.');
    expect(step.sleeps).toEqual([3_000, 1_000]);
    expect(step.of('model.retrying').map((note) => note.error.code)).toEqual([
      'SKEIN_MODEL_OVERLOADED',
      'SKEIN_NETWORK',
    ]);
    await registry.finish();
  });

  it('fails with a code, or answers nothing', async () => {
    const byCode = await scripted('rules: [{ answer: { error: { code: SKEIN_MODEL_REFUSED, message: not you } } }]');
    expect(errorOf((await runAgent({ registry: byCode })).result)).toMatchObject({ code: 'SKEIN_MODEL_REFUSED' });
    const empty = await scripted('rules: [{ answer: { empty: true } }]');
    expect(errorOf((await runAgent({ registry: empty })).result).code).toBe('SKEIN_MODEL_EMPTY');
  });

  it('repeats an answer a number of times, or the last one for ever', async () => {
    const registry = await scripted(`
rules:
  - { prompt: first, once: true, answers: [{ text: a, times: 2 }, b] }
  - { prompt: second, once: true, repeat: true, answers: [c, d] }
`);
    const answers: unknown[] = [];
    for (const prompt of ['first', 'first', 'first', 'second', 'second', 'second', 'second']) {
      answers.push(outputOf((await runAgent({ registry, prompt, path: `p${answers.length}` })).result));
    }
    expect(answers).toEqual(['a', 'a', 'b', 'c', 'd', 'd', 'd']);
    await registry.finish();
  });

  it('a delay ends early when the step is cancelled', async () => {
    const registry = await scripted('rules: [{ answer: { text: too late, delay: 1h } }]');
    const running = runAgent({
      registry,
      before: cancelAtModel,
    });
    expect(errorOf((await running).result).message).toBe('cancelled');
  });

  it('asks the person, and the script can answer', async () => {
    const registry = await scripted(`
rules:
  - answers:
      - question: { text: Which colour do you like?, choices: [red, blue] }
      - text: Blue it is.
answers:
  - { question: colour, answer: 2 }
`);
    expect(await registry.scriptAnswer('Which colour do you like?')).toBe('2');
    expect(await registry.scriptAnswer('How old are you?')).toBeUndefined();
    const { result, step } = await runAgent({ registry, spec: { interactive: true }, answer: () => '2' });
    expect(outputOf(result)).toBe('Blue it is.');
    expect(step.of('tool.ended')[0]).toMatchObject({ tool: 'ask_user', output: 'blue' });
  });
});

describe('a strict script', () => {
  it('fails an unplanned call, and shows what was asked and the nearest rule', async () => {
    const registry = await scripted('rules:\n  - { step: review, prompt: something else, answer: x }\n');
    const { result } = await runAgent({ registry, prompt: 'Review the change.' });
    const { code, message } = errorOf(result);
    expect(code).toBe('SKEIN_SCRIPT');
    expect(message).toContain('step review, agent "reviewer", turn 1');
    expect(message).toContain('asked: Review the change.');
    expect(message).toContain('rule 1 (line 2, step review, prompt "something else"): its prompt does not match');
  });

  it('shows the correction that an unplanned call asks for', async () => {
    const registry = await scripted("rules: [{ answer: 'no idea' }]");
    const schema = { type: 'object', required: ['vote'] };
    const { result } = await runAgent({ registry, spec: { output: { schema } }, prompt: 'Vote.' });
    expect(errorOf(result).message).toMatch(
      /asked: Vote\.\n {2}and then: That answer can not be used: - the answer is not JSON/,
    );
  });

  it('shows the tool call that failed before an unplanned one', async () => {
    const registry = await scripted('rules: [{ answers: [{ tools: [{ name: look, input: { wehre: x } }] }] }]');
    const { result } = await runAgent({ registry, prompt: 'Look.' });
    expect(errorOf(result).message).toMatch(/asked: Look\.\n {2}after look failed: .*\n {2}nearest rule/);
  });

  it('fails a call more than it has answers for', async () => {
    const registry = await scripted('rules: [{ once: true, answer: x }]');
    await runAgent({ registry });
    const { result } = await runAgent({ registry, path: 'again' });
    expect(errorOf(result).message).toContain('its 1 answer is used up');
  });

  it('reports at the end what was not used', async () => {
    const registry = await scripted(`
rules:
  - { agent: reviewer, answers: [a, b] }
  - { step: never, answer: c }
  - { step: perhaps, optional: true, answer: d }
`);
    await runAgent({ registry });
    const error = await rejected(() => registry.finish());
    expect(error.code).toBe('SKEIN_SCRIPT');
    expect(error.message).toContain('rule 1 (line 3, agent reviewer) gave 1 of 2 answers in step review');
    expect(error.message).toContain('rule 2 (line 4, step never) was never used');
    expect(error.message).not.toContain('rule 3');
  });

  it('can be made lenient: unplanned calls are echoed, unused rules are fine', async () => {
    const registry = await scripted('strict: false\nrules: [{ step: never, answer: x }]');
    expect(outputOf((await runAgent({ registry, prompt: 'Say this.' })).result)).toBe('Say this.');
    const below = '--- Prior Step Outputs ---\n\n[gen (agent: A)]:\nx\n\n--- End Prior Step Outputs ---\n\nGo on.';
    expect(outputOf((await runAgent({ registry, prompt: below })).result)).toBe('Go on.');
    await registry.finish();
  });

  it('works as script/FILE in a list of models', async () => {
    await writeFile(join(folder, 'named.yaml'), 'rules: [{ answer: from the file }]');
    const registry = createModelRegistry({ env: {}, cwd: folder });
    const { result } = await runAgent({ registry, spec: { models: ['script/named.yaml'] } });
    expect(outputOf(result)).toBe('from the file');
  });
});

describe('a script file with mistakes', () => {
  it('shows all of them at once, with line, column and a hint', async () => {
    const text = `strickt: true
rules:
  - stp: review
    answer: x
  - agent: a
  - answers:
      - text: [1]
      - error: { code: SKEIN_MODEL_FAILD }
      - { delay: soon, text: x }
      - { times: 0, text: x }
answers:
  - question: only
`;
    const error = await rejected(() => readScript(text, 'bad.yaml'));
    expect(error.code).toBe('SKEIN_DEFINITION');
    const lines = error.message.split('\n').filter((line) => line.startsWith('bad.yaml:'));
    expect(lines.map((line) => line.split(' ')[0])).toEqual([
      'bad.yaml:1:1:',
      'bad.yaml:3:5:',
      'bad.yaml:5:5:',
      'bad.yaml:7:15:',
      'bad.yaml:7:9:',
      'bad.yaml:8:24:',
      'bad.yaml:9:18:',
      'bad.yaml:10:18:',
      'bad.yaml:12:5:',
    ]);
    expect(error.message).toContain('did you mean "strict"?');
    expect(error.message).toContain('did you mean "step"?');
    expect(error.message).toContain('did you mean "SKEIN_MODEL_FAILED"?');
  });

  it.each([
    ['""', '""'],
    ['Commit', '"Commit"'],
  ])('does not take the phase %s for no phase', async (written, shown) => {
    const error = await rejected(() => readScript(`rules:\n  - { phase: ${written}, answer: x }\n`, 'a.yaml'));
    expect(error.message).toContain(
      `a.yaml:2:14: error unknown-value: phase of rule 1 must be commit, post, supervise, screen, review, not ${shown}`,
    );
  });

  it('is refused when it is no YAML, no map, or missing', async () => {
    expect((await rejected(() => readScript('rules: [', 'a.yaml'))).message).toContain('yaml-syntax');
    expect((await rejected(() => readScript('- a', 'a.yaml'))).message).toContain('a script must be a map');
    expect((await rejected(() => readScript('', 'a.yaml'))).message).toContain('a script must be a map');
    const registry = createModelRegistry({ env: {}, script: 'none.yaml', cwd: folder });
    expect(errorOf((await runAgent({ registry })).result).code).toBe('SKEIN_FILE');
  });

  it('has no aliases, so no bomb of them', async () => {
    const text = 'rules: [{ answer: { json: &a [x] } }, { answer: { json: [*a, *a] } }]';
    const error = await rejected(() => readScript(text, 'alias.yaml'));
    expect(error.message).toContain('alias.yaml:1:58: error yaml-alias');
  });

  it('is refused when it is nested 100,000 deep', async () => {
    const error = await rejected(() => readScript('['.repeat(100_000), 'deep.yaml'));
    expect(error.code).toBe('SKEIN_DEFINITION');
  });
});
