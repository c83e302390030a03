import { describe, expect, it } from 'vitest';
import { served } from './support/served.js';
import { makeProject } from './support/skein.js';

const agents = (tools: string): string => `agents:
  web: { inline: { prompt: You read., tools: [fetch] } }
  w: { inline: { prompt: You work., tools: ${tools} } }
`;
const STEPS = `steps:
  - { id: page, agent: web, prompt: Read. }
  - { id: work, agent: w, prompt: 'It says {{steps.page.output}}', depends_on: [page] }
`;

/** What `skein plan` says about questions, line by line. */
async function foreseen(file: string, text: string): Promise<readonly string[]> {
  const cwd = await makeProject({ [file]: text });
  const { code, stdout } = await served(['plan', file], { cwd });
  expect(code).toBe(0);
  const lines = stdout.split('\n');
  const first = lines.findIndex((line) => line.startsWith('questions to a person: '));
  const after = lines.slice(first + 1);
  const end = after.findIndex((line) => !line.startsWith('  '));
  return [lines[first] ?? '', ...after.slice(0, end)];
}

describe('skein plan says how many questions a run will ask', () => {
  it('none, where nobody else has a say', async () => {
    expect(await foreseen('a.yaml', `name: a\n${agents('[]').replace('[fetch]', '[]')}${STEPS}`)).toEqual([
      'questions to a person: none',
    ]);
  });

  it('a number, where that is certain, with the steps that ask', async () => {
    const text = `agents: { w: { instruction: You work., toolsets: [] } }
workflow:
  - { id: do, type: agent, name: w }
  - { id: first, type: ask, question: Is it good? }
  - { id: second, type: ask, question: Is it very good? }
`;
    expect(await foreseen('a.yaml', text)).toEqual(['questions to a person: 2', '  first asks', '  second asks']);
  });

  it('which calls may ask, where models decide, with what would declare them', async () => {
    expect(await foreseen('a.yaml', `name: a\n${agents('[shell, write_file]')}${STEPS}`)).toEqual([
      'questions to a person: not known before the run',
      '  page may call fetch: calls other than GET ask; to declare them: hosts: [HOST]',
      '  work may call write_file: calls that change files or make others than texts ask',
      '  work may call shell: calls that are not declared ask; to declare them: commands: [[PROGRAM, ARGUMENT]], with sandbox: offline',
    ]);
  });

  it('which results a person endorses', async () => {
    const text = `name: a\n${agents('[]')}${STEPS.replace('depends_on', 'endorse: person, depends_on')}`;
    expect((await foreseen('a.yaml', text)).join('\n')).toMatch(/ {2}work .* by a person/);
  });
});
