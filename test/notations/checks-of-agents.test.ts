import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runWorkflow } from 'skein';
import type { SkeinEvent } from 'skein';
import { loadWorkflow } from 'skein/yaml';
import { ownModels } from '../graph/support-agents.js';
import { makeProject } from './project.js';

/** One agent, `w`, that is asked once, with a key of its own; in each notation that has agents. */
const NOTATIONS: Readonly<Record<string, (checks: string) => Readonly<Record<string, string>>>> = {
  'an inline agent of a DAG workflow': (checks) => ({
    'flow.yaml': `name: t\nagents: { w: { inline: { prompt: You write., tools: [], checks: ${checks} } } }\nsteps: [{ id: s, agent: w, prompt: Go. }]\n`,
  }),
  'an agent file': (checks) => ({
    'w.agent.md': `---\nname: w\ntools: []\nchecks: ${checks}\n---\nYou write.\n`,
    'flow.yaml': 'name: t\nagents: { w: { file: w.agent.md } }\nsteps: [{ id: s, agent: w, prompt: Go. }]\n',
  }),
  'a pipeline': (checks) => ({
    'flow.yaml': `agents: { w: { instruction: You write., checks: ${checks} } }\nworkflow: [{ type: agent, id: s, name: w, prompt: Go. }]\n`,
  }),
};

async function loaded(files: Readonly<Record<string, string>>) {
  const cwd = await makeProject({});
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
  return await loadWorkflow('flow.yaml', { cwd });
}

/** Runs it with answers of the model in their order; what it was asked last, and what was warned of. */
async function run(files: Readonly<Record<string, string>>, answers: readonly string[]) {
  const workflow = await loaded(files);
  expect(workflow.problems).toEqual([]);
  const left = [...answers];
  const { models, requests } = ownModels({ m: () => left.shift() ?? 'nothing is left' });
  const events: SkeinEvent[] = [];
  const { result } = await runWorkflow(workflow, {
    audit: false,
    models: { ...models, override: 'own/m' },
    listeners: [(event) => events.push(event)],
  });
  const { outcome, error } = await result;
  const warnings = events.flatMap((event) =>
    event.type === 'step.note' && event.note.kind === 'warning' ? [event.note.message] : [],
  );
  return { outcome, error, warnings, asked: requests.length, last: requests.at(-1)?.messages.at(-1) };
}

/** A check, an answer that does not pass, one that does. */
const KINDS: readonly (readonly [check: string, wrong: string, right: string])[] = [
  ['{ kind: banned_words, words: [lamp] }', 'A Lamp.', 'Lamps.'],
  ['{ kind: max_length, characters: 4 }', 'Looms', 'Loom'],
  ['{ kind: min_length, characters: 5 }', 'Loom', 'Looms'],
  ['{ kind: max_sentences, sentences: 1 }', 'One. Two.', 'One.'],
  ['{ kind: required_fields, fields: [sum] }', '{"total": 1}', '{"sum": 1}'],
  ['{ kind: pattern, pattern: "^ok" }', 'OK', 'ok'],
  ['{ kind: pattern, pattern: "^ok", ignore_case: true, matches: false }', 'OK', 'fine'],
  ['{ kind: json }', 'no', '[]'],
];

describe.each(Object.entries(NOTATIONS))('[44] checks of %s', (_, files) => {
  it.each(KINDS)('%s: an answer may be corrected once, then the step fails', async (check, wrong, right) => {
    const corrected = await run(files(`[${check}]`), [wrong, right]);
    expect(corrected).toMatchObject({ outcome: 'succeeded', asked: 2 });
    const failed = await run(files(`[${check}]`), [wrong, wrong]);
    expect(failed).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_CHECK' }, asked: 2 });
  });

  it('one may warn, has a message, and may be asked of what the agent is asked', async () => {
    const long = '{ kind: max_length, characters: 2, message: Too long., on_violation: warn }';
    expect(await run(files(`[${long}]`), ['Looms'])).toMatchObject({
      outcome: 'succeeded',
      asked: 1,
      warnings: ['Too long.'],
    });
    const asked = '{ kind: banned_words, words: [go], direction: input, message: Not that. }';
    expect(await run(files(`[${asked}]`), [])).toMatchObject({
      outcome: 'failed',
      asked: 0,
      error: { code: 'SKEIN_CHECK', message: 'Not that.' },
    });
  });

  it.each([
    ['{ max_length: 5 }', 'must be a list'],
    ['[{ characters: 5 }]', 'needs a kind'],
    ['[{ kind: max_lenght, characters: 5 }]', 'there is no check "max_lenght"'],
    ['[{ kind: max_length }]', 'check max_length of'],
    ['[{ kind: max_length, characters: 0 }]', 'from 1 to'],
    ['[{ kind: json, words: [a] }]', 'unknown key "words" in check json'],
    ['[{ kind: banned_words, words: [] }]', 'needs words'],
    ['[{ kind: banned_words, words: [" "] }]', 'has no words'],
    ['[{ kind: pattern, pattern: "(" }]', "a pattern that can't be used"],
    ['[{ kind: pattern, pattern: a, direction: out }]', 'must be output, input, both'],
  ])('[bad input] %s: a problem with its place', async (checks, said) => {
    const { problems } = await loaded(files(checks));
    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining(said)]);
    expect(problems[0]?.at?.line).toBeGreaterThan(0);
  });
});
