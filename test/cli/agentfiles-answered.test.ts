import { describe, expect, it } from 'vitest';
import { served } from './support/served.js';
import { makeProject } from './support/skein.js';

const FILE = `NAME report
AGENT a "You are careful."
AGENT b "You are bold."
GOAL collect "Collect facts." -> facts USING a
GOAL weigh "Weigh $facts." USING a, b
CONVERGE polish "Polish it." WITHIN 2
GOAL close "Close."
RUN main USING collect, weigh, polish, close
`;

describe('what a run of an Agentfile prints', () => {
  it('[A24] the text of each goal in the order of the file, also of goals that agents work on', async () => {
    const cwd = await makeProject({ Agentfile: FILE });
    const { code, stdout } = await served(['run', 'Agentfile', '--mock', '--no-store', '--format', 'json'], { cwd });
    expect(code).toBe(0);
    const { steps } = JSON.parse(stdout) as { steps: Record<string, { status: string; output: string }> };
    expect(Object.keys(steps)).toEqual(['collect', 'weigh', 'polish', 'close']);
    expect(Object.values(steps).map(({ status, output }) => [status, typeof output])).toEqual(
      Array.from({ length: 4 }, () => ['completed', 'string']),
    );
  });

  it('[A23] without a model each field has the text of its goal, and later goals show it', async () => {
    const cwd = await makeProject({ Agentfile: FILE });
    const { stdout, stderr } = await served(['run', 'Agentfile', '--mock', '--no-store', '--format', 'json'], { cwd });
    const { steps } = JSON.parse(stdout) as { steps: Record<string, { output: string }> };
    const { facts } = JSON.parse(steps['collect']?.output ?? '') as { facts: string };
    expect(facts).toContain('Collect facts.');
    expect(steps['weigh']?.output).toContain('Weigh Collect facts.');
    expect(stderr).not.toContain('does not have its fields');
  });

  it('what has not run yet, though its name has a value: of an input, or of its first time', async () => {
    const text = `NAME release
INPUT notes DEFAULT "old"
GOAL format "Format."
GOAL check "Check." SUPERVISED HUMAN
GOAL notes "Improve $notes."
RUN one USING format, check
RUN two USING notes, format
`;
    const cwd = await makeProject({ Agentfile: text });
    const statuses = async (...args: readonly string[]): Promise<Record<string, string>> => {
      const { stdout } = await served([...args, '--format', 'json'], { cwd });
      const { steps } = JSON.parse(stdout) as { steps: Record<string, { status: string }> };
      return Object.fromEntries(Object.entries(steps).map(([name, { status }]) => [name, status]));
    };
    expect(await statuses('run', 'Agentfile', '--mock')).toEqual({
      format: 'completed',
      check: 'paused',
      notes: 'not_run',
      'format.2': 'not_run',
    });
    expect(await served(['answer', '-1', 'check', 'approve'], { cwd })).toMatchObject({ code: 0 });
    const ended = await statuses('resume', '-1');
    expect(Object.values(ended)).toEqual(Array.from({ length: 4 }, () => 'completed'));
  });
});
