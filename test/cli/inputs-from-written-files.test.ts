import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { vouchFor, writtenFilesIn } from '../../src/cli/run/written-files.js';
import { served } from './support/served.js';

afterEach(() => {
  vi.unstubAllEnvs();
});

const FLOW = `
name: notes
inputs: { notes: {} }
agents: { writer: { inline: { prompt: You write., tools: [] } } }
steps: [{ id: sum, agent: writer, prompt: "Sum up: {{inputs.notes}}" }]
`;

it('an input from a file that an agent wrote after something untrusted is untrusted, until a person vouches for it', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'skein-inputs-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const home = join(cwd, 'state');
  writeFileSync(join(cwd, 'flow.yaml'), FLOW);
  for (const name of ['notes.md', 'own.md']) writeFileSync(join(cwd, name), `text of ${name}`);
  vi.stubEnv('XDG_STATE_HOME', home);
  writtenFilesIn(cwd).note('notes.md', false);
  const given = async (...words: readonly string[]) => {
    const { stdout, stderr } = await served([...words, '--json'], { cwd, env: { XDG_STATE_HOME: home } });
    const { labels = {} } = JSON.parse(stdout) as { readonly labels?: Readonly<Record<string, unknown>> };
    return { heard: Object.keys(labels), stderr };
  };
  const start = ['run', 'flow.yaml', '--mock', '--input-file'];
  const told = await given(...start, 'notes=notes.md');
  expect(told.heard).toEqual(['inputs.notes', 'steps.sum.output']);
  expect(told.stderr).toContain(
    "input 'notes' is untrusted: an agent wrote notes.md after it had heard something untrusted; skein trust --file notes.md vouches for it",
  );
  expect((await given('resume', '-1')).heard).toEqual(told.heard);
  expect((await given(...start, 'notes=own.md')).heard).toEqual([]);
  // A fork whose input comes from such a file.
  expect((await given('fork', '-1', '--mock', '--input-file', 'notes=notes.md')).heard).toEqual(told.heard);
  vouchFor(join(cwd, 'notes.md'));
  expect((await given(...start, 'notes=notes.md')).heard).toEqual([]);
});
