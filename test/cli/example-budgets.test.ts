import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeProject, ROOT } from './support/skein.js';
import { served } from './support/served.js';

/** An example of each notation, with what it is started with. */
const EXAMPLES: readonly (readonly [notation: string, file: string, ...words: readonly string[]])[] = [
  ['DAG', 'news-trends/workflow.yaml'],
  ['pipeline', 'localise/workflow.yaml'],
  ['Agentfile', 'press-release/Agentfile', '--input', 'product=the Lyra loom'],
  ['pack', 'draft-and-review/drafts.pack.json', '--input', 'topic=looms', '--message', 'Begin.'],
  ['graph', 'graph-loop/workflow.ts', '--input', 'topic=looms'],
  ['tree', 'gtd-next-action/workflow.ts', '--input', 'hours_available=4', '--input', 'style=concise'],
];

it.each(EXAMPLES)(
  '[15] %s, examples/%s: ends with 6 where its budget is too small, and goes on where it is raised',
  async (_, file, ...words) => {
    const [name = ''] = file.split('/');
    const cwd = await makeProject();
    await cp(join(ROOT, 'examples', name), join(cwd, 'examples', name), { recursive: true });
    const run = ['run', `examples/${file}`, ...words, `--mock=examples/${name}/script.yaml`, '--no-audit'];
    const first = await served([...run, '--budget', '2-calls', '--json'], { cwd });
    expect(first.code, first.stderr).toBe(6);
    // Of a pack it is a document of a conversation, with a run in it.
    expect(first.stdout).toMatch(/"outcome": ?"out_of_budget"/);
    expect(first.stdout).toMatch(/"modelCalls": ?2\b/);
    const again = await served(['resume', '-1', '--budget', '+60-calls', '--json'], { cwd });
    // 5: what is left is a question to a person.
    expect([0, 5], again.stderr).toContain(again.code);
    expect(again.stdout).toMatch(/"modelCalls": ?[1-9]/);
  },
);
