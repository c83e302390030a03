import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isMap, parseDocument } from 'yaml';
import type { Document, YAMLMap, YAMLSeq } from 'yaml';
import { ROOT, documentOf, makeProject, startSkein } from './support/skein.js';
import { served } from './support/served.js';

const EXAMPLES = readdirSync(join(ROOT, 'examples'), { withFileTypes: true })
  .map(({ name }) => name)
  .filter((name) => existsSync(join(ROOT, 'examples', name, 'workflow.yaml')))
  // It comes to its end only with an event: test/cli/waits-of-files.test.ts.
  .filter((name) => name !== 'wait-for-an-event')
  // They need inputs and answers: test/examples/values.test.ts runs them.
  .filter((name) => !['form-by-questions', 'research-with-a-list', 'typed-inputs'].includes(name));

/** The answer of one step in the middle takes for ever, so that there is a middle to be killed in; gives the step. */
function hangInTheMiddle(script: Document): string {
  const rules = (script.get('rules') as YAMLSeq<YAMLMap>).items;
  const [early, late] = [rules.slice(0, Math.floor(rules.length / 2)), rules.slice(Math.floor(rules.length / 2))];
  const rule = [...late, ...early].find((one) => one.has('step'));
  if (rule === undefined) throw new Error('no rule names its step');
  const answer = rule.get('answer') ?? (rule.get('answers') as YAMLSeq).items.at(-1);
  if (isMap(answer)) answer.set('delay', '600s');
  else rule.set('answer', script.createNode({ text: answer, delay: '600s' }));
  return rule.get('step') as string;
}

/** A folder that is a repository with a history, which each example has a copy of. */
let repository = '';
beforeAll(async () => {
  repository = await mkdtemp(join(tmpdir(), 'skein-history-'));
  const who = ['-c', 'user.name=Sample', '-c', 'user.email=sample@example.org', '-c', 'commit.gpgsign=false'];
  for (const words of [
    ['init', '--template='],
    ['commit', '--allow-empty', '-m', 'Accept several input files'],
  ])
    execFileSync('git', [...who, ...words], { cwd: repository, stdio: 'ignore' });
});
afterAll(() => rm(repository, { recursive: true, force: true, maxRetries: 3 }));

/** A folder with an example where it expects to be, in a repository that it can read the history of. */
async function projectOf(name: string): Promise<{ readonly cwd: string; readonly script: string }> {
  const cwd = await makeProject();
  await cp(repository, cwd, { recursive: true });
  await cp(join(ROOT, 'examples', name), join(cwd, 'examples', name), { recursive: true });
  return { cwd, script: `examples/${name}/script.yaml` };
}

/** Steps that a screen says to be reused, to have succeeded, or to have ended somehow. */
function steps(screen: string, what: string): readonly string[] {
  return [...screen.matchAll(new RegExp(`^step (\\S+)(?: \\(agent [^)]+\\))? ${what}`, 'gm'))].map(([, id = '']) => id);
}

/** What a script needs that starts real commands: the folder to look into, and a yes. */
const GIVEN: Readonly<Record<string, readonly string[]>> = {
  'batch-over-files': ['--input', 'prompt=examples/batch-over-files/texts', '--trust'],
};

test('there is something to be killed', () => expect(EXAMPLES).toHaveLength(27));

test.each(EXAMPLES)(
  'done means: %s is killed in the middle, goes on with what it had, and gives what it gives undisturbed',
  async (name) => {
    const { cwd, script } = await projectOf(name);
    const words = ['run', `examples/${name}/workflow.yaml`, `--mock=${script}`, '--no-audit', ...(GIVEN[name] ?? [])];
    const undisturbed = await served([...words, '--no-store'], { cwd });
    const whole = documentOf(await served([...words, '--no-store', '--json'], { cwd }));

    const text = await readFile(join(cwd, script), 'utf8');
    const slow = parseDocument(text);
    const step = hangInTheMiddle(slow);
    await writeFile(join(cwd, script), slow.toString());
    const running = startSkein(words, { cwd, input: '' });
    await running.seen(`step ${step} started`);
    running.child.kill('SIGKILL');
    const killed = await running.ended;
    expect([killed.signal, killed.stdout]).toEqual(['SIGKILL', '']);
    await writeFile(join(cwd, script), text);

    const done = steps(killed.stderr, 'succeeded');
    expect(done.length).toBeGreaterThan(0);
    const resumed = await served(['resume', '-1', ...(name in GIVEN ? ['--trust'] : [])], { cwd });
    expect(steps(resumed.stderr, 'reused')).toEqual(expect.arrayContaining([...done]));
    expect(steps(resumed.stderr, '(?:succeeded|failed) in')).toContain(step);
    expect(resumed).toMatchObject({ code: undisturbed.code, stdout: undisturbed.stdout });

    // Each call was made once, before the end or after it. Under a budget, one that was under way at the end counts, too.
    const shown = JSON.parse((await served(['show', '-1', '--json'], { cwd })).stdout) as Record<string, unknown>;
    expect(shown['status']).toBe(whole['outcome']);
    const again = Number(shown['modelCalls']) - Number(whole['modelCalls']);
    const cut = steps(killed.stderr, 'started').length - steps(killed.stderr, '(?:succeeded|failed) in').length;
    expect(again).toBeGreaterThanOrEqual(0);
    const workflow = await readFile(join(cwd, 'examples', name, 'workflow.yaml'), 'utf8');
    expect(again).toBeLessThanOrEqual(/^budget:/m.test(workflow) ? cut : 0);
  },
);
