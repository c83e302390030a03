import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { usdText } from '../../src/events/cost-text.js';
import { addUsd } from '../../src/events/cost.js';
import type { Spending } from '../../src/events/spending.js';
import { Books, PRICES } from './support/books.js';
import { documentOf, makeProject, startSkein } from './support/skein.js';
import { served } from './support/served.js';

const FLOW = `models:
  m: { provider: openai, model: books }
agents:
  planner:
    model: m
    instruction: You name languages.
    structured_output: { schema: { type: object, properties: { languages: { type: array, items: { type: string } } } } }
  translator: { model: m, instruction: You translate. }
  signer: { model: m, instruction: You sign. }
workflow:
  - { id: plan, type: agent, name: planner }
  - id: texts
    type: map
    over: "{{ $steps.plan.output.languages }}"
    concurrency: 1
    steps:
      - { id: text, type: agent, name: translator, prompt: "Into {{ $item }}", retry: { max_attempts: 1, initial_delay: 1ms } }
  - { id: publish, type: call, file: publish.yaml }
  - { id: sign, type: agent, name: signer }
`;
const PUBLISH = `models:
  m: { provider: openai, model: books }
agents:
  layouter: { model: m, instruction: You make pages. }
  checker: { model: m, instruction: You check pages. }
workflow:
  - { id: page, type: agent, name: layouter }
  - { id: check, type: agent, name: checker }
`;
const ANSWERS = {
  'name languages': '{"languages":["German","French","Dutch"]}',
  'translate well': 'Der Laden öffnet am Montag.',
  translate: 'Der Laden bleibt bis Montag zu.',
  'make pages': '# A page with three texts',
  'check pages': 'The page is complete.',
  sign: 'Signed by the shop',
};
const RUN = ['--prices', 'prices.yaml', '--audit-dir', 'audit'];

type Project = Awaited<ReturnType<typeof begin>>;

async function begin() {
  const books = await Books.open(ANSWERS);
  const cwd = await makeProject({ 'flow.yaml': FLOW, 'publish.yaml': PUBLISH, 'prices.yaml': PRICES });
  return { books, cwd, env: books.env, [Symbol.asyncDispose]: () => books[Symbol.asyncDispose]() };
}

function run({ cwd, env }: Project, ...args: readonly string[]) {
  return served(['exec', 'flow.yaml', 'go', ...RUN, ...args], { cwd, env });
}

/** What every way of looking at the newest run says that it cost. */
async function shownOf({ cwd }: Project) {
  const show = documentOf(await served(['show', '-1', '--json'], { cwd })) as unknown as Spending;
  const text = (await served(['show', '-1'], { cwd })).stdout;
  const { moments } = JSON.parse((await served(['logs', '-1', '--json'], { cwd })).stdout) as {
    readonly moments: readonly { readonly cost?: { readonly usd: number } }[];
  };
  const logs = moments.reduce((sum, { cost }) => sum + Math.round((cost?.usd ?? 0) * 1e9), 0) / 1e9;
  return { show, text, logs };
}

/** What the newest audit folder says of its run. */
async function audited(cwd: string): Promise<unknown> {
  const folder = (await readdir(join(cwd, 'audit'))).toSorted().at(-1) ?? '';
  return JSON.parse(await readFile(join(cwd, 'audit', folder, 'workflow.meta.json'), 'utf8'));
}

interface Costs {
  readonly whole: Spending;
  readonly days: readonly Spending[];
  readonly workflows: readonly Spending[];
  readonly models: readonly Spending[];
}

async function costsOf({ cwd }: Project): Promise<Costs> {
  return JSON.parse((await served(['runs', '--costs', '--json'], { cwd })).stdout) as Costs;
}

describe('[15] what is shown equals what the server bills', () => {
  test('of a run with a map, a called workflow, cached input, a call that was refused, and an answer that had to be mended', async () => {
    await using project = await begin();
    const { books, cwd } = project;
    books.troubles.set('name languages', ['babbles']);
    books.troubles.set('translate', ['refuses']);
    const end = await run(project, '--verbose');
    expect(end.code, end.stderr).toBe(0);
    const usd = books.usd();
    expect([books.billed.length, usd > 0]).toEqual([8, true]);
    const { show, text, logs } = await shownOf(project);
    expect(show).toMatchObject({ usd, unpricedCalls: 0, modelCalls: 9, failedModelCalls: 1 });
    expect(show).not.toHaveProperty('estimated');
    expect(logs).toBe(usd);
    const input = books.billed.reduce((sum, one) => sum + one.input, 0);
    const cached = books.billed.reduce((sum, one) => sum + one.cached, 0);
    const share = `${Math.round((100 * cached) / input)}% of input from cache, ${usdText(usd)}`;
    expect(cached).toBeGreaterThan(0);
    expect(text).toContain(share);
    // The summary on stderr: its census line, and the line of all calls.
    expect(end.stderr).toMatch(new RegExp(`succeeded in [^:]+: 9 succeeded; \\${usdText(usd)}\n`));
    expect(end.stderr).toContain(`${share}\n`);
    expect(end.stderr).toContain('tokens in, 8 out, 0 tool calls, 50% of input from cache, $');
    expect(await audited(cwd)).toMatchObject({ cost_usd: usd, unpriced_calls: 0 });
    const costs = await costsOf(project);
    for (const part of [[costs.whole], costs.days, costs.workflows, costs.models])
      expect(part).toEqual([expect.objectContaining({ usd, unpricedCalls: 0 })]);
    const report = (await served(['runs', '--costs'], { cwd })).stdout;
    expect(report).toMatch(new RegExp(`\nin all 1 run, 9 model calls, .*, \\${usdText(usd)}\n$`));
  });

  test('of a run that was killed and resumed: the session, what was before, what was saved, and the whole', async () => {
    await using project = await begin();
    const { books, cwd, env } = project;
    books.troubles.set('check pages', ['hangs']);
    const hangs = new Promise<void>((resolve) => (books.onHang = resolve));
    const first = startSkein(['exec', 'flow.yaml', 'go', ...RUN], { cwd, env, input: '' });
    await hangs;
    first.child.kill('SIGKILL');
    await first.ended;
    const before = books.billed.length;
    expect(before).toBe(5);
    const resumed = await served(['resume', '-1', '--json'], { cwd, env });
    expect(documentOf(resumed)).toMatchObject({
      outcome: 'succeeded',
      usd: books.usd(before),
      before: { usd: books.usd(0, before) },
      saved: { modelCalls: 5, usd: books.usd(0, before) },
    });
    const { show, logs } = await shownOf(project);
    expect([show.usd, logs]).toEqual([books.usd(), books.usd()]);
    expect(await audited(cwd)).toMatchObject({ cost_usd: books.usd() });
    expect((await costsOf(project)).whole.usd).toBe(books.usd());
  });

  test('after an edit what it superseded was paid all the same; a fork begins at nothing, and saves what it reuses', async () => {
    await using project = await begin();
    const { books, cwd, env } = project;
    books.troubles.set('sign', ['refuses', 'refuses', 'refuses']);
    expect((await run(project)).code).toBe(3);
    const before = books.billed.length;
    await writeFile(join(cwd, 'flow.yaml'), FLOW.replace('You translate.', 'You translate well.'));
    const edited = await served(['resume', '-1'], { cwd, env });
    expect(edited.code, edited.stderr).toBe(0);
    // Three texts and what comes of them; the plan is reused.
    const again = books.usd(before);
    expect(edited.stderr).toContain(`\n1 reused (saved ${usdText(books.usd(0, 1))}), `);
    expect(edited.stderr).toContain(`; ${usdText(again)}\n`);
    expect((await shownOf(project)).show.usd).toBe(books.usd());
    expect(await audited(cwd)).toMatchObject({ cost_usd: books.usd() });

    const whole = books.billed.length;
    const forked = documentOf(await served(['fork', '-1', '--from', 'sign', '--json'], { cwd, env }));
    expect(forked).toMatchObject({ outcome: 'succeeded', modelCalls: 1, usd: books.usd(whole) });
    const reused = addUsd(books.usd(0, 1), books.usd(before, whole - 1));
    expect(forked).toMatchObject({ saved: { modelCalls: 6, usd: reused } });
    expect((await shownOf(project)).show.usd).toBe(books.usd(whole));
    const parent = documentOf(await served(['show', '-2', '--json'], { cwd }));
    expect(parent).toMatchObject({ usd: books.usd(0, whole) });
    expect((await costsOf(project)).whole.usd).toBe(books.usd());
  });
});

describe('[15] what the server does not count', () => {
  test('is estimated, and never less than what it bills: calls that were cut off, and answers without a usage', async () => {
    await using project = await begin();
    const { books, cwd } = project;
    books.troubles.set('translate', ['cuts']);
    books.troubles.set('make pages', ['counts nothing']);
    const end = await run(project);
    expect(end.code, end.stderr).toBe(0);
    const { show, text, logs } = await shownOf(project);
    expect(show).toMatchObject({ estimated: true, unpricedCalls: 0, failedModelCalls: 1 });
    expect(show.usd).toBeGreaterThanOrEqual(books.usd());
    expect(logs).toBe(show.usd);
    expect(text).toContain(`, about ${usdText(show.usd)}\n`);
    expect(end.stderr).toContain(`; about ${usdText(show.usd)}\n`);
    expect(await audited(cwd)).toMatchObject({
      cost_usd: show.usd,
      cost_estimated: true,
    });
  });

  test('counts as what its budget reserved when the process died in the middle of the call', async () => {
    await using project = await begin();
    const { books, cwd, env } = project;
    books.troubles.set('check pages', ['hangs']);
    const hangs = new Promise<void>((resolve) => (books.onHang = resolve));
    await writeFile(join(cwd, 'flow.yaml'), `budget: 5\n${FLOW}`);
    const first = startSkein(['exec', 'flow.yaml', 'go', ...RUN], { cwd, env, input: '' });
    await hangs;
    first.child.kill('SIGKILL');
    await first.ended;
    const killed = (await shownOf(project)).show;
    expect(killed).toMatchObject({ estimated: true, modelCalls: 6, failedModelCalls: 1 });
    const lost = addUsd(killed.usd, -books.usd());
    expect(lost).toBeGreaterThan(0);
    const resumed = documentOf(await served(['resume', '-1', '--json'], { cwd, env }));
    expect(resumed).toMatchObject({ outcome: 'succeeded', before: { usd: killed.usd } });
    const { show, logs } = await shownOf(project);
    expect([show.usd, logs]).toEqual([addUsd(books.usd(), lost), addUsd(books.usd(), lost)]);
    expect((await costsOf(project)).whole.usd).toBe(show.usd);
    expect(await audited(cwd)).toMatchObject({ cost_usd: show.usd, cost_estimated: true });
  });

  test('is said to be unknown where the model has no price', async () => {
    await using project = await begin();
    const { cwd, env } = project;
    const end = await served(['exec', 'flow.yaml', 'go'], { cwd, env });
    expect(end.stderr).toContain('; cost unknown\n');
    expect((await shownOf(project)).show).toMatchObject({ usd: 0, unpricedCalls: 7 });
    expect((await served(['compare', '-1', '-1'], { cwd })).stdout).toMatch(/\ncost +cost unknown +cost unknown\n/);
  });
});
