import { describe, expect, it } from 'vitest';
import { packText } from './support/packs.js';
import { served } from './support/served.js';
import { makeProject } from './support/skein.js';

const FLOW = `name: t
inputs: { notes: { description: Notes } }
agents: { a: { inline: { prompt: p, tools: [] } } }
steps: [{ id: s, agent: a, prompt: "Say {{inputs.notes}}" }]
`;
const STATES = { open: { prompt_task: 'open', on_event: { done: 'end' } }, end: { prompt_task: 'end' } };
const FILES = { 'flow.yaml': FLOW, 'desk.pack.json': packText({ open: 'Hello.', end: 'Bye.' }, STATES) };
const NOTE = 'is untrusted: others may have written what comes from standard input';

describe('the note that standard input is untrusted', () => {
  it.each([
    ['no message', ['run', 'desk.pack.json', '--mock'], '', 'error SKEIN_USAGE: no message'],
    ['an empty message', ['run', 'desk.pack.json', '--mock', '--message', '-'], '\n', 'a message is empty'],
    ['no prices', ['run', 'flow.yaml', '--mock', '--input-file', 'notes=-', '--prices', 'none.yaml'], 'x', 'none.yaml'],
    ['no event', ['event', 'ada', 'none', '--message', '-'], 'Hello', 'event "none" not defined'],
  ])('is left out before an error that makes it moot: %s', async (_, words, input, error) => {
    const cwd = await makeProject(FILES);
    await served(['run', 'desk.pack.json', '--mock', '--message', 'Hi', '--thread', 'ada'], { cwd });
    const end = await served(words, { cwd, input });
    expect(end.code).not.toBe(0);
    expect(end.stderr).toContain(error);
    expect(end.stderr).not.toContain(NOTE);
  });

  it.each([
    ['run', ['run', 'flow.yaml', '--mock', '--input-file', 'notes=-']],
    ['a message', ['run', 'desk.pack.json', '--mock']],
    ['an event', ['event', 'ada', 'done', '--message', '-']],
  ])('is printed once where the text is used: %s', async (_, words) => {
    const cwd = await makeProject(FILES);
    await served(['run', 'desk.pack.json', '--mock', '--message', 'Hi', '--thread', 'ada'], { cwd });
    const end = await served(words, { cwd, input: 'One\nTwo\n' });
    expect(end.stderr.split(NOTE)).toHaveLength(2);
    const quiet = await served([...words, '--quiet'], { cwd, input: 'One\n' });
    expect(quiet.stderr).not.toContain(NOTE);
  });
});
