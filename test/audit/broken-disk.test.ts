import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished, describe, expect, it } from 'vitest';
import { openRunFolder } from '../../src/audit/run-folder.js';
import { programOf } from '../programs.js';
import { agentNode, echo, filesIn, read, readJson, record, tempDir, workflowOf } from './support/folder.js';

const SCRIPT = await programOf(join(import.meta.dirname, 'support/recording-run.ts'));

/** Waits for so many lines on stdout. */
async function lines(child: ChildProcess, count: number): Promise<void> {
  let seen = 0;
  child.stdout?.setEncoding('utf8');
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error('it ended by itself')));
    child.stdout?.on('data', (text: string) => {
      seen += text.split('\n').length - 1;
      if (seen >= count) resolve();
    });
  });
}

describe('a killed process', () => {
  it.each([1, 25, 77, 160, 401])('leaves files that can be read when it is killed after %i events', async (events) => {
    const dir = await tempDir();
    const child = spawn(process.execPath, [SCRIPT, dir], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    await lines(child, events);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    expect(await ended).toEqual([null, 'SIGKILL']);
    const [name = ''] = await readdir(dir);
    const path = join(dir, name);
    const names = await filesIn(path);
    const whole = names.filter((file) => file.endsWith('.json') || file === '.skein-run');
    expect(whole).toContain('workflow.meta.json');
    for (const file of whole) await readJson(path, file);
    expect(await readJson(path, 'workflow.meta.json')).toMatchObject({ name: 'endless', status: 'running' });
    for (const file of names.filter((one) => one.endsWith('.jsonl'))) {
      // A line that was being written may be cut; all others are whole.
      for (const line of (await read(path, file)).split('\n').slice(0, -1)) JSON.parse(line);
    }
    const full = 'all work and no play '.repeat(1_000);
    for (const file of names.filter((one) => /\/(prompt|output)\.md$/.test(one)))
      expect(await read(path, file)).toBe(full);
    // What says that there is an output is written after the output.
    for (const file of whole.filter((one) => one.endsWith('work/step.meta.json'))) {
      const meta = await readJson(path, file);
      if ('output_file' in meta) expect(names).toContain(file.replace('step.meta.json', 'output.md'));
    }
    // The next run takes it for what it is: not running any more.
    const { path: next } = await record(workflowOf([agentNode('a')]), echo, { dir, keep: 1 });
    expect(await readdir(dir)).toEqual([next.slice(dir.length + 1)]);
  });
});

describe('a disk that takes no more', () => {
  it('does not disturb the run; what is missing is told at the end', async () => {
    const dir = await tempDir();
    // No file may grow beyond 16 kB: prompts and answers of 21 kB can't be written.
    const command = `ulimit -f 16; exec "${process.execPath}" "${SCRIPT}" "${dir}" once`;
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', command]);
    expect(stdout).toContain('outcome succeeded');
    const told = stderr.trim().split('\n');
    for (const file of ['prompt.md', 'output.md', 'stream.jsonl']) {
      expect(told.filter((line) => line.includes(file) && line.includes('EFBIG'))).toHaveLength(1);
    }
    const [name = ''] = await readdir(dir);
    const names = await filesIn(join(dir, name));
    expect(names.filter((file) => file.endsWith('.part') || /\/(prompt|output)\.md$/.test(file))).toEqual([]);
    const meta = await readJson(dir, name, 'workflow.meta.json');
    expect(meta['status']).toBe('completed');
    const step = await readJson(dir, name, 'steps/00_rounds-1.work/step.meta.json');
    expect(step['status']).toBe('completed');
    expect(step).not.toHaveProperty('output_file');
  });

  it('does not disturb the run when the folder is taken away', async () => {
    const dir = await tempDir();
    const workflow = workflowOf([agentNode('a'), agentNode('b')], [['a', 'b']]);
    const { result, problems, path } = await record(
      workflow,
      async (node, step) => {
        if (node.id === 'b') {
          const [name = ''] = await readdir(dir);
          await rename(join(dir, name), join(dir, 'elsewhere'));
        }
        return await echo(node, step);
      },
      { dir },
    );
    expect(result.outcome).toBe('succeeded');
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.every((problem) => problem.includes('ENOENT'))).toBe(true);
    expect(problems.some((problem) => problem.startsWith('workflow.meta.json'))).toBe(true);
    await expect(readdir(path)).rejects.toThrow('ENOENT');
  });

  it('tells of many failures with a number', async () => {
    const dir = await tempDir();
    const nodes = Array.from({ length: 100 }, (_, at) => agentNode(`n${at}`));
    const folder = await openRunFolder({
      workflow: workflowOf(nodes),
      runId: 'r',
      dir,
      keep: 0,
      inputs: {},
      secrets: [],
    });
    await rm(folder.path, { recursive: true });
    for (const [seq, { id }] of nodes.entries()) {
      const event = {
        runId: 'r',
        seq,
        at: 0,
        path: id,
        parent: '',
        type: 'step.started',
        node: id,
        kind: 'agent',
        visit: 1,
      };
      folder.listen(event as Parameters<typeof folder.listen>[0]);
    }
    const problems = await folder.close();
    expect(problems).toHaveLength(51);
    expect(problems.at(-1)).toBe('and 52 more');
    expect(await folder.close()).toEqual(problems);
  });

  it('does not stop when one file cannot be made', async () => {
    const dir = await tempDir();
    const { path, problems } = await record(
      workflowOf([agentNode('a')]),
      async (node, step) => {
        const [name = ''] = await readdir(dir);
        await mkdir(join(dir, name, 'final_output.md'));
        return await echo(node, step);
      },
      { dir },
    );
    expect(problems).toEqual([expect.stringContaining('final_output.md: EISDIR')]);
    expect((await readJson(path, 'workflow.meta.json'))['status']).toBe('completed');
  });

  it('takes an event that makes no sense as a failure of the record alone', async () => {
    const dir = await tempDir();
    const folder = await openRunFolder({ workflow: workflowOf([]), runId: 'r', dir, keep: 0, inputs: {}, secrets: [] });
    const event = {
      runId: 'r',
      seq: 0,
      at: Number.NaN,
      path: 'x',
      parent: 'y',
      type: 'step.started',
      node: 'x',
      kind: 'task',
      visit: 1,
    };
    folder.listen(event as Parameters<typeof folder.listen>[0]);
    const problems = await folder.close();
    expect(problems).toEqual([expect.stringContaining('Invalid time value')]);
  });
});
