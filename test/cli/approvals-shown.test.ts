import { describe, expect, test } from 'vitest';
import { makeProject } from './support/skein.js';
import { served } from './support/served.js';

const FLOW = `name: t
agents: { a: { inline: { prompt: You work., tools: [write_file], approve: [write_file] } } }
steps: [{ id: work, agent: a, prompt: go }]
`;

async function asked(content: string): Promise<string> {
  const call = { name: 'write_file', input: { path: 'note.txt', content } };
  const script = { rules: [{ answers: [{ tools: [call] }, 'done'] }] };
  const cwd = await makeProject({ 'flow.yaml': FLOW, 'mine.yaml': JSON.stringify(script) });
  const end = await served(['run', 'flow.yaml', '--mock=mine.yaml'], { cwd });
  expect(end.code).toBe(5);
  return end.stderr;
}

describe('a call that a person is asked about', () => {
  test('[XS8] is shown with its invisible characters as escapes', async () => {
    const hidden = [
      '\u200b',
      '\u2060',
      '\u00ad',
      '\u3164',
      '\u202e',
      '\u{e0041}',
      '\ufe0f',
      '\u00a0',
      '\u2028',
      '\u2800',
    ];
    const text = await asked(`rm${hidden.join('')}x`);
    for (const char of hidden) expect(text).not.toContain(char);
    expect(text).toContain('rm\\u{200b}\\u{2060}');
    expect(text).toContain('\\u{e0041}');
  });

  test('[XS8] is shown by start and end with size and digest when it is long', async () => {
    const text = await asked(`begin${'\n'.repeat(3_000)}${'x'.repeat(50_000)}end`);
    expect(text).toContain('"tool": "write_file"');
    expect(text).toContain('begin');
    expect(text).toContain('xxxend');
    expect(text).toMatch(/\d+ characters are not shown; \d+ characters in all, digest \S{22}/);
    expect(text.length).toBeLessThan(10_000);
  });
});
