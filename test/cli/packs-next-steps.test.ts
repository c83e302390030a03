import { describe, expect, it } from 'vitest';
import { packText } from './support/packs.js';
import { pasted } from './support/pasted.js';
import { served } from './support/served.js';
import { makeProject } from './support/skein.js';

const PACK = packText(
  {
    talk: {
      system_template: 'Talk for {{company}}.',
      variables: [{ name: 'company', type: 'string', required: true }],
    },
    bye: 'Part. {{artifacts.note}}',
  },
  { talk: { prompt_task: 'talk', on_event: { Done: 'bye' } }, bye: { prompt_task: 'bye', terminal: true } },
);
const go = '{ text: "", tools: [{ name: workflow__transition, input: { event: Done, context: "" } }] }';
const SCRIPT = `
rules:
  - { agent: talk, prompt: End, answers: [${go}], optional: true }
  - { agent: talk, prompt: Hi, answer: Good day., optional: true }
  - { agent: bye, answer: Goodbye., optional: true }
`;
const RUN = ['run', 'desk.pack.json', '--mock=script.yaml', '--thread', "it's me"];
const ACME = ['--input', 'company=A & B'];

const project = async (): Promise<string> =>
  await makeProject({ 'desk.pack.json': PACK, 'script.yaml': SCRIPT, 'list.json': '[]', 'none.json': '{}' });

describe.skipIf(process.platform === 'win32')('what a conversation with a pack says to do next', () => {
  it('repeats the values of a first turn that failed: nothing has kept them', async () => {
    const cwd = await project();
    const { stderr } = await served([...RUN, ...ACME, '--message', 'What?'], { cwd });
    expect(stderr).toContain('error SKEIN_SCRIPT: ');
    const [, command = ''] = /^ {2}(skein run .*)$/m.exec(stderr) ?? [];
    // An event takes no values.
    expect(stderr).not.toContain('skein event');
    expect(await pasted(command.replace('TEXT', 'End'), cwd)).toContain('Goodbye.');
  });

  it('leaves them out once a turn has kept them', async () => {
    const cwd = await project();
    const next = await served([...RUN, ...ACME, '--message', 'Hi'], { cwd });
    expect(next).toMatchObject({ code: 5, stdout: 'Good day.\n' });
    expect(next.stderr).not.toContain('--input');
    expect(next.stderr).toContain('skein event');
    // Nothing has set the artifact that a prompt shows.
    const { stdout } = await served(['thread', "it's me"], { cwd });
    expect(stdout).toContain('  said: Good day.');
    expect(stdout).not.toContain('artifacts');
  });

  it('raises a budget that was used up, and where a resumed turn leaves the conversation', async () => {
    const cwd = await project();
    const { code, stderr } = await served([...RUN, ...ACME, '--message', 'End', '--budget', '1-call'], { cwd });
    expect(code).toBe(6);
    const [, command = ''] = /next: continue where it stopped\n {2}(skein resume .*)\n/.exec(stderr) ?? [];
    const said = await pasted(command, cwd);
    expect(said).toContain('Goodbye.');
    expect(said).toContain('bye · the conversation is over');
  });

  it('continues after a turn that was resumed', async () => {
    const cwd = await project();
    await served([...RUN, ...ACME, '--message', 'Hi'], { cwd });
    const { code, stderr } = await served(['resume', '-1'], { cwd });
    expect(code).toBe(0);
    expect(stderr).toMatch(/talk · events: Done\nnext: say something more.*\n {2}skein run desk\.pack\.json --mock/);
  });

  it('tells the warnings about a pack once, and then how many there are', async () => {
    const cwd = await project();
    const first = await served([...RUN, ...ACME, '--message', 'Hi'], { cwd });
    expect(first.stderr).toContain('warning undeclared-artifact');
    expect(first.stderr).toContain('hint: add note to the artifacts of the state');
    const second = await served([...RUN, '--message', 'Hi'], { cwd });
    expect(second.stderr).not.toContain('undeclared-artifact');
    expect(second.stderr).toMatch(/^1 warning about desk\.pack\.json: skein validate desk\.pack\.json shows them$/m);
  });
});

it.each([
  ['list.json', 'list.json: not the context of a state machine: must be an object, not a list'],
  ['none.json', 'none.json: not the context of a state machine: current_state is missing'],
])('a context that is not one: names the file %s, and the command that prints one', async (file, message) => {
  const { code, stderr } = await served([...RUN, ...ACME, '--message', 'Hi', '--context', file], {
    cwd: await project(),
  });
  expect(code).toBe(2);
  expect(stderr).toContain(`error SKEIN_CONTEXT: ${message}`);
  expect(stderr).toContain('hint: --context takes a JSON file, such as skein context THREAD prints');
});
