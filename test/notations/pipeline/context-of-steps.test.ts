import { describe, expect, it } from 'vitest';
import { agents, brief, loadText, runPipeline } from './run-pipeline.js';

const HEAD = agents('a', 'b', 'c', 'w');
const file = (steps: string, map = ''): string => `${HEAD}workflow:\n${map}  steps:\n${steps}`;
const FIRST = `    - {id: one, type: agent, name: a}
    - {id: par, type: parallel, steps: [{id: x, type: agent, name: b}, {id: y, type: agent, name: c}]}
`;
const last = (more = ''): string => `    - {id: end, type: agent, name: w, prompt: Go.${more}}\n`;
const answers = (step: string): string => `from ${step}`;
/** What stands above the prompt of the last step. */
const shown = async (text: string): Promise<readonly string[]> => {
  const ran = await runPipeline(text, answers);
  return [...ran.prompt('end').matchAll(/^\[(\S+) \(/gm)].map(([, label]) => label ?? '');
};

describe('[addition 10] context of a step', () => {
  it('is all outputs, none, or those of the steps and blocks that are named', async () => {
    expect(await shown(file(FIRST + last()))).toEqual(['one', 'par/x', 'par/y']);
    expect(await shown(file(FIRST + last(', context: all')))).toEqual(['one', 'par/x', 'par/y']);
    expect(await shown(file(FIRST + last(', context: none')))).toEqual([]);
    expect(await shown(file(FIRST + last(', context: [par]')))).toEqual(['par/x', 'par/y']);
    expect(await shown(file(FIRST + last(', context: [one]')))).toEqual(['one']);
    expect(await shown(file(FIRST + last(', context: []')))).toEqual([]);
    const ran = await runPipeline(file(FIRST + last(', context: none')), answers);
    expect(ran.prompt('end')).toBe('Go.');
  });

  it('is that of the map workflow where the step says nothing, also of a subworkflow', async () => {
    expect(await shown(file(FIRST + last(), '  context: [one]\n'))).toEqual(['one']);
    expect(await shown(file(FIRST + last(', context: all'), '  context: none\n'))).toEqual(['one', 'par/x', 'par/y']);
    const inner = `    - {id: sub, type: subworkflow, workflow: {context: [one], steps: [{id: in, type: agent, name: w, prompt: Go.}]}}\n`;
    const ran = await runPipeline(file(FIRST + inner), answers);
    expect(ran.prompt('sub/in')).toContain('[one (agent: a)]');
    expect(ran.prompt('sub/in')).not.toContain('par/x');
  });

  it('[unknown-step] is reported once for an id that does not exist, with the one that was meant', async () => {
    const { problems } = await loadText(file(FIRST + last(), '  context: [onee]\n'));
    expect(problems.map(({ code, hint }) => [code, hint])).toEqual([['unknown-step', 'did you mean "one"?']]);
    expect(brief((await loadText(file(FIRST + last(', context: some')))).problems).join()).toContain('unknown-value');
  });

  it('[issue 17] finds a step of its own block, and reads nothing else of the state', async () => {
    const { outcome, asked } = await runPipeline(file(FIRST + last(', context: [par, one, par]')), answers);
    expect([outcome, asked.length]).toEqual(['succeeded', 4]);
  });
});
