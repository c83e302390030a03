import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadWorkflow, loadWorkflowText } from 'skein/yaml';
import { ran, wrong } from './loops.js';

const dag = (...steps: readonly string[]): string =>
  `name: d\ninputs: { topic: { default: t } }\nagents: { w: { inline: { prompt: You write. } } }\nsteps:\n${steps.map((one) => `  - ${one}\n`).join('')}`;
const step = (id: string, prompt: string, more = ''): string => `{ id: ${id}, agent: w, prompt: "${prompt}"${more} }`;
const LIST = step('find', 'Find.');
const EACH = (more: string, steps: string, head = 'over: steps.find.output, '): string =>
  `{ id: each, type: map, depends_on: [find], ${head}${more}steps: [${steps}] }`;

/** A project with these files; the first one is run. */
async function project(files: Readonly<Record<string, string>>): Promise<string> {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), 'skein-types-')));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true });
    await writeFile(join(cwd, name), text);
  }
  return cwd;
}

describe('[addition 8] [G9] type: map in a DAG workflow', () => {
  it('runs its steps for each item, as a DAG of their own that sees what was before', async () => {
    const inner = `${step('work', '{{topic}} of {{inputs.topic}} and {{steps.find.output}}')}, ${step('sum', '{{topic}}: {{steps.work.output}}', ', depends_on: [work]')}`;
    const file = dag(LIST, EACH('as: topic, ', inner), step('last', '{{steps.each.output}}', ', depends_on: [each]'));
    const end = await ran(file, { find: ['["a", "b"]'], work: ['x'], sum: ['y', 'z'] });
    expect([end.outcome, end.asked.toSorted()]).toEqual([
      'succeeded',
      [
        'each[0]/sum: a: x',
        'each[0]/work: a of t and ["a", "b"]',
        'each[1]/sum: b: x',
        'each[1]/work: b of t and ["a", "b"]',
        'find: Find.',
        'last: ["y","z"]',
      ],
    ]);
  });

  it('reads paths of items, in texts and conditions', async () => {
    const inner = `${step('one', '{{item.name}}/{{item.deep.x?}}.')}, ${step('two', 'T', ', depends_on: [one], condition: { cel: item.n > 1 }')}, ${step('end', 'E', ', depends_on: [two]')}`;
    const end = await ran(dag(LIST, EACH('', inner)), { find: ['[{"name": "a", "n": 1}, {"name": "b", "n": 2}]'] });
    expect(end.asked.filter((one) => /one|two/.test(one))).toEqual([
      'each[0]/one: a/.',
      'each[1]/one: b/.',
      'each[1]/two: T',
    ]);
  });

  it('maps and loops stand in each other, and the inner ones see the items and rounds around them', async () => {
    const deep = `{ id: deep, type: map, over: part, as: x, steps: [${step('leaf', '{{part}}-{{x}}')}] }`;
    const again =
      `{ id: again, type: loop, depends_on: [deep], until: { line: DONE }, max_rounds: 2, steps: [${step('say', '{{x0}} {{steps.say.output?}}.')}] }`.replace(
        'x0',
        'part',
      );
    const end = await ran(dag(LIST, EACH('as: part, ', `${deep}, ${again}`)), {
      find: ['[["p", "q"]]'],
      say: ['more', 'DONE'],
    });
    expect(end.asked).toEqual([
      'find: Find.',
      'each[0]/deep[0]/leaf: ["p","q"]-p',
      'each[0]/deep[1]/leaf: ["p","q"]-q',
      'each[0]/again#1/say: ["p","q"] .',
      'each[0]/again#2/say: ["p","q"] more.',
    ]);
  });

  it('takes keys, bounds, and items that may fail', async () => {
    const { plan } = await loadWorkflowText(
      dag(
        LIST,
        EACH('as: f, key: path, max_items: 7, concurrency: 2, on_item_error: continue, ', step('one', '{{f}}')),
      ),
      { cwd: '/' },
    );
    expect(plan?.nodes[1]).toMatchObject({
      kind: 'map',
      key: ['path'],
      maxItems: 7,
      concurrency: 2,
      onItemError: 'leaveOut',
      result: 'steps.one.output',
      join: 'settled',
    });
  });

  it.each([
    [
      'nothing to go through',
      EACH('', step('one', 'x'), ''),
      'missing-over: nothing says what step "each" goes through',
    ],
    ['no steps', '{ id: each, type: map, over: inputs.topic }', 'no-steps: step "each" has no steps'],
    ['no value', EACH('', step('one', 'x'), 'over: a list, '), 'bad-reference: over of step "each" names no value'],
    [
      'an unknown step',
      EACH('', step('one', 'x'), 'over: steps.fnd.output, '),
      'unknown-step: step "each" refers to the step "fnd"',
    ],
    ['a name that means something', EACH('as: inputs, ', step('one', 'x')), 'bad-name: as of step "each" is "inputs"'],
    [
      'an end without an output',
      EACH('', '{ id: w, type: wait, for: 1s }'),
      'map-result: step "each" ends with step "w"',
    ],
    ['a bound of nothing', EACH('max_items: 0, ', step('one', 'x')), 'out-of-range: max_items of step "each"'],
    [
      'the map itself',
      EACH('', step('one', '{{steps.each.output}}')),
      'not-upstream: step "one" refers to the map around it',
    ],
  ])('%s is a problem', async (_, text, message) => {
    expect((await wrong(dag(LIST, text))).join('\n')).toContain(message);
  });

  it('its steps are not reached from outside: it has one for each item', async () => {
    const { problems } = await loadWorkflowText(
      dag(LIST, EACH('', step('one', 'x')), step('last', '{{steps.one.output}}', ', depends_on: [each]')),
      { cwd: '/' },
    );
    expect(problems.map(({ code, hint }) => [code, hint])).toEqual([
      ['unknown-step', 'it has one for each item: write steps.each.output'],
    ]);
  });

  it('an item is known inside of its map alone', async () => {
    const { problems } = await loadWorkflowText(
      dag(LIST, EACH('as: topic, ', step('one', '{{topic}}')), step('out', '{{topic}}')),
      { cwd: '/' },
    );
    expect(problems.map(({ code }) => code)).toEqual(['bad-reference']);
  });
});

describe('[addition 8] type: ask in a DAG workflow', () => {
  const ASK =
    '{ id: ok, type: ask, depends_on: [find], question: "Publish {{steps.find.output}}?", choices: [approve, reject] }';
  const file = dag(
    LIST,
    ASK,
    step('publish', 'P', ', depends_on: [ok], condition: { step: ok, equals: approve }'),
    step('last', '{{steps.ok.output}}', ', depends_on: [publish]'),
  );

  it.each([
    ['approve', ['find: Find.', 'publish: P', 'last: approve']],
    ['reject', ['find: Find.', 'last: reject']],
  ])('%s', async (answer, asked) => {
    const questions: string[] = [];
    const end = await ran(
      file,
      { find: ['news'] },
      {
        answer: (question) => {
          questions.push(question.text);
          return Promise.resolve(answer);
        },
      },
    );
    expect([questions, end.asked]).toEqual([['Publish news?'], asked]);
  });

  it.each([
    ['{ id: ok, type: ask }', 'missing-question: step "ok" asks nothing'],
    ['{ id: ok, type: ask, question: q, choices: [] }', 'empty-block: choices of step "ok" is empty'],
    ['{ id: ok, type: ask, question: q, expires: soon }', 'bad-duration: expires of step "ok" is "soon"'],
    ['{ id: ok, type: ask, question: q, agent: w }', 'unknown-key: unknown key "agent" in step "ok"'],
    ['{ id: ok, type: ask, question: "{{steps.no.output}}" }', 'unknown-step: step "ok" refers to the step "no"'],
  ])('%s is a problem', async (text, message) => {
    expect((await wrong(dag(text))).join('\n')).toContain(message);
  });
});

describe('[addition 8] type: call in a DAG workflow', () => {
  const PUBLISH = `name: p\ninputs: { text: {}, tags: { default: none } }\nagents: { w: { inline: { prompt: x } } }\nsteps: [{ id: out, agent: w, prompt: "{{inputs.text}} {{inputs.tags}}" }]\n`;
  const PIPE = `agents: { a: { instruction: x } }\nworkflow:\n  - { id: one, type: agent, name: a, prompt: "1 {{ $prompt }}" }\n  - { id: two, type: agent, name: a, prompt: "2" }\n`;
  const run = async (call: string, prompt: string) => {
    const cwd = await project({
      'flow.yaml': dag(
        LIST,
        `{ id: sub, type: call, depends_on: [find], ${call} }`,
        step('last', prompt, ', depends_on: [sub]'),
      ),
      'publish.yaml': PUBLISH,
      'pipe.yaml': PIPE,
    });
    return await ran('flow.yaml', { find: ['news'], out: ['done'], one: ['first'], two: ['second'] }, {}, cwd);
  };

  it('runs another DAG workflow, with values of their own types as inputs', async () => {
    const end = await run(
      'file: publish.yaml, inputs: { text: "<{{steps.find.output}}>", tags: [a, "{{steps.find.output}}"] }',
      '{{steps.sub.output}} {{steps.sub.outputs.out.output}}',
    );
    expect(end.asked).toEqual(['find: Find.', 'sub/out: <news> ["a","news"]', 'last: done done']);
  });

  it('runs a pipeline, whose result is that of its last step', async () => {
    const end = await run(
      'file: pipe.yaml, inputs: { prompt: "{{steps.find.output}}" }',
      '{{steps.sub.output}} {{steps.sub.outputs.one.output}}',
    );
    expect(end.asked).toEqual(['find: Find.', 'sub/one: 1 news', 'sub/two: 2', 'last: second first']);
  });

  it.each([
    ['type: call', 'missing-file: step "sub" calls no file'],
    ['type: call, file: no.yaml', 'file-missing: step "sub": '],
    ['type: call, file: publish.yaml', 'missing-input: step "sub" does not give the input "text"'],
    ['type: call, file: publish.yaml, inputs: { text: a, txt: b }', 'unknown-input: step "sub" gives the input "txt"'],
    ['type: call, file: flow.yaml', 'call-cycle: files call each other in a circle'],
    [
      'type: call, file: publish.yaml, inputs: { text: "{{steps.q.output}}" }',
      'unknown-step: step "sub" refers to the step "q"',
    ],
  ])('%s is a problem', async (text, message) => {
    const cwd = await project({ 'flow.yaml': dag(`{ id: sub, ${text} }`), 'publish.yaml': PUBLISH });
    const { problems } = await loadWorkflow(join(cwd, 'flow.yaml'), { cwd });
    expect(problems.map((problem) => `${problem.code}: ${problem.message}`).join('\n')).toContain(message);
  });

  it.each([
    ['{{steps.sub.outputs.three.output}}', 'unknown-step'],
    ['{{steps.sub.output}}', 'missing-output'],
  ])('what the file does not give can not be read: %s', async (prompt, code) => {
    const twoEnds = PUBLISH.replace('steps: [', 'steps: [{ id: other, agent: w, prompt: x }, ');
    const cwd = await project({
      'flow.yaml': dag(
        '{ id: sub, type: call, file: publish.yaml, inputs: { text: a } }',
        step('last', prompt, ', depends_on: [sub]'),
      ),
      'publish.yaml': twoEnds,
    });
    const { problems } = await loadWorkflow(join(cwd, 'flow.yaml'), { cwd });
    expect(problems.map((problem) => problem.code)).toEqual([code]);
  });
});

describe('[addition 8] type: wait and type: loop in a DAG workflow', () => {
  it('a wait is a node that what depends on it waits for', async () => {
    const { plan, problems } = await loadWorkflowText(
      dag(
        LIST,
        '{ id: cool, depends_on: [find], type: wait, for: 30s }',
        '{ id: paid, type: wait, event: payment, for: 2h }',
        step('last', '{{steps.paid.output}}', ', depends_on: [cool, paid]'),
      ),
      { cwd: '/' },
    );
    expect(problems).toEqual([]);
    expect(plan?.nodes.slice(1, 3)).toEqual([
      expect.objectContaining({ kind: 'wait', id: 'cool', ms: 30_000 }),
      expect.objectContaining({
        kind: 'wait',
        id: 'paid',
        event: 'payment',
        ms: 7_200_000,
        output: 'steps.paid.output',
      }),
    ]);
  });

  it.each([
    ['{ id: w, type: wait }', 'missing-wait: nothing says what step "w" waits for'],
    ['{ id: w, type: wait, for: 10 apples }', 'bad-duration: for of step "w" is "10 apples"'],
    ['{ id: w, type: wait, for: 1s, retry_count: 2 }', 'unknown-key: unknown key "retry_count" in step "w"'],
    [`{ id: l, type: loop, max_rounds: 2, steps: [${LIST}] }`, 'missing-until: nothing says when step "l" ends'],
    [`{ id: l, type: loop, until: { line: D }, steps: [${LIST}] }`, 'unbounded-loop: step "l" has no bound'],
    [
      `{ id: l, type: loop, until: steps.fnd.output, max_rounds: 2, steps: [${LIST}] }`,
      'unknown-step: step "l" refers to the step "fnd"',
    ],
    ['{ id: l, type: lopp }', 'unknown-value: type of step "l" is "lopp"'],
  ])('%s is a problem', async (text, message) => {
    expect((await wrong(dag(text))).join('\n')).toContain(message);
  });

  it('time that passes has no output', async () => {
    const text = dag('{ id: w, type: wait, for: 1s }', step('last', '{{steps.w.output}}', ', depends_on: [w]'));
    expect(await wrong(text)).toEqual(['missing-output: step "last" refers to "w", which has no output']);
  });

  it.each([
    ['fail', 'failed', 0],
    ['continue', 'degraded', 1],
  ])('[bad input] a loop whose until never turns true, under on_limit: %s', async (onLimit, outcome, limited) => {
    const end = await ran(
      dag(
        `{ id: l, type: loop, until: steps.review.output.approved, max_rounds: 3, on_limit: ${onLimit}, steps: [${step('review', 'R')}] }`,
        step('last', 'L', ', depends_on: [l]'),
      ),
      { review: ['{"approved": false}'] },
    );
    expect([end.outcome, end.census.limited ?? 0, end.asked.length]).toEqual([outcome, limited, 3 + limited]);
  });

  it('type: agent is the default and may be written', async () => {
    const end = await ran(dag('{ id: a, type: agent, agent: w, prompt: "P" }'), {});
    expect(end.asked).toEqual(['a: P']);
  });
});
