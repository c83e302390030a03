import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { served } from './support/served.js';
import { filesIn, makeProject } from './support/skein.js';

const FLOW = (more = ''): string => `name: story
output: { steps: [title] }
supervise: true
agents: { a: { inline: { prompt: You write. } } }
steps:
  - { id: draft, agent: a, prompt: Write one line.${more} }
  - { id: title, agent: a, prompt: 'Give it a title: {{steps.draft.output}}', depends_on: [draft], supervise: false }
`;
const HUMAN = FLOW(', supervise: { human: true }');

/** The first draft is too long, the second is fine. */
const SCRIPT = `rules:
  - { step: draft, phase: commit, answer: { json: { interpretation: one line, confidence: high } } }
  - { step: draft, answers: ["a draft\\nthat is too long\\n", "a short draft\\n"] }
  - step: draft
    phase: post
    answers:
      - json: { met_commitment: false, deviations: [two lines] }
      - json: { met_commitment: true }
  - step: draft
    phase: supervise
    answers:
      - json: { verdict: reorient, correction: keep it on one line, reason: it promised one line }
      - json: { verdict: continue, reason: fine now }
  - { step: title, prompt: a short draft, answer: On brevity }
`;

const files = { 'flow.yaml': FLOW(), 's.yaml': SCRIPT };
const run = ['run', 'flow.yaml', '--mock=s.yaml'];

describe('a supervised run on the command line', () => {
  test('[S7] says that a draft was not accepted, and goes on with the corrected one', async () => {
    const cwd = await makeProject(files);
    const end = await served(run, { cwd });
    expect(end).toMatchObject({ code: 0 });
    expect(end.stdout).toContain('On brevity');
    expect(end.stderr).toContain('[draft] the supervisor says reorient: it promised one line');
    expect(end.stderr).toContain('[draft] is not accepted; attempt 2 gets the correction: keep it on one line');
    expect(end.stderr).not.toContain('a short draft');
  });

  test('[addition 11] --verbose tells each phase; show and logs count and tell them later', async () => {
    const cwd = await makeProject(files);
    const verbose = await served([...run, '--verbose'], { cwd });
    for (const line of [
      'commit of script/s.yaml started',
      'promises: {"interpretation":"one line"',
      'differs: commitment_not_met; deviation:two lines',
      '[draft] is accepted',
    ])
      expect(verbose.stderr).toContain(line);
    const json = JSON.parse((await served(['show', '-1', '--json'], { cwd })).stdout) as { steps: { path: string }[] };
    const draft = json.steps.find(({ path }) => path === 'draft');
    expect(draft).toMatchObject({ attempts: 2, modelCalls: 7, outcome: 'succeeded' });
    const { stdout } = await served(['logs', '-1'], { cwd });
    for (const line of [
      'commit: script/s.yaml:',
      'supervise: script/s.yaml:',
      'differs: commitment_not_met',
      'the supervisor says reorient',
      'gets the correction: keep it on one line',
      'is accepted',
    ])
      expect(stdout).toContain(line);
  });

  test('[addition 11] the JSON result counts the calls of the phases like those of the work', async () => {
    const cwd = await makeProject(files);
    const { stdout } = await served([...run, '--json'], { cwd });
    const result: unknown = JSON.parse(stdout);
    expect(result).toMatchObject({ steps: { draft: { modelCalls: 7, attempts: 2 } }, modelCalls: 8 });
  });

  test('--stream prints accepted text only', async () => {
    const cwd = await makeProject(files);
    const { stderr, code } = await served([...run, '--stream'], { cwd });
    expect(code).toBe(0);
    expect(stderr).toContain('draft │ a short draft');
    expect(stderr).not.toContain('too long');
    expect(stderr).not.toContain('met_commitment');
    const halted = SCRIPT.replace('verdict: reorient, correction: keep it on one line', 'verdict: halt').replace(
      'strict',
      'strict',
    );
    const other = await makeProject({ ...files, 's.yaml': `strict: false\n${halted}` });
    const end = await served([...run, '--stream'], { cwd: other });
    expect(end.code).toBe(3);
    expect(end.stderr).toContain('agent draft: halted by supervision: it promised one line');
    expect(end.stderr).not.toContain('too long');
  });

  test('exec and --stream say nothing of what is said inside of a block that is not accepted', async () => {
    const flow = `agents: { a: { model: mock/echo, instruction: You write. } }
workflow:
  - type: parallel
    id: both
    supervise: { instruction: Write two lines. }
    steps:
      - { id: x, type: agent, name: a, prompt: x }
      - { id: y, type: agent, name: a, prompt: y }
`;
    const script = `rules:
  - { step: x, answers: [first x, second x] }
  - { step: y, answers: [first y, second y] }
  - { step: both, phase: post, answers: [{ json: { met_commitment: false } }, { json: { met_commitment: true } }] }
  - step: both
    phase: supervise
    answers: [{ json: { verdict: reorient, correction: again } }, { json: { verdict: continue } }]
`;
    const cwd = await makeProject({ 'flow.yaml': flow, 's.yaml': script });
    const streamed = await served([...run, '--stream'], { cwd });
    expect(streamed.code).toBe(0);
    expect(streamed.stderr).toContain('second x');
    expect(streamed.stderr + streamed.stdout).not.toContain('first');
    const spoken = await served(['exec', 'flow.yaml', '--mock=s.yaml'], { cwd });
    expect(spoken.stdout).toContain('second y');
    expect(spoken.stdout).not.toContain('first');
  });

  test('[addition 12] the audit folder has a checkpoint of each step, and says which text is void', async () => {
    const cwd = await makeProject({
      ...files,
      'flow.yaml': `${FLOW()}config: { audit_dir: audit, streaming: true }\n`,
    });
    expect((await served(run, { cwd })).code).toBe(0);
    const [folder = ''] = (await readdir(join(cwd, 'audit'))).filter((name) => name.includes('story'));
    const at = join(cwd, 'audit', folder);
    expect(await readdir(join(at, 'checkpoints'))).toEqual(['draft.json']);
    const checkpoint: unknown = JSON.parse(await readFile(join(at, 'checkpoints', 'draft.json'), 'utf8'));
    expect(checkpoint).toEqual({
      path: 'draft',
      pre: expect.objectContaining({ interpretation: 'one line' }) as unknown,
      attempts: [
        {
          post: expect.objectContaining({ deviations: ['two lines'] }) as unknown,
          reconcile: { triggers: ['commitment_not_met', 'deviation:two lines'], escalate: true },
          supervise: { verdict: 'reorient', reason: 'it promised one line', correction: 'keep it on one line' },
        },
        {
          post: expect.objectContaining({ metCommitment: true }) as unknown,
          reconcile: { triggers: [], escalate: false },
          supervise: { verdict: 'continue', reason: 'fine now' },
        },
      ],
      outcome: 'accepted',
      // Promise, work, what is said of it, and the verdict, each attempt.
      spent: expect.objectContaining({ model_calls: 7, failed_model_calls: 0, cost_usd: 0 }) as unknown,
    });
    const lines = (await readFile(join(at, 'steps', '00_draft', 'stream.jsonl'), 'utf8')).trim().split('\n');
    const told = lines.map((line) => JSON.parse(line) as { type: string; data?: unknown });
    expect(told).toContainEqual(
      expect.objectContaining({ type: 'assistant.message_void', data: { turn: 1, reason: 'not-accepted' } }),
    );
    const last = told.findLastIndex(({ type }) => type === 'assistant.message_void');
    const said = told.slice(last).flatMap(({ type, data }) => (type === 'assistant.message_delta' ? [data] : []));
    expect(said).toEqual(['a short draft\n']);
    expect(told.map(({ type }) => type)).toContain('supervision.corrected');
  });

  test('--mock lets supervised steps pass; a script needs no rules for the phases', async () => {
    const cwd = await makeProject({
      'flow.yaml': FLOW(),
      'plain.yaml': 'rules: [{ step: draft, answer: d }, { step: title, answer: t }]\n',
    });
    expect(await served(['run', 'flow.yaml', '--mock'], { cwd })).toMatchObject({ code: 0 });
    const end = await served(['run', 'flow.yaml', '--mock=plain.yaml'], { cwd });
    expect([end.code, end.stdout.trim().split('\n').at(-1)]).toEqual([0, 't']);
  });

  test('a rule for a phase that is never asked is told like any other', async () => {
    const unused =
      'rules:\n  - { step: draft, answer: d }\n  - { step: title, answer: t }\n  - { phase: supervise, answer: no }\n';
    const cwd = await makeProject({ 'flow.yaml': FLOW(), 'plain.yaml': unused });
    const end = await served(['run', 'flow.yaml', '--mock=plain.yaml'], { cwd });
    expect(end.code).toBe(3);
    expect(end.stderr).toContain('rule 3 (line 4, phase supervise) was never used');
  });
});

describe('a step that a person judges on the command line', () => {
  const script = `rules:
  - { step: draft, answers: ["line one", "line two"] }
  - { step: draft, phase: post, answers: [{ json: { met_commitment: true, concerns: [no rhyme] } }], repeat: true }
  - { step: title, answer: t, optional: true }
`;
  const project = { 'flow.yaml': HUMAN, 's.yaml': script };

  test('[S9] pauses and shows output, promise and delivery; --yes does not approve it', async () => {
    const cwd = await makeProject(project);
    const end = await served([...run, '--yes'], { cwd });
    expect(end.code).toBe(5);
    expect(end.stderr).toContain(
      'Supervision triggers: concern:no rhyme (approve, reject, or revise: WHAT TO DO DIFFERENTLY)',
    );
    const shown = await served(['answer', '-1'], { cwd });
    expect(shown.stdout.match(/(?<= {2}skein answer \S+ \S+ ).*/g)).toEqual([
      'approve',
      'reject',
      "'revise: WHAT TO DO DIFFERENTLY'",
    ]);
    for (const line of ['promised:', 'delivered:', 'concerns: no rhyme', 'output: line one'])
      expect(shown.stdout).toContain(line);
    expect(await filesIn(cwd)).not.toContain('title');
  });

  test('[S10] skein answer: approve never does the work again, revise does it with the text, each in a later session', async () => {
    const cwd = await makeProject(project);
    await served(run, { cwd });
    const refused = await served(['answer', '-1', 'draft', 'maybe'], { cwd });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('hint: answer approve, reject, or revise: WHAT TO DO DIFFERENTLY;');
    expect(await served(['answer', '-1', 'draft', 'revise: make it rhyme'], { cwd })).toMatchObject({ code: 0 });
    const resumed = await served(['resume', '-1'], { cwd });
    expect(resumed.code).toBe(5);
    expect((await served(['answer', '-1'], { cwd })).stdout).toContain('output: line two');
    expect(await served(['answer', '-1', 'approve'], { cwd })).toMatchObject({ code: 0 });
    const last = await served(['resume', '-1', '--json'], { cwd });
    expect(last.code).toBe(0);
    expect(JSON.parse(last.stdout)).toMatchObject({ steps: { draft: { attempts: 2 } } });
  });

  test('[S10] [addition 2] reject ends the run with exit code 3, whatever on_error says', async () => {
    const cwd = await makeProject({
      ...project,
      'flow.yaml': HUMAN.replace('{ human: true }', '{ human: true }, on_error: continue'),
    });
    await served(run, { cwd });
    await served(['answer', '-1', 'reject'], { cwd });
    const end = await served(['resume', '-1'], { cwd });
    expect(end.code).toBe(3);
    expect(end.stderr).toContain('agent draft: denied by human');
  });

  test('the script of --mock=FILE answers for the person', async () => {
    const answers = `answers:\n  - { question: no rhyme, answer: "revise: rhyme", times: 1 }\n  - { question: no rhyme, answer: approve }\n`;
    const cwd = await makeProject({ ...project, 's.yaml': script + answers });
    const end = await served(run, { cwd });
    expect([end.code, end.stdout.trim().split('\n').at(-1)]).toEqual([0, 't']);
  });
});
