import { describe, expect, test } from 'vitest';
import { documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const dag = (onError: string): string => `name: release
agents: { w: { inline: { prompt: You write., tools: [] } } }
steps:
  - { id: deploy, agent: w, prompt: Deploy., supervise: { human: true }, ${onError} }
  - { id: announce, agent: w, depends_on: [deploy], prompt: Announce it. }
`;

const FILES: Readonly<Record<string, string>> = {
  'a DAG workflow, on_error: continue': dag('on_error: continue'),
  'a DAG workflow, on_error: skip': dag('on_error: skip'),
  'a DAG workflow, on_error: retry': dag('on_error: retry, retry_count: 3'),
  'a pipeline, on_error: continue': `agents: { w: { instruction: You write., model: mock/echo } }
workflow:
  - { id: deploy, type: agent, name: w, supervise: { human: true }, on_error: continue }
  - { id: announce, type: agent, name: w }
`,
};

describe('[addition 2] what a person rejected', () => {
  test.each(Object.entries(FILES))('ends the run with exit code 3: %s', async (_, file) => {
    const cwd = await makeProject({ 'flow.yaml': file });
    const first = await served(['run', 'flow.yaml', '--mock'], { cwd });
    expect(first.code, first.stderr).toBe(5);
    const answered = await served(['answer', '-1', 'deploy', 'reject'], { cwd });
    expect(answered.code, answered.stderr).toBe(0);
    const end = await served(['resume', '-1', '--json'], { cwd });
    expect(end.code).toBe(3);
    const message = expect.stringContaining('deploy: denied by human') as unknown;
    expect(documentOf(end)).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_REJECTED', message } });
    // It stays one: nobody is asked again, and nothing is announced.
    const again = await served(['resume', '-1'], { cwd });
    expect([again.code, again.stderr.includes('SKEIN_REJECTED')]).toEqual([3, true]);
    expect(again.stderr).not.toContain('step announce succeeded');
  });
});
