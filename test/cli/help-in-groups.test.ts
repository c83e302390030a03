import { describe, expect, it } from 'vitest';
import { served } from './support/served.js';
import { makeProject } from './support/skein.js';

/** The names under each heading of a help text, as they begin the lines below it. */
function sections(text: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const heading = /^([A-Z][\w ]+):$/.exec(line)?.[1];
    if (heading !== undefined) found.set(heading, []);
    const name = /^ {2}(?:-\w, )?([-\w]+)/.exec(line)?.[1];
    if (name !== undefined) [...found.values()].at(-1)?.push(name);
  }
  return found;
}

async function helpOf(...words: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const { stdout, code } = await served([...words, '--help'], { cwd: await makeProject() });
  expect(code).toBe(0);
  return sections(stdout);
}

describe('the help', () => {
  it('lists the commands by what they are for', async () => {
    const help = await helpOf();
    expect([...help.keys()]).toEqual([
      'Options',
      'Begin',
      'Check a workflow',
      'Run it',
      'Look at runs',
      'Conversations',
      'Setup and help',
    ]);
    expect(help.get('Run it')).toEqual(['run', 'exec', 'resume', 'fork', 'answer', 'cancel', 'budget']);
    expect(help.get('Setup and help')).toContain('help');
  });

  it('begins the flags of a run with its inputs, and has no flag without a group', async () => {
    const help = await helpOf('run');
    expect([...help.keys()]).toEqual([
      'Arguments',
      'Inputs',
      'Models',
      'Limits',
      'Safety',
      'Output',
      'Records',
      'Packs and Agentfiles',
      'Conversations',
      'Options',
      'Examples',
    ]);
    expect(help.get('Inputs')).toEqual(['--input', '--input-file', '--input-json']);
    expect(help.get('Options')).toEqual(['--dry-run', '--workflow', '--help']);
  });

  it.each([
    ['fork', ['--set', '--input-file', '--input-json', '--from', '--file', '--help']],
    ['event', ['--message', '--context', '--data', '--tools', '--help']],
    ['resume', ['--help']],
  ])('of %s has the flags of that command alone under "Options"', async (command, flags) => {
    expect((await helpOf(command)).get('Options')).toEqual(flags);
  });
});
