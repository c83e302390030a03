import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
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

interface Shown {
  readonly labels?: Readonly<Record<string, { readonly level: string; readonly isPrivate: boolean }>>;
}

/** The values of a document that something untrusted, or something private, influenced. */
function heardIn(document: string, what: 'untrusted' | 'private' = 'untrusted'): readonly string[] {
  const { labels = {} } = JSON.parse(document) as Shown;
  return Object.entries(labels)
    .filter(([, { level, isPrivate }]) => (what === 'private' ? isPrivate : level === what))
    .map(([name]) => name);
}

it('an input from a file that an agent wrote after something untrusted is untrusted, until a person vouches for it', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'skein-inputs-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const home = join(cwd, 'state');
  writeFileSync(join(cwd, 'flow.yaml'), FLOW);
  for (const name of ['notes.md', 'own.md']) writeFileSync(join(cwd, name), `text of ${name}`);
  vi.stubEnv('XDG_STATE_HOME', home);
  writtenFilesIn(cwd).note('notes.md', false, 'text of notes.md');
  const given = async (...words: readonly string[]) => {
    const { stdout, stderr } = await served([...words, '--json'], { cwd, env: { XDG_STATE_HOME: home } });
    return { heard: heardIn(stdout), stderr };
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

it('an input from standard input or from a file of others is untrusted, and those of the project are not', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'skein-inputs-'));
  const outside = mkdtempSync(join(tmpdir(), 'skein-outside-'));
  onTestFinished(() => {
    for (const folder of [cwd, outside]) rmSync(folder, { recursive: true, force: true });
  });
  mkdirSync(join(cwd, 'node_modules/p'), { recursive: true });
  writeFileSync(join(cwd, 'flow.yaml'), FLOW);
  writeFileSync(join(cwd, '.gitignore'), 'dist\n');
  mkdirSync(join(cwd, 'dist'));
  const files = ['own.md', 'node_modules/p/README.md', 'dist/log.txt', join(outside, 'page.html')];
  for (const file of files) writeFileSync(resolve(cwd, file), 'a text');
  symlinkSync(join(outside, 'page.html'), join(cwd, 'link.md'));
  const heard = async (...words: readonly string[]) => {
    const { stdout, stderr } = await served([...words, '--mock', '--json'], { cwd, input: 'a text' });
    const isTold = stderr.includes("input 'notes' is untrusted: ") || stderr.includes("input 'prompt' is untrusted: ");
    return { heard: heardIn(stdout), hidden: heardIn(stdout, 'private'), isTold };
  };
  const all = ['inputs.notes', 'steps.sum.output'];
  const others = { heard: all, hidden: all, isTold: true };
  for (const file of [...files.slice(1), 'link.md'])
    expect(await heard('run', 'flow.yaml', '--input-file', `notes=${file}`), file).toEqual(others);
  expect(await heard('run', 'flow.yaml', '--input-file', 'notes=-')).toEqual({ ...others, hidden: [] });
  // Files are private, as where an agent reads them.
  const own = { heard: [], hidden: all, isTold: false };
  expect(await heard('run', 'flow.yaml', '--input-file', 'notes=own.md')).toEqual(own);
  expect(await heard('resume', '-1')).toEqual(own);
  const mine = { ...own, hidden: [] };
  expect(await heard('run', 'flow.yaml', '--input-file', 'notes=-', '--input', 'notes=mine')).toEqual(mine);
  expect(await heard('fork', '-1', '--input-file', 'notes=link.md')).toEqual(others);
});

const door = { id: 'door', name: 'Door', version: '1.0.0', system_template: 'You wait.' };
const text = 'You are {{company}}. {{artifacts.note}}';
const company = { name: 'company', type: 'string', required: true };
const desk = { id: 'desk', name: 'Desk', version: '1.0.0', system_template: text, variables: [company] };
const STATES = {
  a: { prompt_task: 'door', on_event: { Go: 'b' }, artifacts: { note: { type: 'text/plain' } } },
  b: { prompt_task: 'desk', terminal: true },
};
const PACK = {
  id: 'desk',
  name: 'Desk',
  version: '1.0.0',
  template_engine: { version: 'v1', syntax: '{{variable}}' },
  prompts: { door, desk },
  workflow: { version: 2, entry: 'a', states: STATES },
};

it('so are variables of a pack, the prompt and the context of a conversation from such a file, in later turns too', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'skein-packs-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const env = { XDG_STATE_HOME: join(cwd, 'state') };
  vi.stubEnv('XDG_STATE_HOME', env.XDG_STATE_HOME);
  const at = '2026-01-01T00:00:00Z';
  const context = { current_state: 'b', history: [], started_at: at, updated_at: at, artifacts: { note: 'x' } };
  const files = { 'desk.pack.json': JSON.stringify(PACK), 'context.json': JSON.stringify(context), 'notes.md': 'Eve' };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content);
  for (const name of ['context.json', 'notes.md']) writtenFilesIn(cwd).note(name, false, '');
  const sources = async (...words: readonly string[]): Promise<string[]> => {
    const talk = await served([...words, '--mock', '--json'], { cwd, env, input: 'Hello.' });
    const { turns } = JSON.parse(talk.stdout) as { readonly turns: readonly { readonly runId: string }[] };
    const shown = await served(['show', turns.at(-1)?.runId ?? '', '--taint'], { cwd, env });
    return [...new Set(shown.stdout.match(/input:\w+/g) ?? [])];
  };
  const run = ['run', 'desk.pack.json', '--message', 'Hello.'];
  const own = ['--input', 'company=Loom'];
  const atDesk = ['--state', 'b'];
  const notes = ['--input-file', 'company=notes.md'];
  expect(await sources(...run, ...notes, ...atDesk)).toEqual(['input:variables']);
  await sources(...run, ...notes, '--thread', 't');
  expect(await sources('event', 't', 'Go', '--message', 'Hello.')).toEqual(['input:variables']);
  expect(await sources(...run, ...own, ...atDesk, '--untrusted', 'company')).toEqual(['input:variables']);
  expect(await sources(...run, ...own, '--context', 'context.json')).toEqual(['input:start']);
  expect(await sources('exec', 'desk.pack.json', ...own, '--input-file', 'prompt=notes.md')).toEqual(['input:message']);
  expect(await sources(...run, ...own, ...atDesk)).toEqual([]);
  // What comes from standard input, as a whole or line by line.
  const piped = ['run', 'desk.pack.json', ...own];
  expect(await sources(...piped, '--message', '-')).toEqual(['input:message']);
  expect(await sources(...piped, '--thread', 'u')).toEqual(['input:message']);
  expect(await sources(...run, ...own, '--thread', 'v')).toEqual([]);
  expect(await sources('event', 'v', 'Go', '--message', '-')).toEqual(['input:message']);
});

it('a run of a workflow or a pack that an agent wrote after something untrusted is untrusted from its beginning, and says so', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'skein-definitions-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const env = { XDG_STATE_HOME: join(cwd, 'state') };
  vi.stubEnv('XDG_STATE_HOME', env.XDG_STATE_HOME);
  const files = { 'flow.yaml': FLOW, 'desk.pack.json': JSON.stringify(PACK) };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content);
  const heard = async (...words: readonly string[]): Promise<{ sources: readonly string[]; stderr: string }> => {
    const { stderr } = await served(['run', ...words, '--mock'], { cwd, env });
    const shown = await served(['show', '-1', '--taint'], { cwd, env });
    return { sources: [...new Set(shown.stdout.match(/file:[\w.]+/g) ?? [])], stderr };
  };
  const flow = ['flow.yaml', '--input', 'notes=mine'];
  const pack = ['desk.pack.json', '--message', 'Hello.', '--input', 'company=Loom'];
  expect([(await heard(...flow)).sources, (await heard(...pack)).sources]).toEqual([[], []]);
  for (const name of Object.keys(files)) writtenFilesIn(cwd).note(name, false, '');
  const told = await heard(...flow);
  expect(told.sources).toEqual(['file:flow.yaml']);
  expect(told.stderr).toContain(
    'all that this run does is untrusted: an agent wrote flow.yaml after it had heard something untrusted; skein trust --file flow.yaml vouches for it',
  );
  expect((await heard(...pack)).sources).toEqual(['file:desk.pack.json']);
});
