import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesIn, record, tempDir, workflowOf, agentNode } from './support/folder.js';

const DOCS = readFileSync(join(import.meta.dirname, '../../docs/dag.md'), 'utf8');

/** The block of the docs that draws a run folder. */
const DRAWN = DOCS.slice(DOCS.indexOf('## The audit folder')).split('```')[1] ?? '';

test('every file that is kept in a run folder is named in the docs', async () => {
  const memory = { initial: 'Goal: ship', inject: true } as never;
  const workflow = workflowOf([agentNode('scan'), agentNode('fails', { onError: 'continue' })], [['scan', 'fails']], {
    settings: { memory, streaming: true },
  });
  const { path, problems } = await record(
    workflow,
    (node, step) => {
      step.note({ kind: 'prompt', system: 'You help.', prompt: 'scan', model: 'mock/first' });
      step.note({ kind: 'model.delta', text: 'fine' });
      step.note({ kind: 'memory', mode: 'append', text: 'looked' });
      if (node.id === 'fails') throw new Error('no');
      return { type: 'done', output: 'fine' };
    },
    { dir: await tempDir() },
  );
  expect(problems).toEqual([]);
  const names = new Set((await filesIn(path)).map((file) => file.replace(/^steps\/[^/]+\//, '')));
  const shown = [...names].filter((name) => !name.startsWith('.'));
  expect(shown.toSorted()).toEqual([
    'final_output.md',
    'memory.md',
    'output.md',
    'prompt.md',
    'step.meta.json',
    'stream.jsonl',
    'system.md',
    'workflow.meta.json',
    'workflow.yaml',
  ]);
  expect(shown.filter((name) => !DRAWN.includes(`${name} `))).toEqual([]);
});
