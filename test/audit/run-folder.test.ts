import { createHash } from 'node:crypto';
import { mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRunFolder } from '../../src/audit/run-folder.js';
import { SkeinError } from '../../src/base/errors.js';
import { agentNode, echo, filesIn, read, readJson, record, tempDir, workflowOf } from './support/folder.js';
import type { Script } from './support/folder.js';

const START = Date.UTC(2026, 2, 26, 10, 0, 0, 250);

async function waitFor(path: string): Promise<void> {
  for (;;) {
    const there = await stat(path).catch(() => undefined);
    if (there !== undefined) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('what a run folder holds', () => {
  it('has the documented layout: levels, prompts, answers, metadata (statements 75, 80)', async () => {
    const dir = join(await tempDir(), 'deep', '.workflow-runs');
    const text = 'name: code review\r\n# résumé\nsteps: []';
    const nodes = [agentNode('step-a'), agentNode('other'), agentNode('step-b')];
    const workflow = workflowOf(nodes, [['step-a', 'step-b']], { text });
    const { path, problems } = await record(workflow, echo, { dir, startedAt: START });
    expect(problems).toEqual([]);
    expect(dirname(path)).toBe(dir);
    expect(basename(path)).toBe('2026-03-26T10-00-00_code-review_23456789');
    expect(await filesIn(path)).toEqual([
      '.skein-run',
      'final_output.md',
      'steps/00_other/output.md',
      'steps/00_other/prompt.md',
      'steps/00_other/step.meta.json',
      'steps/00_step-a/output.md',
      'steps/00_step-a/prompt.md',
      'steps/00_step-a/step.meta.json',
      'steps/01_step-b/output.md',
      'steps/01_step-b/prompt.md',
      'steps/01_step-b/step.meta.json',
      'workflow.meta.json',
      'workflow.yaml',
    ]);
    expect(await read(path, 'workflow.yaml')).toBe(text);
    expect(await read(path, 'steps/01_step-b/prompt.md')).toBe('do step-b');
    expect(await read(path, 'steps/01_step-b/output.md')).toBe('answer of step-b');
  });

  it('writes run metadata under the names of document and code (decision 1)', async () => {
    const dir = await tempDir();
    const workflow = workflowOf([agentNode('a')]);
    const { path, result } = await record(workflow, echo, { dir, startedAt: START, inputs: { files: 'src/*.go' } });
    const meta = await readJson(path, 'workflow.meta.json');
    expect(meta).toMatchObject({
      name: 'code review',
      workflow_name: 'code review',
      run_id: 'run-0123456789',
      started_at: '2026-03-26T10:00:00.250Z',
      status: 'completed',
      outcome: 'succeeded',
      inputs: { files: 'src/*.go' },
      config_hash: createHash('sha256').update('name: code review\n').digest('hex'),
      census: result.census,
    });
    expect(meta['duration_ms']).toBe(Date.parse(String(meta['completed_at'])) - START);
    expect(meta['duration_seconds']).toBe(Number(meta['duration_ms']) / 1_000);
    expect(meta).not.toHaveProperty('error');
  });

  it('says running from before the first step to the end (statement 79)', async () => {
    const dir = await tempDir();
    const seen: unknown[] = [];
    const workflow = workflowOf([agentNode('a')]);
    const { path } = await record(
      workflow,
      async (node, step) => {
        const [name = ''] = await readdir(dir);
        const { status, completed_at } = await readJson(dir, name, 'workflow.meta.json');
        seen.push(status, completed_at, (await readJson(dir, name, '.skein-run'))['state']);
        return echo(node, step);
      },
      { dir },
    );
    expect(seen).toEqual(['running', undefined, 'running']);
    expect((await readJson(path, '.skein-run'))['state']).toBe('ended');
  });

  it('fills defaults of inputs in', async () => {
    const dir = await tempDir();
    const workflow = workflowOf([agentNode('a')]);
    const inputs = [
      { channel: 'inputs.depth', name: 'depth', required: false, default: 'full' },
      { channel: 'inputs.topic', name: 'topic', required: true },
    ];
    const plan = { ...workflow.plan!, inputs };
    const folder = await openRunFolder({
      workflow: { ...workflow, plan },
      runId: 'r1',
      dir,
      keep: 0,
      inputs: { topic: 'looms' },
      secrets: [],
    });
    expect((await readJson(folder.path, 'workflow.meta.json'))['inputs']).toEqual({ depth: 'full', topic: 'looms' });
    expect(await folder.close()).toEqual([]);
  });

  it('records a run that never began as failed', async () => {
    const folder = await openRunFolder({
      workflow: workflowOf([agentNode('a')]),
      runId: 'r1',
      dir: await tempDir(),
      keep: 0,
      inputs: { big: 1n },
      secrets: [],
    });
    expect(await folder.close()).toEqual([]);
    const meta = await readJson(folder.path, 'workflow.meta.json');
    expect(meta['status']).toBe('failed');
    expect(meta['inputs_error']).toMatch(/BigInt/);
  });
});

describe('where a run folder is', () => {
  it('is another one for each run, also in the same second with the same id (statement 77)', async () => {
    const dir = await tempDir();
    const workflow = workflowOf([agentNode('a')]);
    const options = { dir, startedAt: START };
    const both = await Promise.all([record(workflow, echo, options), record(workflow, echo, options)]);
    const third = await record(workflow, echo, { ...options, runId: '0198a3c2-aaaa-7bbb-8ccc-1234567890ab' });
    expect(both.map(({ path }) => basename(path)).toSorted()).toEqual([
      '2026-03-26T10-00-00_code-review_23456789',
      '2026-03-26T10-00-00_code-review_23456789-2',
    ]);
    expect(basename(third.path)).toBe('2026-03-26T10-00-00_code-review_567890ab');
    for (const { path } of [...both, third]) expect(await read(path, 'steps/00_a/output.md')).toBe('answer of a');
  });

  it.each([
    ['../../etc/cron.d/x', 'etc-cron.d-x'],
    ['a/b\\c', 'a-b-c'],
    ['..', 'workflow'],
    ['line\nbreak\u0007\u202e', 'line-break'],
    ['', 'workflow'],
    ['x'.repeat(300), 'x'.repeat(40)],
    ['Überprüfung 検査', 'Überprüfung-検査'],
  ])('makes one safe name of the workflow name %j (A4, statement 77)', async (name, part) => {
    const dir = await tempDir();
    const { path, problems } = await record(workflowOf([agentNode('a')], [], { name }), echo, {
      dir,
      startedAt: START,
    });
    expect(problems).toEqual([]);
    expect(await readdir(dir)).toEqual([`2026-03-26T10-00-00_${part}_23456789`]);
    expect(basename(path)).toBe(`2026-03-26T10-00-00_${part}_23456789`);
  });

  it('goes through a linked folder to the real one, which is fixed from then on', async () => {
    const root = await tempDir();
    await mkdir(join(root, 'disk'));
    await symlink(join(root, 'disk'), join(root, 'link'));
    const { path } = await record(workflowOf([agentNode('a')]), echo, { dir: join(root, 'link/runs') });
    expect(dirname(path)).toBe(join(root, 'disk/runs'));
  });

  it('[XS7] is refused where the folder of run folders is a link', async () => {
    const root = await tempDir();
    await mkdir(join(root, 'disk'));
    await symlink(join(root, 'disk'), join(root, 'runs'));
    await expect(record(workflowOf([agentNode('a')]), echo, { dir: join(root, 'runs') })).rejects.toMatchObject({
      code: 'SKEIN_AUDIT',
    });
    expect(await readdir(join(root, 'disk'))).toEqual([]);
  });

  it('is not led elsewhere by links that a tool puts into it (A4, T13)', async () => {
    const root = await tempDir();
    const dir = join(root, 'runs');
    const outside = join(root, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'notes'), 'mine');
    const workflow = workflowOf([agentNode('a'), agentNode('b')], [['a', 'b']]);
    const script: Script = async (node, step) => {
      const [name = ''] = await readdir(dir);
      if (node.id === 'a') {
        // The folder of the next step, and the places of files that are still to come.
        await symlink(outside, join(dir, name, 'steps', '01_b'));
        await symlink(join(outside, 'notes'), join(dir, name, 'final_output.md'));
        await symlink(join(outside, 'new'), join(dir, name, '.workflow.meta.json.part'));
        await waitFor(join(dir, name, 'steps', '00_a'));
        await symlink(join(outside, 'notes'), join(dir, name, 'steps', '00_a', 'output.md'));
        await symlink(join(outside, 'notes'), join(dir, name, 'steps', '00_a', 'stream.jsonl'));
      }
      const done = await echo(node, step);
      step.note({ kind: 'model.started', turn: 1, model: 'm' });
      return done;
    };
    const { path, problems, result } = await record(workflow, script, { dir, streaming: true });
    expect(result.error).toBeUndefined();
    expect(await readdir(outside)).toEqual(['notes']);
    expect(await read(outside, 'notes')).toBe('mine');
    expect(await read(path, 'steps/00_a/output.md')).toBe('answer of a');
    expect(await read(path, 'final_output.md')).toContain('answer of b');
    const told = problems.map((problem) => problem.replace(/: (E[A-Z]+).*/s, ' $1'));
    expect(told).toContain('steps/01_b/output.md EEXIST');
    expect(told).toContain('steps/00_a/stream.jsonl ELOOP');
    expect(told).toContain('workflow.meta.json EEXIST');
  });

  it('is refused before anything runs when it cannot be made', async () => {
    const root = await tempDir();
    await writeFile(join(root, 'file'), 'mine');
    const options = { workflow: workflowOf([agentNode('a')]), runId: 'r1', keep: 0, inputs: {}, secrets: [] };
    // In /proc no folder can be made, and the system says that its parent is missing.
    const denied = process.platform === 'linux' ? ['/proc/runs', '/proc/runs/below'] : [];
    for (const dir of [join(root, 'file'), join(root, 'file', 'below'), ...denied]) {
      const refused = await openRunFolder({ ...options, dir }).catch((error: unknown) => error);
      expect(SkeinError.isInstance(refused) && refused.code).toBe('SKEIN_AUDIT');
      expect(SkeinError.isInstance(refused) && refused.hint).toContain('audit');
    }
    expect(await read(root, 'file')).toBe('mine');
  });
});
