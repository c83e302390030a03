import { describe, expect, it } from 'vitest';
import { pasted } from './support/pasted.js';
import { served } from './support/served.js';
import { CHAIN, makeProject } from './support/skein.js';

const commandIn = (text: string, pattern: RegExp): string => pattern.exec(text)?.[1] ?? `no command in: ${text}`;

/** A shell would split this name, and put a value in. */
const ODD = "it's $HOME";

describe.skipIf(process.platform === 'win32')('a suggested command can be pasted, whatever the names are', () => {
  it('of a new workflow', async () => {
    const cwd = await makeProject();
    const { stderr } = await served(['new', `${ODD}/report`], { cwd });
    expect(await pasted(commandIn(stderr, /^ {2}(skein run .*)$/m), cwd)).toContain('succeeded');
  });

  it('of a file in place of a command', async () => {
    const cwd = await makeProject({ [`${ODD}.yaml`]: CHAIN });
    const { stderr } = await served([`${ODD}.yaml`], { cwd });
    const command = commandIn(stderr, /hint: (skein run .*)$/m);
    expect(await pasted(`${command} --mock`, cwd)).toContain('succeeded');
  });

  it('of a file that is not trusted', async () => {
    const flow = 'name: f\nagents: { w: { inline: { prompt: P } } }\nsteps: [{ id: a, run: [ls] }]\n';
    const cwd = await makeProject({ [`${ODD}.yaml`]: flow });
    const { stderr } = await served(['trust', `${ODD}.yaml`], { cwd });
    expect(await pasted(commandIn(stderr, /hint: (skein trust .*) trusts it$/m), cwd)).toContain('is trusted');
  });
});

it('a value that does not fit is told without a flag, which is another one in a fork', async () => {
  const typed = CHAIN.replace('topic: {', 'topic: { type: number,').replace('default: looms', 'default: 1');
  const cwd = await makeProject({ 'flow.yaml': typed });
  expect((await served(['run', 'flow.yaml', '--mock'], { cwd })).code).toBe(0);
  const { code, stderr } = await served(['fork', '-1', '--set', 'topic=many'], { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain('hint: give another value, such as topic=3');
});
