import { describe, expect, it } from 'vitest';
import { folder, session } from './support/session.js';

/** Names, as the model sees them, of the tools whose calls a person must allow. */
async function gated(tools: readonly string[], approve: readonly string[]): Promise<readonly string[]> {
  const { source } = await session({ tools, approve }, { cwd: await folder() });
  return source.tools.filter((tool) => tool.approve === true).map((tool) => tool.name);
}

describe('approve names tools', () => {
  it.each([
    [['read_file', 'shell'], ['shell'], ['shell']],
    [['Read', 'Bash'], ['shell'], ['Bash']],
    [['shell'], ['Bash'], ['shell']],
    [['bash', 'Bash'], ['run_in_terminal'], ['bash', 'Bash']],
    [['*'], ['edit'], ['write_file', 'edit_file']],
    [['read_file', 'grep'], ['*'], ['read_file', 'grep']],
    [['read_file'], [' read_file '], ['read_file']],
    [['read_file'], [], []],
    [['read_file'], ['shell', 'write_memory', 'ask_user'], []],
  ])('by the names of tools: of %j, %j gates %j', async (tools, approve, expected) => {
    expect(await gated(tools, approve)).toEqual(expected);
  });

  it('and a name that nothing answers to fails, with the nearest', async () => {
    await expect(gated(['shell'], ['shel'])).rejects.toMatchObject({
      code: 'SKEIN_DEFINITION',
      message: 'agent tester: approve names "shel", which is not a tool',
      hint: 'did you mean "shell"?',
    });
    await expect(gated(['shell'], ['github/*'])).rejects.toMatchObject({ code: 'SKEIN_DEFINITION' });
  });
});
