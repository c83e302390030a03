import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const FLOW = `name: flow
agents: { w: { inline: { prompt: You write., tools: [] } } }
steps:
  - { id: a, agent: w, prompt: "Facts about {{inputs.topic}}" }
  - { id: b, agent: w, depends_on: [a], prompt: End. }
`;
const SCRIPT = `rules:
  - { step: a, answer: Facts. }
  - { step: b, answers: [{ error: { status: 401, message: no } }, { text: Done. }] }
`;

test.each([['resume'], ['fork']])(
  '[XU4] %s takes the inputs of the record although the edited file uses one of them no more',
  async (command) => {
    const cwd = await makeProject({ 'flow.yaml': FLOW, 'script.yaml': SCRIPT });
    const words = ['run', 'flow.yaml', '--mock=script.yaml', '--no-audit'];
    expect((await served([...words, '--input', 'topic=looms'], { cwd })).code).toBe(3);
    await writeFile(join(cwd, 'flow.yaml'), FLOW.replace('{{inputs.topic}}', 'looms'));
    const end = await served([command, '-1', '--json'], { cwd });
    expect(end.stderr).not.toContain('unknown-input');
    expect(documentOf(end).steps).toMatchObject({ a: { status: 'succeeded' } });
    expect((await served([...words, '--input', 'topic=looms'], { cwd })).stderr).toContain('error unknown-input');
  },
);
