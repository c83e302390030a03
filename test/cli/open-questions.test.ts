import { describe, expect, it } from 'vitest';
import { documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const FLOW = `
import { graph } from 'skein/graph';
export default graph({ name: 'order' })
  .node('size', ({ item }, step) => step.ask({ text: 'Which size?', schema: { type: 'integer' } }, 'size'))
  .node('colour', ({ item }, step) => step.ask({ text: 'Which colour?', choices: ['red', 'blue'] }))
  .node('order', ({ size, colour }) => size + ' ' + colour);
`;

describe('[XG7] open questions on the command line', () => {
  it('have one form in run, show, thread and answer', { timeout: 240_000 }, async () => {
    const cwd = await makeProject({ 'flow.mjs': FLOW });
    const words = ['run', 'flow.mjs', '--json', '--no-audit', '--thread', 'ada', '-i', 'item=cap'];
    const ended = await served(words, { cwd });
    expect(ended.code).toBe(5);
    const { questions } = documentOf(ended) as { questions?: readonly { key: string }[] };
    expect(questions).toMatchObject([
      { key: 'size@ask:size', path: 'size', name: 'size', question: 'Which size?', schema: { type: 'integer' } },
      { key: 'colour@ask:1', path: 'colour', name: '1', question: 'Which colour?', choices: ['red', 'blue'] },
    ]);
    for (const command of [
      ['show', '-1'],
      ['thread', 'ada'],
      ['answer', '-1'],
    ])
      expect(documentOf(await served([...command, '--json'], { cwd }))).toMatchObject({ questions });
    const [, colour] = questions ?? [];
    const answered = await served(['answer', '-1', 'size', '4', '--json'], { cwd });
    expect(documentOf(answered)).toMatchObject({ value: 4, left: [colour] });
    const again = documentOf(await served(['resume', '-1', '--json', '--no-audit'], { cwd }));
    expect(again['questions']).toEqual([colour]);
    expect((await served(['answer', '-1', 'blue'], { cwd })).code).toBe(0);
    const last = documentOf(await served(['resume', '-1', '--json', '--no-audit'], { cwd }));
    expect([last['outcome'], last['questions'], last['state']]).toMatchObject([
      'succeeded',
      undefined,
      { order: '4 blue' },
    ]);
  });

  it('take the name of another step only as a choice, not as a text', async () => {
    const cwd = await makeProject({
      'flow.mjs': `
import { graph } from 'skein/graph';
export default graph({ name: 'order' })
  .node('draft', () => 'A text.')
  .node('why', ({ draft }, step) => step.ask({ text: 'Why?' }))
  .node('next', ({ why }, step) => step.ask({ text: 'Which step?', choices: ['draft', 'done'] }));
`,
    });
    await served(['run', 'flow.mjs', '--no-audit'], { cwd });
    const refused = await served(['answer', '-1', 'draft'], { cwd });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("the run has no question 'draft'")]);
    expect((await served(['answer', '-1', 'why', 'draft'], { cwd })).stdout).toBe('why is answered: "draft"\n');
    await served(['resume', '-1', '--no-audit'], { cwd });
    expect((await served(['answer', '-1', 'draft'], { cwd })).stdout).toBe('next is answered: "draft"\n');
  });
});
