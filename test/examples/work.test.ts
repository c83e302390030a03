import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runExample } from './support/run-example.js';

describe('release-notes', () => {
  let folder: string;

  const git = (...args: readonly string[]): void => {
    const who = ['-c', 'user.name=Sample', '-c', 'user.email=sample@example.org', '-c', 'commit.gpgsign=false'];
    execFileSync('git', [...who, ...args], { cwd: folder, stdio: 'ignore' });
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skein-example-'));
    git('init');
    git('commit', '--allow-empty', '-m', 'Accept several input files');
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('reads the history with git and writes nothing unless a file is named', async () => {
    const run = await runExample('release-notes', { cwd: folder, realTools: true });
    expect(run.result.outcome).toBe('succeeded');
    expect(run.skipped).toEqual(['save']);
    expect(run.tools('history')).toEqual(['shell ok']);
    const [output] = run.events.flatMap((event) =>
      event.type === 'step.note' && event.note.kind === 'tool.ended' ? [event.note.output] : [],
    );
    expect(output).toContain('Accept several input files');
    expect(existsSync(join(folder, 'NOTES.md'))).toBe(false);
  });

  test('decision 14: writes the file that is named, with a tool that its agent names', async () => {
    const run = await runExample('release-notes', {
      cwd: folder,
      script: 'script-other.yaml',
      inputs: { file: 'NOTES.md' },
    });
    expect(run.result.outcome).toBe('succeeded');
    expect(run.skipped).toEqual([]);
    // There is no such file at first, which the agent is told as an error, and it goes on.
    expect(run.tools('save')).toEqual(['read_file error', 'write_file ok']);
    expect(await readFile(join(folder, 'NOTES.md'), 'utf8')).toMatch(/^## Unreleased\n/);
  });
});

describe('news-trends', () => {
  test('seven beats start together and their editor reads all of them', async () => {
    const run = await runExample('news-trends');
    const beats = ['politics', 'economy', 'technology', 'science', 'health', 'climate', 'society'];
    const starts = run.events.filter((event) => event.type === 'step.started').map((event) => event.path);
    expect(starts.slice(0, 7)).toEqual(beats);
    expect(run.events.findIndex((event) => event.type === 'step.ended')).toBeGreaterThan(
      run.events.findIndex((event) => event.type === 'step.started' && event.path === 'society'),
    );
    for (const beat of beats) expect(run.prompt('trends')).toContain(run.output(beat));
    expect(run.system('politics')).toContain('# Reporting from sources');
  });

  test('32: tries a beat that took too long again and then goes on without it', async () => {
    const run = await runExample('news-trends');
    expect(run.result.outcome).toBe('degraded');
    expect(run.result.census).toMatchObject({ succeeded: 7, degraded: 1, failed: 0 });
    const retries = run.events.filter((event) => event.type === 'step.retrying');
    expect(retries.map((event) => event.path)).toEqual(['society']);
    expect(run.output('society')).toBe('');
  });

  test('all seven inputs have defaults that the prompts use', async () => {
    const run = await runExample('news-trends', { inputs: { region: 'South America' } });
    const { plan } = run.workflow;
    expect(plan?.inputs.map((input) => input.required)).toEqual(Array(7).fill(false));
    expect(run.prompt('health')).toContain('a reader in South America');
    expect(run.prompt('health')).toContain('the 3 most important stories of the last 48 hours');
  });
});
