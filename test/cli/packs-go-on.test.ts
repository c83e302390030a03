import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packText } from './support/packs.js';
import { served } from './support/served.js';
import { makeProject, startSkein } from './support/skein.js';
import type { Ended } from './support/skein.js';

const PAY = { name: 'pay', description: 'pays', parameters: { type: 'object', properties: {} } };
const PACK = packText(
  { ask: 'Ask.', pay: { system_template: 'Pay.', tools: ['pay'] }, thank: 'Thank.' },
  {
    ask: { prompt_task: 'ask', on_event: { Sure: 'pay' } },
    pay: { prompt_task: 'pay', on_event: { Paid: 'thank' } },
    thank: { prompt_task: 'thank', terminal: true },
  },
  { tools: { pay: PAY } },
);
const go = (event: string): string =>
  `{ text: "", tools: [{ name: workflow__transition, input: { event: ${event}, context: "" } }] }`;
/** The first message leads to a payment, the second ends it. */
const SCRIPT = `
rules:
  - { agent: ask, answers: [${go('Sure')}] }
  - { agent: pay, answers: [{ text: "", tools: [{ name: pay, input: {} }] }, It is paid., ${go('Paid')}] }
  - { agent: thank, answer: Thank you. }
`;
const FILES = {
  'desk.pack.json': PACK,
  'script.yaml': SCRIPT,
  'asking.mjs': 'export const approve = { pay: true };\nexport const pay = () => "paid";\n',
  'tools.mjs': 'export const pay = { name: "pay", inputSchema: {}, effect: "read", execute: () => "paid" };\n',
};
const RUN = ['run', 'desk.pack.json', '--mock=script.yaml'];

async function project(): Promise<(...args: string[]) => Promise<Ended>> {
  const cwd = await makeProject(FILES);
  return (...args) => served(args, { cwd });
}

/** Says one message, after which the second state asks a person. */
async function asked(skein: (...args: string[]) => Promise<Ended>, ...more: string[]) {
  const ended = await skein(...RUN, '--tools', 'asking.mjs', '--thread', 'ada', '--message', 'Yes.', ...more);
  const [, run = '', question = ''] = /skein answer (\S+) (\S+)/.exec(ended.stderr) ?? [];
  return { ...ended, run, question };
}

describe('a turn of a pack that waits for a person', () => {
  it('[issue 7] stands in the state that asks; the state before has succeeded, also in the record', async () => {
    const skein = await project();
    const { code, stderr, run } = await asked(skein);
    expect(code).toBe(5);
    expect(stderr).toContain('ask -> pay (Sure)\npay · events: Paid\n');
    const { stdout } = await skein('show', run);
    expect(stdout).toMatch(/state\.ask +succeeded/);
    expect(stdout).toMatch(/state\.pay +paused/);
  });

  it('[issue 7] goes on by a resume, which need not use up the script of the whole conversation', async () => {
    const skein = await project();
    const { run, question } = await asked(skein);
    await skein('answer', run, question, 'allow');
    const resumed = await skein('resume', run);
    expect(resumed).toMatchObject({ code: 0, stdout: 'It is paid.\n' });
    expect(resumed.stderr).not.toContain('SKEIN_SCRIPT');
    expect((await skein('thread', 'ada')).stdout).toContain('said: It is paid.');
    expect(await skein('event', 'ada', 'Paid')).toMatchObject({ code: 0, stdout: 'Thank you.\n' });
  });

  it('is shown by what it was given, and skein context says how it goes on', async () => {
    const skein = await project();
    await asked(skein);
    const { stdout } = await skein('thread', 'ada');
    expect(stdout).toContain('> message: Yes.\n');
    expect(stdout).not.toMatch(/null|variables/);
    const { code, stderr } = await skein('context', 'ada');
    expect(code).toBe(1);
    expect(stderr).toContain('hint: its first turn has not ended: skein thread ada shows what it waits for');
  });
});

describe('messages to a pack', () => {
  it('are counted when the conversation stops or ends before they are said', async () => {
    const skein = await project();
    const { stderr } = await asked(skein, '--message', 'And?', '--message', 'Well?');
    expect(stderr).toContain('warning: 2 messages were not said: the conversation stopped before');
    const all = ['--message', 'Yes.', '--message', 'Good.', '--message', 'More.'];
    const ended = await skein(...RUN, '--tools', 'tools.mjs', '--yes', ...all);
    expect(ended).toMatchObject({ code: 0, stdout: 'It is paid.\nThank you.\n' });
    expect(ended.stderr).toContain('warning: 1 message was not said: the conversation is over');
    const told = await skein(...RUN, '--tools', 'tools.mjs', '--yes', '--json', ...all);
    expect(JSON.parse(told.stdout)).toMatchObject({ complete: true, unsaid: 1 });
    const said = await skein(...RUN, '--tools', 'tools.mjs', '--yes', ...all.slice(0, 4));
    expect(said.stderr).not.toContain('not said');
  });

  it('[bad input] an empty one of an event is refused', async () => {
    const skein = await project();
    await skein(...RUN, '--tools', 'tools.mjs', '--yes', '--message', 'Yes.', '--thread', 'ada');
    const refused = await skein('event', 'ada', 'Paid', '--message', ' ');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('a message is empty');
  });
});

describe('the next command of a conversation', () => {
  it('has the flags by which the same models and tools answer: it works as it is printed', async () => {
    const skein = await project();
    const first = await skein(...RUN, '--tools', 'tools.mjs', '--yes', '--message', 'Yes.', '--thread', 'ada');
    const [, next = ''] = /next: .*\n {2}skein (.*)/.exec(first.stderr) ?? [];
    expect(next).toBe('run desk.pack.json --mock=script.yaml --tools tools.mjs --thread ada --message TEXT --trust');
    expect((await skein(...next.split(' '), '--yes')).code).toBe(5);
    const alone = await skein('run', 'desk.pack.json', '--mock', '--prompt', 'ask', '--message', 'Hi', '--thread', 'b');
    const [, more = ''] = /next: .*\n {2}skein (.*)/.exec(alone.stderr) ?? [];
    expect(more).toBe('run desk.pack.json --mock --prompt ask --thread b --message TEXT');
    expect(await skein(...more.split(' '))).toMatchObject({ code: 5, stdout: 'TEXT\n' });
  });
});

describe('two turns of a conversation at once', () => {
  it('[bad input] the second tells what it did itself, not what the first one did', async () => {
    const slow =
      'export const pay = { name: "pay", inputSchema: {}, effect: "read", execute: async () => {\n' +
      '  await new Promise((done) => setTimeout(done, 1500));\n  return "paid";\n} };\n';
    const cwd = await makeProject({ ...FILES, 'tools.mjs': slow });
    const say = (message: string, ...more: string[]) =>
      startSkein(
        [...RUN, '--tools', 'tools.mjs', '--yes', '--trust', '--thread', 'ada', '--message', message, ...more],
        { cwd },
      );
    const first = say('Yes.', '--verbose');
    await first.seen('state.pay');
    const ended = await Promise.all([first.ended, say('And?').ended]);
    expect(ended.map(({ code }) => code)).toEqual([5, 5]);
    const told = ended.map(({ stderr }) => stderr.includes('ask -> pay (Sure)'));
    expect(told).toEqual([true, false]);
  });
});

describe('a conversation that does not fit its pack', () => {
  it('[bad input] a state that the edited pack no longer has is named before anything runs, for a message as for an event', async () => {
    const cwd = await makeProject(FILES);
    const skein = (...args: string[]): Promise<Ended> => served(args, { cwd });
    await skein(...RUN, '--tools', 'tools.mjs', '--yes', '--message', 'Yes.', '--thread', 'ada');
    await writeFile(
      join(cwd, 'desk.pack.json'),
      PACK.replaceAll('"pay": {\n        "prompt_task"', '"paying": {\n        "prompt_task"').replace(
        '"Sure": "pay"',
        '"Sure": "paying"',
      ),
    );
    const turns = [
      [...RUN, '--tools', 'tools.mjs', '--message', 'Hi.', '--thread', 'ada'],
      ['event', 'ada', 'Paid'],
    ];
    for (const turn of turns) {
      const { code, stderr } = await skein(...turn);
      expect(code).toBe(2);
      expect(stderr).toContain('error SKEIN_CONTEXT: the context stands in state "pay", not found in spec');
    }
    expect((await skein('thread', 'ada')).stdout).toContain(': 1 turn');
  });

  it('[bad input] all that is wrong with a context is said', async () => {
    const cwd = await makeProject({ ...FILES, 'context.json': '{ "current_state": 5, "history": [{ "from": 1 }] }' });
    const { code, stdout, stderr } = await served(
      [...RUN, '--tools', 'tools.mjs', '--context', 'context.json', '--message', 'Hi.'],
      { cwd },
    );
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(
      'error SKEIN_CONTEXT: context.json: not the context of a state machine: current_state must be a text, not 5; history[0].from must be a text',
    );
    expect(stderr).toContain('hint: --context takes a JSON file, such as skein context THREAD prints');
    expect(stderr).not.toContain('undefined');
  });
});

it('a conversation of another workflow is refused by name, before a variable of the pack is found missing', async () => {
  const named = {
    greet: { system_template: 'Greet {{name}}.', variables: [{ name: 'name', type: 'string', required: true }] },
  };
  const states = { ask: { prompt_task: 'greet', terminal: true } };
  const hello = JSON.stringify({ ...(JSON.parse(packText(named, states)) as object), id: 'hello' });
  const flow = 'name: flow\nagents: { w: { inline: { prompt: P } } }\nsteps: [{ id: ask, agent: w, prompt: Hi }]\n';
  const cwd = await makeProject({ ...FILES, 'hello.pack.json': hello, 'flow.yaml': flow });
  const begun = [...RUN, '--tools', 'tools.mjs', '--thread', 'ada', '--message', 'Yes.'];
  expect((await served(begun, { cwd })).code).toBe(5);
  expect((await served(['run', 'flow.yaml', '--mock', '--thread', 'bob'], { cwd })).code).toBe(0);
  for (const thread of ['ada', 'bob']) {
    const words = ['run', 'hello.pack.json', '--mock', '--thread', thread, '--message', 'Hi'];
    const { code, stderr } = await served(words, { cwd });
    expect([thread, code]).toEqual([thread, 2]);
    expect(stderr).toContain(`error SKEIN_THREAD: the thread '${thread}' is one of the workflow '`);
    expect(stderr).toContain("not of 'hello'");
  }
});
