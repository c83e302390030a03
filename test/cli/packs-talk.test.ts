import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packText } from './support/packs.js';
import { served } from './support/served.js';
import { makeProject, startSkein } from './support/skein.js';
import type { Ended } from './support/skein.js';

const PROMPTS = {
  intake: {
    system_template: 'You are the desk of {{company}}.',
    variables: [{ name: 'company', type: 'string', required: true }],
  },
  orders: { system_template: 'Look it up for {{company}}: {{workflow_context}}', tools: ['lookup'] },
  bye: 'Say goodbye.',
};
const TOOLS = {
  lookup: {
    name: 'lookup',
    description: 'looks an order up',
    parameters: { type: 'object', properties: { id: { type: 'string' } } },
  },
};
const STATES = {
  intake: { prompt_task: 'intake', on_event: { Ask: 'orders' } },
  orders: { prompt_task: 'orders', orchestration: 'hybrid', on_event: { Done: 'bye', Back: 'intake' }, max_visits: 2 },
  bye: { prompt_task: 'bye', terminal: true },
};
const PACK = packText(PROMPTS, STATES, { tools: TOOLS }).replace(
  '"version": 2,',
  '"version": 2, "engine": { "budget": { "max_total_visits": 5 } },',
);

const go = (event: string, text = ''): string =>
  `{ text: "${text}", tools: [{ name: workflow__transition, input: { event: ${event}, context: order 7 } }] }`;
const SCRIPT = `
tools:
  - { tool: lookup, input: { id: "7" }, result: { status: shipped } }
rules:
  - { agent: intake, prompt: Where, answers: [${go('Ask', 'I look.')}] }
  - { agent: orders, answers: [{ text: "", tools: [{ name: lookup, input: { id: "7" } }] }, It is shipped.], optional: true }
  - { agent: orders, prompt: Thanks, answers: [${go('Done')}], optional: true }
  - { agent: intake, answer: How can I help?, optional: true }
  - { agent: bye, answer: Goodbye., optional: true }
`;
const FILES = { 'desk.pack.json': PACK, 'script.yaml': SCRIPT };
const RUN = ['run', 'desk.pack.json', '--mock=script.yaml'];
const ACME = ['--input', 'company=Acme'];

async function project(more: Readonly<Record<string, string>> = {}): Promise<(...args: string[]) => Promise<Ended>> {
  const cwd = await makeProject({ ...FILES, ...more });
  return (...args) => served(args, { cwd });
}

describe('skein run of a pack', () => {
  it('[issue 7] says what the messages say, tells state, events, visits and budget, and what to do next: exit 5', async () => {
    const skein = await project();
    const { code, stdout, stderr } = await skein(...RUN, ...ACME, '--message', 'Where is 7?', '--thread', 'ada');
    expect({ code, stdout }).toEqual({ code: 5, stdout: 'It is shipped.\n' });
    expect(stderr.trim().split('\n').slice(-7)).toEqual([
      '[intake] I look.',
      'intake -> orders (Ask)',
      'orders · events: Back, Done · visit 1 of 2 · budget: 2 of 5 visits',
      'next: say something more, or give the event yourself',
      '  skein run desk.pack.json --mock=script.yaml --thread ada --message TEXT',
      '  skein event ada Back',
      '  skein event ada Done',
    ]);
  });

  it('[issue 7] several messages are said one after the other; a terminal state ends it: exit 0', async () => {
    const skein = await project();
    const { code, stdout, stderr } = await skein(
      ...RUN,
      ...ACME,
      '--message',
      'Where is 7?',
      '--message',
      'Thanks',
      '--message',
      'too late',
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'It is shipped.\nGoodbye.\n' });
    expect(stderr).toContain('bye · the conversation is over · budget: 3 of 5 visits');
    expect(stderr).not.toContain('next:');
  });

  it('[issue 7] a later command continues the thread with its variables; a finished one is refused', async () => {
    const skein = await project();
    await skein(...RUN, ...ACME, '--message', 'Hello', '--thread', 'ada');
    const second = await skein(...RUN, '--message', 'Where is 7?', '--thread', 'ada');
    expect(second).toMatchObject({ code: 5, stdout: 'It is shipped.\n' });
    expect((await skein('event', 'ada', 'Done')).code).toBe(0);
    const late = await skein(...RUN, '--message', 'More', '--thread', 'ada');
    expect(late).toMatchObject({ code: 2, stdout: '' });
    expect(late.stderr).toContain('error SKEIN_TERMINAL_STATE: workflow is in terminal state');
  });

  it('lines of a pipe are messages, - is stdin as a whole, and without any the usage is wrong', async () => {
    const cwd = await makeProject(FILES);
    const lines = await served(['run', 'desk.pack.json', '--mock', ...ACME], { cwd, input: 'one\n\ntwo\n' });
    expect(lines).toMatchObject({ code: 5, stdout: 'one\ntwo\n' });
    const whole = await served(['run', 'desk.pack.json', '--mock', ...ACME, '--message', '-'], {
      cwd,
      input: 'one\ntwo\n',
    });
    expect(whole).toMatchObject({ code: 5, stdout: 'one\ntwo\n' });
    const nothing = await served(['run', 'desk.pack.json', '--mock', ...ACME], { cwd });
    expect(nothing.code).toBe(1);
    expect(nothing.stderr).toContain('hint: give --message TEXT, or lines on stdin');
  });

  it('[issue 7] --state and --context begin elsewhere, once; --prompt talks with one prompt', async () => {
    const skein = await project();
    const begun = await skein(...RUN, ...ACME, '--state', 'orders', '--message', 'Where is 7?', '--thread', 'ada');
    expect(begun).toMatchObject({ code: 5, stdout: 'It is shipped.\n' });
    const again = await skein(...RUN, '--state', 'orders', '--message', 'Hi', '--thread', 'ada');
    expect(again.code).toBe(1);
    expect(again.stderr).toContain('the conversation ada has begun already');
    const unknown = await skein(...RUN, ...ACME, '--state', 'order', '--message', 'Hi');
    expect(unknown.code).toBe(1);
    expect(unknown.stderr).toContain('did you mean "orders"?');
    const context = await skein('context', 'ada');
    const next = await project({ 'context.json': context.stdout });
    const moved = await next(...RUN, ...ACME, '--context', 'context.json', '--message', 'Thanks');
    expect(moved).toMatchObject({ code: 5, stdout: 'It is shipped.\n' });
    expect(moved.stderr).toContain('orders · events: Back, Done');
    const alone = await skein(...RUN, '--prompt', 'bye', '--message', 'Hi');
    expect(alone).toMatchObject({ code: 5, stdout: 'Goodbye.\n' });
  });

  it('[issue 6] functions of --tools carry the tools out; without them nothing runs', async () => {
    const module = `export function lookup({ id }) { return { id, status: 'lost' }; }\n`;
    const script = SCRIPT.replace('It is shipped.', '{ text: It is lost. }');
    const skein = await project({ 'tools.mjs': module, 'script.yaml': script });
    const missing = await skein('run', 'desk.pack.json', '--model', 'openai/x', ...ACME, '--message', 'Hi');
    expect(missing).toMatchObject({ code: 2, stdout: '' });
    expect(missing.stderr).toContain('error no-function: the tool "lookup" of the prompt "orders" has no function');
    const { code, stdout } = await skein(
      ...RUN,
      ...ACME,
      '--message',
      'Where is 7?',
      '--tools',
      'tools.mjs',
      '--thread',
      'ada',
    );
    expect({ code, stdout }).toEqual({ code: 5, stdout: 'It is lost.\n' });
    const shown = await skein('threads', '--json');
    expect(shown.code).toBe(0);
    expect((await skein('thread', 'ada', '--json')).stdout).toContain(String.raw`{\"id\":\"7\",\"status\":\"lost\"}`);
  });

  it.each([
    [['--tools', 'gone.mjs'], 2, 'the module with the tools does not exist: gone.mjs'],
    [['--tools', 'empty.mjs'], 1, 'empty.mjs exports no function'],
    [['--tools', 'throws.mjs'], 2, 'throws.mjs:1'],
    [['--tools', '.'], 2, '. is not a module with tools'],
    [['--tools', 'script.yaml'], 2, 'script.yaml is not a module with tools'],
    [['--context', 'gone.json'], 2, "the context gone.json can't be read"],
    [['--context', 'script.yaml'], 2, "the context script.yaml can't be read"],
    [['--prompt', 'oders'], 1, 'did you mean "orders"?'],
    [['--prompt', 'bye', '--state', 'intake'], 1, 'begins by one flag alone, not by --prompt and --state'],
    [['--message', ' '], 2, 'a message is empty'],
    [['--input', 'compny=x'], 2, 'no prompt has the variable "compny"; did you mean "company"?'],
  ])('[bad input] %j is refused before anything runs', async (flags, code, said) => {
    const cwd = await makeProject({
      ...FILES,
      'empty.mjs': 'export const x = 1;\n',
      'throws.mjs': 'throw new Error("no");\n',
    });
    const end = await served([...RUN, ...ACME, '--message', 'Hi', ...flags], { cwd });
    expect(end).toMatchObject({ code, stdout: '' });
    expect(end.stderr).toContain(said);
    expect(existsSync(join(cwd, '.skein'))).toBe(false);
  });

  it.each([
    ['--message', 'x'],
    ['--state', 'x'],
    ['--prompt', 'x'],
    ['--context', 'x'],
  ])('%s is refused for a workflow that is no pack', async (flag, value) => {
    const skein = await project({
      'flow.yaml':
        'name: a\nagents: { w: { inline: { prompt: You write. } } }\nsteps: [{ id: a, agent: w, prompt: hi }]\n',
    });
    const { code, stderr } = await skein('run', 'flow.yaml', '--mock', flag, value);
    expect(code).toBe(1);
    expect(stderr).toContain(`${flag} is for packs; flow.yaml is not a pack`);
  });

  it('a variable that several prompts need is named once, and a script need not be used up by a conversation that begins elsewhere', async () => {
    const skein = await project();
    const missing = await skein(...RUN, '--message', 'Hi');
    expect(missing.code).toBe(2);
    expect(missing.stderr.match(/the variable "company" is missing/g)).toHaveLength(1);
    const begun = ['--state', 'bye', '--message', 'Hi'];
    const rules = SCRIPT.replaceAll(', optional: true', '');
    const strict = await project({ 'script.yaml': rules });
    expect(await strict(...RUN, ...ACME, ...begun)).toMatchObject({ code: 0, stdout: 'Goodbye.\n' });
  });

  it('[A13] packs without a workflow talk, and exec says its prompt', async () => {
    const skein = await project({
      'one.pack.json': packText({ chat: 'Talk.' }),
      'two.pack.json': packText({ chat: 'Talk.', other: 'Listen.' }),
    });
    expect(await skein('exec', 'one.pack.json', 'Hello', '--mock')).toMatchObject({ code: 5, stdout: 'Hello\n' });
    const many = await skein('run', 'two.pack.json', '--mock', '--message', 'Hi');
    expect(many.code).toBe(1);
    expect(many.stderr).toContain('name one of its prompts: chat, other');
    expect(await skein('run', 'two.pack.json', '--mock', '--message', 'Hi', '--prompt', 'other')).toMatchObject({
      code: 5,
      stdout: 'Hi\n',
    });
  });

  it('[issue 7] a bound ends it: exit 6, and further turns are refused with the same error', async () => {
    const loop = `rules: [{ agent: intake, answers: [${go('Ask')}], repeat: true }, { agent: orders, answers: [${go('Back')}], repeat: true }]\n`;
    const skein = await project({ 'script.yaml': loop });
    const { code, stderr } = await skein(...RUN, ...ACME, '--message', 'Go', '--thread', 'ada');
    expect(code).toBe(6);
    expect(stderr).toContain('workflow budget exhausted: max_total_visits 5 reached limit 5');
    const again = await skein(...RUN, '--message', 'Go', '--thread', 'ada');
    expect(again.code).toBe(6);
    expect(again.stderr).toContain('workflow budget exhausted: max_total_visits 5 reached limit 5');
  });

  it('[issue 7] a call that waits for a person: exit 5, the answer and the resume go on', async () => {
    const module = `export const approve = { lookup: ({ id }) => id === '7' };\nexport const lookup = () => 'shipped';\n`;
    const skein = await project({ 'tools.mjs': module });
    const { code, stdout, stderr } = await skein(
      ...RUN,
      ...ACME,
      '--message',
      'Where is 7?',
      '--tools',
      'tools.mjs',
      '--thread',
      'ada',
    );
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
    const [, run = ''] = /skein answer (\S+)/.exec(stderr) ?? [];
    expect(stderr).toContain(`next: continue when there are answers\n  skein resume ${run} --trust\n`);
    const busy = await skein(...RUN, '--message', 'Hello?', '--thread', 'ada', '--on-busy', 'refuse');
    expect(busy.code).not.toBe(0);
    const [, name = ''] = /skein answer \S+ (\S+)/.exec(stderr) ?? [];
    expect((await skein('answer', run, name, 'allow')).code).toBe(0);
    const resumed = await skein('resume', run);
    expect(resumed).toMatchObject({ code: 0, stdout: 'It is shipped.\n' });
    expect((await skein('event', 'ada', 'Done')).code).toBe(0);
  });

  it('--json is one document about the conversation', async () => {
    const skein = await project();
    const { code, stdout } = await skein(
      ...RUN,
      ...ACME,
      '--message',
      'Where is 7?',
      '--message',
      'Thanks',
      '--json',
      '--thread',
      'ada',
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      thread: 'ada',
      state: 'bye',
      complete: true,
      exitCode: 0,
      turns: [
        { outcome: 'succeeded', text: 'It is shipped.', state: 'orders', said: [{ state: 'intake', text: 'I look.' }] },
        {
          outcome: 'succeeded',
          text: 'Goodbye.',
          state: 'bye',
          transitions: [{ from: 'orders', to: 'bye', event: 'Done' }],
        },
      ],
    });
  });

  it('a turn that failed does not count: exit 3, and the thread is where it was', async () => {
    const failing = `rules: [{ agent: intake, answers: [{ error: { status: 401, message: no } }, Hello.], once: true, optional: true }]\n`;
    const skein = await project({ 'script.yaml': failing });
    const { code, stderr } = await skein(...RUN, ...ACME, '--message', 'Hi', '--message', 'again', '--thread', 'ada');
    expect(code).toBe(3);
    expect(stderr).toContain('the turn does not count: the conversation ada is where it was');
  });

  it('--no-store keeps nothing, and names no next command', async () => {
    const cwd = await makeProject(FILES);
    const { code, stdout, stderr } = await served(
      [...RUN, ...ACME, '--no-store', '--message', 'Where is 7?', '--message', 'Thanks'],
      { cwd },
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'It is shipped.\nGoodbye.\n' });
    expect(stderr).not.toContain('--thread');
    const module = 'export const approve = { lookup: true };\nexport const lookup = () => 1;\n';
    const asking = await (
      await project({ 'tools.mjs': module })
    )(...RUN, ...ACME, '--tools', 'tools.mjs', '--no-store', '--verbose', '--message', 'Where is 7?');
    expect(asking.code).toBe(5);
    expect(asking.stderr).toContain('asks: May the agent "orders" call lookup?');
    expect(asking.stderr).toContain('next: run it on a terminal to answer');
    expect(asking.stderr).not.toMatch(/recorded as|skein answer|skein resume|--thread/);
    expect(existsSync(join(cwd, '.skein'))).toBe(false);
  });

  it('Ctrl-C in the middle of a turn closes it as cancelled: exit 130', async () => {
    const slow = 'rules: [{ agent: intake, answer: { text: Late., delay: 600 } }]\n';
    const cwd = await makeProject({ ...FILES, 'script.yaml': slow });
    const running = startSkein([...RUN, ...ACME, '--message', 'Hi', '--thread', 'ada', '--verbose'], { cwd });
    await running.seen('state.intake');
    running.child.kill('SIGINT');
    const { code, stderr } = await running.ended;
    expect(code).toBe(130);
    expect(stderr).toContain('the conversation ada is where it was');
  });
});

describe('skein event and skein context', () => {
  it('[A6] an event from outside: with a message the destination speaks, context and data go along', async () => {
    const skein = await project();
    await skein(...RUN, ...ACME, '--message', 'Hello', '--thread', 'ada');
    const fired = await skein(
      'event',
      'ada',
      'Ask',
      '--message',
      'Where is 7?',
      '--context',
      'urgent',
      '--data',
      '{"ticket":7}',
    );
    expect(fired).toMatchObject({ code: 5, stdout: 'It is shipped.\n' });
    expect(fired.stderr).toContain('intake -> orders (Ask)');
    const quiet = await skein('event', 'ada', 'Back');
    expect(quiet).toMatchObject({ code: 5, stdout: '' });
    const { history } = JSON.parse((await skein('context', 'ada')).stdout) as { history: readonly { event: string }[] };
    expect(history.map(({ event }) => event)).toEqual(['Ask', 'Back']);
  });

  it('takes the object of an event from stdin, as data of others, and not the message too', async () => {
    const cwd = await makeProject(FILES);
    await served([...RUN, ...ACME, '--message', 'Hello', '--thread', 'ada'], { cwd });
    const both = await served(['event', 'ada', 'Ask', '--message', '-', '--data', '-'], { cwd, input: '{}' });
    expect(both.stderr).toContain('stdin can be only one of --message and --data');
    const fired = await served(['event', 'ada', 'Ask', '--data', '-'], { cwd, input: '{ "ticket": 7 }\n' });
    expect(fired.code).toBe(5);
    expect(fired.stderr).toContain('--data TEXT says that it is yours');
  });

  it.each([
    [['ada', 'Nope'], 2, 'event "Nope" not defined for state "intake" (available: [Ask])'],
    [['adaa', 'Ask'], 2, 'did you mean "ada"?'],
    [['ada', 'Ask', '--data', '[1]'], 1, '--data takes a JSON object'],
    [['ada'], 1, "missing required argument 'event'"],
  ])('[bad input] event %j is refused, and nothing runs', async (args, code, said) => {
    const skein = await project();
    await skein(...RUN, ...ACME, '--message', 'Hello', '--thread', 'ada');
    const end = await skein('event', ...args);
    expect(end).toMatchObject({ code, stdout: '' });
    expect(end.stderr).toContain(said);
    expect((await skein('thread', 'ada')).stdout).toContain('ada of desk: 1 turn\n');
  });

  it('[decision 10] the context of a thread in a transient state is that of the last persistent one; --now is the present one', async () => {
    const states = { ...STATES, orders: { ...STATES.orders, persistence: 'transient' } };
    const skein = await project({ 'desk.pack.json': packText(PROMPTS, states, { tools: TOOLS }) });
    await skein(...RUN, ...ACME, '--message', 'Where is 7?', '--thread', 'ada');
    const stored = JSON.parse((await skein('context', 'ada')).stdout) as { current_state: string };
    const now = JSON.parse((await skein('context', 'ada', '--now')).stdout) as { current_state: string };
    expect([stored.current_state, now.current_state]).toEqual(['intake', 'orders']);
  });

  it('a state that handed over succeeded, also in the record', async () => {
    const skein = await project();
    await skein(...RUN, ...ACME, '--message', 'Where is 7?', '--thread', 'ada');
    const { stdout } = await skein('show', '-1');
    expect(stdout).toMatch(/state\.intake +succeeded/);
    expect(stdout).not.toContain('cancelled');
  });

  it('skein thread tells what was said and where it went', async () => {
    const skein = await project();
    await skein(...RUN, ...ACME, '--message', 'Where is 7?', '--thread', 'ada');
    const { stdout } = await skein('thread', 'ada');
    expect(stdout).toContain('> message: Where is 7?\n');
    expect(stdout).toContain('went: intake -> orders (Ask)\n');
    expect(stdout).toContain('said: It is shipped.\n');
    expect(stdout).not.toMatch(/position|null/);
  });
});
