import { describe, expect, test } from 'vitest';
import research from '../../examples/graph-research/workflow.js';
import team from '../../examples/graph-team/workflow.js';
import { exampleFile } from './support/run-example.js';

describe('graph-research', () => {
  test('two searches start together, and what they find is worked off as a list', async () => {
    const { outcome, answer, nodesRun, events } = await research.run({ query: 'Looms' });
    expect(outcome).toBe('succeeded');
    expect(answer).toMatch(/^Looms, 3 facts:\n- A loom .*\n- Jacquard .*\n- The warp .*$/);
    expect(nodesRun).toEqual(['encyclopedia', 'notes', 'found', 'facts', 'summary']);
    const started = events.filter(({ type }) => type === 'node_start').map(({ path }) => path);
    expect(started.slice(0, 2)).toEqual(['encyclopedia', 'notes']);
    expect(started).toContain('facts[2]/each');
  });

  test('nothing that is found takes the other way', async () => {
    const { answer, census } = await research.run({ query: 'clouds' });
    expect(answer).toBe('nothing is known of clouds');
    expect(census).toMatchObject({ succeeded: 4, skipped: 2, failed: 0 });
  });
});

describe('graph-team', () => {
  const task = 'Compare looms and mills.';
  const runWith = (script: string, answer: string) =>
    team.run({ task }, { models: { env: {}, script: exampleFile('graph-team', script) }, answer: async () => answer });

  test('the lead calls the workflow and its own tool, and a person agrees', async () => {
    const { outcome, state, events, error } = await runWith('script.yaml', 'yes');
    expect(error).toBeUndefined();
    expect(outcome).toBe('succeeded');
    expect(state.result).toBe('Looms weave, mills grind.');
    const tools = events.filter(({ type }) => type === 'tool_end').map(({ metadata }) => metadata['tool']);
    expect(tools).toEqual(['research_workflow', 'word_count']);
    expect(events.some(({ node, source }) => node === 'report' && source === 'research_workflow')).toBe(true);
  });

  test('or does not', async () => {
    expect((await runWith('script-other.yaml', 'no')).state.result).toBe('Nothing was published.');
  });
});
