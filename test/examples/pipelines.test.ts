import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runExample } from './support/run-example.js';
import type { ExampleRun } from './support/run-example.js';

/** The paths of steps with an agent, in the order in which they started. */
function asked(run: ExampleRun): readonly string[] {
  return run.events.flatMap((event) =>
    event.type === 'step.note' && event.note.kind === 'prompt' ? [event.path] : [],
  );
}

/** What a step with structured output gave, as text. */
function given(run: ExampleRun, step: string): unknown {
  return run.result.state[`steps.${step}.output`];
}

describe('generate-translate-publish', () => {
  test('hands every output on, below each other, and the prompt of the run behind them', async () => {
    const run = await runExample('generate-translate-publish', { inputs: { prompt: 'Announce the folding bicycle' } });
    expect(run.result.outcome).toBe('succeeded');
    expect(asked(run)).toEqual(['step_1', 'step_2', 'step_3']);
    expect(run.prompt('step_1')).toBe('Announce the folding bicycle');
    expect(run.prompt('step_3')).toBe(
      `--- Prior Step Outputs ---\n\n[step_1 (agent: generator)]:\n${run.output('step_1')}\n\n` +
        `[step_2 (agent: translator)]:\n${run.output('step_2')}\n\n--- End Prior Step Outputs ---\n\nAnnounce the folding bicycle`,
    );
  });
});

describe('translate-until-approved', () => {
  test('goes back once, with the review, and publishes what was approved', async () => {
    const run = await runExample('translate-until-approved');
    expect(run.result.outcome).toBe('succeeded');
    expect(asked(run)).toEqual(['gen', 'trans', 'qa', 'trans#2', 'qa#2', 'publish']);
    expect(given(run, 'qa')).toEqual({ is_approved: true, findings: [] });
    expect(run.prompt('trans#2')).toContain('"is_approved":false');
    expect(run.prompt('publish')).toMatch(/\n\nLay out this approved translation: Ziehen Sie .*1,7 l/);
  });

  test('is done at once when the first translation is approved, also in a code fence', async () => {
    const run = await runExample('translate-until-approved', { script: 'script-other.yaml' });
    expect(run.result.outcome).toBe('succeeded');
    expect(asked(run)).toEqual(['gen', 'trans', 'qa', 'publish']);
    expect(given(run, 'qa')).toEqual({ is_approved: true, findings: [] });
  });

  test('fails with the limit when nothing is ever approved', async () => {
    const run = await runExample('translate-until-approved', { script: 'script-limit.yaml' });
    expect(run.result.outcome).toBe('failed');
    expect(run.result.error?.message).toBe('workflow: max loop iterations exceeded (step: trans, limit: 3)');
    expect(asked(run).filter((step) => step.startsWith('trans'))).toHaveLength(4);
  });
});

describe('parallel-drafts', () => {
  test('writes both drafts at the same time and shows both to the judge, by id and by place', async () => {
    const run = await runExample('parallel-drafts');
    expect(run.result.outcome).toBe('succeeded');
    const at = (type: string, path: string): number =>
      run.events.findIndex((event) => event.type === type && event.path === path);
    expect(at('step.started', 'par_gen/gen_2')).toBeLessThan(at('step.ended', 'par_gen/gen_1'));
    expect(run.system('judge')).toContain(`<first>\n${run.output('par_gen/gen_1')}`);
    expect(run.system('judge')).toContain(`<second>\n${run.output('par_gen/gen_2')}`);
    expect(asked(run).at(-1)).toBe('second');
  });

  test('translates the first one when that is better', async () => {
    const run = await runExample('parallel-drafts', { script: 'script-other.yaml' });
    expect(asked(run).at(-1)).toBe('first');
    expect(run.output('second')).toBe('');
  });
});

describe('nested-research', () => {
  test('takes four views at the same time, two of them in a block inside of the block', async () => {
    const run = await runExample('nested-research');
    expect(run.result.outcome).toBe('succeeded');
    expect(asked(run).toSorted()).toEqual([
      'answer',
      'plan',
      'views/evidence/researcher',
      'views/evidence/sceptic',
      'views/history',
      'views/practice',
    ]);
    expect(run.system('answer')).toContain(run.output('views/evidence/researcher'));
    expect(run.system('answer')).toContain(run.output('views/evidence/sceptic'));
    const labels = [...run.prompt('answer').matchAll(/^\[(\S+) \(agent: /gm)].map(([, label]) => label);
    expect(labels).toEqual([
      'plan',
      'views/practice',
      'views/evidence/researcher',
      'views/evidence/sceptic',
      'views/history',
    ]);
  });

  test('leaves the history out when the plan says so', async () => {
    const run = await runExample('nested-research', { script: 'script-other.yaml' });
    expect(run.result.outcome).toBe('succeeded');
    expect(asked(run)).not.toContain('views/history');
  });
});

describe('retried-digest', () => {
  test('repeats a block as a whole, goes on without the picture, and is degraded', async () => {
    const run = await runExample('retried-digest');
    expect(run.result.outcome).toBe('degraded');
    const retries = run.events.filter((event) => event.type === 'step.retrying').map((event) => event.path);
    expect(retries).toEqual(['reports', 'digest']);
    expect(run.output('picture')).toBe('');
    expect(run.prompt('digest')).toContain(`[reports/world (agent: scout)]:\n${run.output('reports/world')}`);
    expect(run.prompt('digest').match(/\(agent: scout\)/g)).toHaveLength(2);
    expect(run.prompt('digest')).not.toContain('picture');
  });
});

describe('localise', () => {
  test('works the languages off, asks, and has another file make the page', async () => {
    const run = await runExample('localise', { inputs: { prompt: 'Closed until Monday' } });
    expect(run.result.outcome).toBe('succeeded');
    expect(asked(run).filter((step) => step.startsWith('texts'))).toHaveLength(4);
    expect(given(run, 'texts')).toEqual([
      'Das Geschäft bleibt bis Montag geschlossen.',
      "Le magasin est fermé jusqu'à lundi.",
    ]);
    expect(given(run, 'approval')).toBe('yes');
    expect(run.prompt('publish/page')).toContain('[approval (answer)]:\nyes');
    expect(run.output('publish/check')).toContain('## French');
  });

  test('publishes nothing after a no', async () => {
    const run = await runExample('localise', { script: 'script-other.yaml' });
    expect(run.result.outcome).toBe('succeeded');
    expect(given(run, 'approval')).toBe('no');
    expect(asked(run).filter((step) => step.startsWith('publish'))).toEqual([]);
  });
});

describe('project-notes', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skein-example-'));
    const who = ['-c', 'user.name=Sample', '-c', 'user.email=sample@example.org', '-c', 'commit.gpgsign=false'];
    for (const words of [['init'], ['commit', '--allow-empty', '-m', 'Accept several input files']]) {
      execFileSync('git', [...who, ...words], { cwd: folder, stdio: 'ignore' });
    }
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('reads, runs git and writes the page; what permissions allow happens unasked', async () => {
    const run = await runExample('project-notes', { cwd: folder });
    expect(run.result.outcome).toBe('succeeded');
    expect(run.tools('look/files').toSorted()).toEqual(['list_dir ok', 'think ok']);
    expect(run.tools('look/history')).toEqual(['shell ok']);
    expect(run.tools('notes')).toEqual(['write_file ok']);
    expect(await readFile(join(folder, 'NOTES.md'), 'utf8')).toMatch(/^# Notes\n/);
  });

  test('has the models and the tools that its sections say', async () => {
    const { workflow } = await runExample('project-notes', { cwd: folder });
    const writer = workflow.plan?.nodes.find((node) => node.id === 'notes');
    expect(writer).toMatchObject({
      agent: {
        models: ['anthropic/claude-sonnet-5'],
        settings: { maxOutputTokens: 8_000, temperature: 0.2 },
        tools: ['read_file', 'list_dir', 'glob', 'grep', 'write_file', 'edit_file'],
        permissions: { deny: ['shell:cmd=git push*'], allow: ['shell:cmd=git log*', 'write_file'] },
      },
    });
  });
});
