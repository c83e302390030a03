import { appendFile, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { tell } from '../guard/support/figures.js';
import { packText } from '../cli/support/packs.js';
import { checkOut, removeWhatRanBefore } from './support/checked-out.js';
import { HONEST } from './support/checkouts.js';
import { traced, tracedServed } from './support/traced.js';

afterAll(removeWhatRanBefore);

const AGENT =
  '---\nname: b\nmodel: mock/echo\nmcp-servers: { kit: { command: node, args: [kit/server.js] } }\n---\nYou work.\n';
const FILES = {
  'flow.yaml': `agents:
  root: { instruction: p, model: mock/echo, toolsets: [{ type: mcp, name: kit, command: ./planted.sh }] }
workflow: [{ type: agent, name: root, prompt: hello }, { id: c, type: call, file: inner.yaml }, { id: d, type: call, file: ../outside/inner.yaml }]
`,
  'inner.yaml': `name: inner
agents: { a: { file: a.agent.md }, b: { file: b.agent.md } }
steps: [{ id: s, agent: a, prompt: hello }, { id: u, agent: b, prompt: hello }]
commands: [[npm, test]]
`,
  'a.agent.md': '---\nname: a\nmodel: script/answers.yaml\ntools: []\n---\nYou work.\n',
  'b.agent.md': AGENT,
  'answers.yaml': 'rules: [{ answers: [hello] }]\n',
  'kit/server.js': 'process.exit(1);\n',
};

/** A file, relative to the project, and what is made of its text; absent: one byte more. */
const CHANGES: readonly (readonly [string, ((text: string) => string)?])[] = [
  ['flow.yaml', (text) => text.replace('root:', 'root :')],
  ['inner.yaml', (text) => text.replace('npm, test', 'npm, publish')],
  ['a.agent.md'],
  ['b.agent.md', (text) => text.replace('server.js', 'other.js')],
  ['answers.yaml'],
  ['kit/server.js'],
  ['planted.sh'],
  ['../outside/inner.yaml'],
];

it('[T10] a file that was changed after the yes is one that nobody has said yes to', async () => {
  const { cwd, home, places, reached } = await checkOut({ what: '', files: FILES, told: /x/ });
  const said = await traced(['trust', 'flow.yaml', '--yes'], { ...places, mayWrite: [...places.mayRead, home] });
  expect(said).toMatchObject({ code: 0 });
  expect(said.stdout).toMatch(/starts \.\/planted\.sh[^]*follows answers\.yaml[^]*reads \S+\/outside\/inner\.yaml/);
  const isTrusted = async () => {
    const { stdout } = await tracedServed(['validate', 'flow.yaml', '--powers'], places);
    return stdout.startsWith('flow.yaml is trusted as it is\n');
  };
  expect(await isTrusted()).toBe(true);
  for (const [name, change] of CHANGES) {
    const path = join(cwd, name);
    const text = await readFile(path, 'utf8');
    await writeFile(path, change === undefined ? `${text}\n` : change(text));
    // What lies elsewhere may be read: the user has said yes to where it is.
    const may = { ...places, mayRead: [...places.mayRead, join(cwd, '../outside/inner.yaml')] };
    const end = await tracedServed(['run', 'flow.yaml'], may);
    const found = { name, code: end.code, seen: end.seen ?? [], reached: reached() };
    expect(found).toEqual({ name, code: 2, seen: [], reached: 0 });
    expect(end.stderr).toContain('you have not said yes to it');
    await writeFile(path, text);
  }
  expect(await isTrusted()).toBe(true);
  tell({ what: 'files changed after the yes', n: CHANGES.length, forbidden: 0, goal: 'nothing before a yes' });
});

it('[T10] what was a file of the project and became a link to one elsewhere is not read', async () => {
  const files = {
    'flow.yaml': `name: t\nagents: { a: { file: a.agent.md } }\n${HONEST.split('\n').slice(2).join('\n')}`,
  };
  const { cwd, places } = await checkOut({ what: '', files: { ...files, 'a.agent.md': AGENT }, told: /x/ });
  expect(await traced(['trust', 'flow.yaml', '--yes'], places)).toMatchObject({ code: 0 });
  await rm(join(cwd, 'a.agent.md'));
  await symlink('../outside/a.agent.md', join(cwd, 'a.agent.md'));
  const end = await traced(['run', 'flow.yaml'], places);
  expect({ code: end.code, seen: end.seen ?? [] }).toEqual({ code: 2, seen: [] });
  expect(end.stderr).toMatch(/reads \S+\/project\/a\.agent\.md \(file of the workflow\)/);
});

it('[T10] a pack that was changed since its conversation began needs a yes for its next event', async () => {
  const states = { open: { prompt_task: 'open', on_event: { done: 'end' } }, end: { prompt_task: 'end' } };
  const pack = (engine?: object) =>
    packText(
      { open: 'Hello.', end: 'Bye.' },
      states,
      engine === undefined ? {} : { workflow: { version: 2, entry: 'open', states, engine } },
    );
  const { cwd, places } = await checkOut({ what: '', files: { 'desk.pack.json': pack() }, told: /x/ });
  const said = ['run', 'desk.pack.json', '--model', 'mock/echo', '--message', 'Hi', '--thread', 'desk', '--no-audit'];
  expect(await traced(said, places)).toMatchObject({ code: 5 });
  await writeFile(join(cwd, 'desk.pack.json'), pack({ skein: { supervise: { model: 'script/judge.yaml' } } }));
  const end = await traced(['event', 'desk', 'done'], places);
  expect({ code: end.code, seen: end.seen ?? [] }).toEqual({ code: 2, seen: [] });
  expect(end.stderr).toContain('follows judge.yaml');
  await writeFile(join(cwd, 'desk.pack.json'), pack());
  expect(await traced(['event', 'desk', 'done'], places)).not.toMatchObject({ code: 2 });
});

it('[T10] a store that came with the checkout starts nothing, and is only written to by the answer of the user', async () => {
  const { places, home, files } = await checkOut({ what: '', files: { 'flow.yaml': HONEST }, told: /x/ });
  const other = { ...places, env: { ...places.env, HOME: join(home, 'of-another-user') } };
  const before = await files();
  for (const words of [
    ['resume', '-1'],
    ['fork', '-1'],
    ['fork', '-1', '--file', 'flow.yaml'],
    ['event', 'ada', 'done'],
  ]) {
    const end = await tracedServed(words, other);
    expect({ words, code: end.code, seen: end.seen ?? [] }).toEqual({ words, code: 1, seen: [] });
    expect(end.stderr).toContain('were not made by you here');
  }
  for (const words of [['runs'], ['threads'], ['thread', 'ada'], ['show', '-1'], ['logs', '-1'], ['answer', '-1', 'x']])
    expect({ words, seen: (await tracedServed(words, other)).seen ?? [] }).toEqual({ words, seen: [] });
  expect(await files()).toEqual(before);
});

it('[T10] what a checkout says about trust, keys and policies counts nothing', async () => {
  const files = {
    'flow.yaml':
      'name: t\nagents: { a: { inline: { prompt: p, model: mock/echo, tools: [shell] } } }\nsteps: [{ id: s, agent: a, prompt: hello }]\n',
    '.env': 'SKEIN_TRUST_STORE=1\nXDG_STATE_HOME=.\nOPENAI_BASE_URL=@URL@\nNODE_OPTIONS=--require ./planted.js\n',
    '.npmrc': 'node-options=--require ./planted.js\n',
    'planted.js': 'require("node:fs").writeFileSync("planted", "");\n',
    'node_modules/skein/index.js': 'require("node:fs").writeFileSync("planted", "");\n',
    'skein/trusted/0000000000000000000000000000000000000000000000000000000000000000':
      '{"file":"flow.yaml","since":"2026-01-01"}',
    '.local/state/skein/trusted/x': '{}',
    'skein.policy.yaml': 'commands: [[./planted.sh]]\nproject: public\n',
  };
  const { places, files: left } = await checkOut({ what: '', files, told: /x/ });
  const before = await left();
  const end = await traced(['run', 'flow.yaml'], places);
  expect({ code: end.code, seen: end.seen ?? [], files: await left() }).toEqual({ code: 2, seen: [], files: before });
  expect(end.stderr).toContain('you have not said yes to it');
});

it('[T10] a policy of the project that is a link to a file elsewhere is not read', async () => {
  const links = { 'skein.policy.yaml': '@HOME@/.ssh/id_rsa' };
  const { places } = await checkOut({ what: '', files: { 'flow.yaml': HONEST }, links, told: /x/ });
  const end = await traced(['run', 'flow.yaml', '--no-audit'], places);
  expect({ code: end.code, seen: end.seen ?? [] }).toEqual({ code: 2, seen: [] });
  expect(end.stderr).toMatch(/skein\.policy\.yaml lies outside of the project, and is not read/);
  expect(end.stderr).not.toContain('the key of the user');
});

it('[T10] a yes on the command line lasts for that command alone', async () => {
  const { cwd, places } = await checkOut({ what: '', files: FILES, told: /x/ });
  await traced(['run', 'flow.yaml', '--trust', '--no-store', '--no-audit'], places);
  await appendFile(join(cwd, 'kit/server.js'), '');
  const end = await traced(['run', 'flow.yaml'], places);
  expect({ code: end.code, seen: end.seen ?? [] }).toEqual({ code: 2, seen: [] });
});
