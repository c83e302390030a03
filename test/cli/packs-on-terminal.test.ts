import { describe, expect, it } from 'vitest';
import { packText } from './support/packs.js';
import { makeProject } from './support/skein.js';
import { noTerminal, screenOf, startOnTerminal } from './support/terminal.js';

const missing = noTerminal();
if (missing !== undefined) console.log(`conversations on a terminal are skipped: ${missing}`);

const PACK = packText(
  { talk: 'Talk.', bye: 'Say goodbye.' },
  { talk: { prompt_task: 'talk', on_event: { Done: 'bye' } }, bye: { prompt_task: 'bye', terminal: true } },
);
const SCRIPT = `
rules:
  - { agent: talk, prompt: slow, answer: { text: Too late., delay: 20 }, optional: true }
  - { agent: talk, prompt: Bye, answer: { tools: [{ name: workflow__transition, input: { event: Done, context: over } }] }, optional: true }
  - { agent: talk, prompt: Hello, answers: [Good day.], repeat: true, optional: true }
  - { agent: bye, answer: Goodbye., optional: true }
`;
const RUN = ['run', 'desk.pack.json', '--mock=script.yaml', '--thread', 'ada', '--no-color'];

const project = async (): Promise<string> => await makeProject({ 'desk.pack.json': PACK, 'script.yaml': SCRIPT });

describe.skipIf(missing !== undefined)('talking with a pack on a terminal', () => {
  it('[issue 7] lines are messages until a terminal state has spoken: exit 0', async () => {
    const running = startOnTerminal(RUN, { cwd: await project() });
    await running.seen('talk> ');
    running.child.stdin?.write('\nHello\n');
    await running.seen('Good day.');
    running.child.stdin?.write('Bye\n');
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    const screen = screenOf(stdout).join('\n');
    expect(screen).toContain('conversation ada; Ctrl-D leaves it');
    expect(screen).toContain('talk -> bye (Done)');
    expect(screen).toContain('Goodbye.');
    expect(screen).toContain('the conversation is over');
  });

  it.each([
    ['Ctrl-D', '\u0004'],
    ['Ctrl-C', '\u0003'],
  ])('[issue 7] %s at the prompt leaves: exit 0, and the next command is named', async (_, key) => {
    const running = startOnTerminal(RUN, { cwd: await project() });
    await running.seen('talk> ');
    running.child.stdin?.write('Hello\n');
    await running.seen('Good day.\r\ntalk · events: Done\r\ntalk> ');
    running.child.stdin?.write(key);
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    expect(screenOf(stdout).join('\n')).toContain(
      '  skein run desk.pack.json --mock=script.yaml --thread ada --message TEXT',
    );
  });

  it('[issue 7] Ctrl-C in the middle of a turn takes the turn back, and the person goes on', async () => {
    const running = startOnTerminal(RUN, { cwd: await project() });
    await running.seen('talk> ');
    running.child.stdin?.write('slow\n');
    await running.seen('state.talk');
    running.child.stdin?.write('\u0003');
    await running.seen('the conversation ada is where it was');
    running.child.stdin?.write('Hello\n');
    await running.seen('Good day.');
    running.child.stdin?.write('Bye\n');
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    expect(screenOf(stdout).join('\n')).toContain('Goodbye.');
  });
});
