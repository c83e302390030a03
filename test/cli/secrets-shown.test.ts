import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tell } from '../guard/support/figures.js';
import { ENCODINGS, KEYS } from '../secrets/keys.js';
import { makeProject } from './support/skein.js';
import { served } from './support/served.js';

/** A value that only its variable tells to be a secret. */
const OURS = 'correct horse battery';
const ENV = { SHOP_TOKEN: OURS };

const FLOW = `name: t
inputs: { api_key: {} }
agents:
  w: { inline: { prompt: You write., tools: [read_file] } }
steps:
  - { id: one, agent: w, prompt: 'Write {{inputs.api_key}}' }
  - { id: two, agent: w, prompt: 'Again {{steps.one.output}}', depends_on: [one], on_error: continue }
`;

/** All that must not be seen, in each form. */
const FORMS = [OURS, 'value-of-an-input', 'hunter2-of-the-file', ...Object.values(KEYS)].flatMap((secret) =>
  Object.values(ENCODINGS).map((encode) => encode(secret)),
);

async function project(): Promise<string> {
  const said = FORMS.join('\n');
  const rules = [
    {
      step: 'one',
      answers: [{ text: said, tools: [{ name: 'read_file', input: { path: said } }] }, { text: said }],
    },
    { step: 'two', answer: { error: { code: 'SKEIN_NETWORK', message: said } } },
  ];
  const files = {
    'flow.yaml': FLOW,
    'script.yaml': JSON.stringify({ rules }),
    '.env': 'SHOP_PASSWORD=hunter2-of-the-file\n',
  };
  return await makeProject(files);
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { withFileTypes: true, recursive: true });
  return found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
}

/** The forms that a text has. */
const leaks = (text: string): readonly string[] =>
  FORMS.filter((form) => text.includes(form) || text.includes(JSON.stringify(form).slice(1, -1)));

describe('secrets of a run', () => {
  test('are in no screen, log, record of calls or audit folder; results are given as they are, and say so', async () => {
    const cwd = await project();
    const words = [
      '--input',
      'api_key=value-of-an-input',
      '--mock=script.yaml',
      '--verbose',
      '--stream',
      '--record',
      'calls.jsonl',
      '--audit-dir',
      'audit',
    ];
    const end = await served(['run', 'flow.yaml', ...words], { cwd, env: ENV });
    const sinks: (readonly string[])[] = [];
    const hold = (text: string): readonly string[] => {
      const found = leaks(text);
      sinks.push(found);
      return found;
    };
    expect(hold(end.stderr)).toEqual([]);
    expect(end.stderr).toContain('[redacted]');
    expect(end.stderr).toContain('warning: the results hold what looks like a secret');
    expect(leaks(end.stdout).length).toBeGreaterThan(FORMS.length / 2);
    for (const file of await filesBelow(join(cwd, 'audit')))
      expect(hold(await readFile(file, 'utf8')), file).toEqual([]);
    const calls = await readFile(join(cwd, 'calls.jsonl'), 'utf8');
    expect(hold(calls)).toEqual([]);
    expect(calls).toContain('[redacted]');

    for (const command of [
      ['show', '-1'],
      ['show', '-1', '--json'],
      ['logs', '-1'],
      ['logs', '-1', '--json'],
      ['runs'],
    ]) {
      const shown = await served(command, { cwd, env: ENV });
      expect(shown.code).toBe(0);
      expect(hold(shown.stdout + shown.stderr), command.join(' ')).toEqual([]);
    }
    // What a replay needs is kept, for its owner alone.
    const stored = (await filesBelow(join(cwd, '.skein'))).filter((file) => file.endsWith('.db'));
    expect(stored.length).toBe(1);
    for (const file of stored) expect((await stat(file)).mode & 0o777).toBe(0o600);
    const again = await served(['resume', '-1', '--json'], { cwd, env: ENV });
    expect(hold(again.stderr)).toEqual([]);
    expect(again.stdout).toContain(OURS);
    const what = `secrets in four forms, in ${sinks.length} screens and files`;
    tell({ what, n: FORMS.length * sinks.length, forbidden: sinks.flat().length, goal: 'none is shown' });
  });

  test('are in no error of a file that can not be read', async () => {
    const cwd = await makeProject({ 'flow.yaml': `name: t\n${KEYS['github']}: 1\nsteps: []\n` });
    const end = await served(['validate', 'flow.yaml'], { cwd, env: ENV });
    expect(end.code).toBe(2);
    expect(leaks(end.stderr + end.stdout)).toEqual([]);
  });
});
