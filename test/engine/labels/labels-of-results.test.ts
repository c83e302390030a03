import { describe, expect, test } from 'vitest';
import { startRun } from '../../../src/engine/run.js';
import { plan, task } from '../plans.js';

const graph = plan({
  inputs: [
    { name: 'page', channel: 'page', required: true },
    { name: 'own', channel: 'own', required: true },
  ],
  channels: ['page', 'own', 'summary', 'gone'],
  nodes: [task('read'), task('clear')],
  edges: ['read>clear'],
});
const bindings = {
  read: ({ page }: Readonly<Record<string, unknown>>) => ({ summary: page, gone: page }),
  clear: () => ({ gone: undefined }),
};
const PAGE = { level: 'untrusted', isPrivate: false, sources: ['input:page'] };

async function ran(untrusted: readonly string[]) {
  return await startRun(graph, { inputs: { page: 'a', own: 'b' }, bindings, untrusted }).result;
}

describe('the labels of a result', () => {
  test('are there before anybody looks: as data, as a copy and as JSON', async () => {
    const result = await ran(['page']);
    const wanted = { page: PAGE, summary: PAGE };
    expect(Object.keys(result)).toContain('labels');
    expect({ ...result }.labels).toEqual(wanted);
    expect(structuredClone(result).labels).toEqual(wanted);
    expect(JSON.parse(JSON.stringify(result))).toMatchObject({ labels: wanted });
    expect(result.labels).toBe(result.labels);
    expect(Object.getOwnPropertyDescriptor(result, 'labels')).toMatchObject({ value: wanted, enumerable: true });
  });

  test('name nothing that is gone, and are absent where nobody but the user had a say', async () => {
    expect(Object.keys((await ran(['page'])).labels ?? {})).toEqual(['page', 'summary']);
    expect(Object.keys(await ran([]))).not.toContain('labels');
  });
});
