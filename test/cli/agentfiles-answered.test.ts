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
});
