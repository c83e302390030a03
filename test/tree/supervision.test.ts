import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ModelRequest } from '../../src/agent/model.js';
import { answerRun, memoryStore, supervisor } from '../../src/index.js';
import type { Supervisor } from '../../src/index.js';
import { agent, checkpointStore, convergence, goal, sequence, state, workflow } from '../../src/tree.js';
import type { Runtime, Workflow } from '../../src/tree.js';
import type { PlanNode } from '../../src/index.js';
import { promptOf } from '../graph/support-agents.js';
import { flowOf, talker } from './support.js';

const KEPT = '{"met_commitment": true}';
const BROKEN = '{"met_commitment": false, "concerns": ["too short"]}';

/** Which phase asks; undefined: the work itself. */
function phaseOf(request: ModelRequest): 'commit' | 'post' | 'supervise' | undefined {
  const prompt = promptOf(request);
  if (prompt.includes('met_commitment')) return 'post';
  if (prompt.includes('predicted_output')) return 'commit';
  return JSON.stringify(request.messages).includes('verdict') ? 'supervise' : undefined;
}

function supervised(answers: {
  readonly work?: (request: ModelRequest) => string;
  readonly post?: (request: ModelRequest) => string;
  readonly verdict?: (request: ModelRequest) => string;
}) {
  const phases: string[] = [];
  const talk = talker((request) => {
    const phase = phaseOf(request);
    phases.push(`${request.caller.path} ${phase ?? 'work'}`);
    if (phase === 'commit') return '{"interpretation": "do it", "confidence": "high"}';
    if (phase === 'post') return answers.post?.(request) ?? KEPT;
    if (phase === 'supervise') return answers.verdict?.(request) ?? '{"verdict": "continue"}';
    return answers.work?.(request) ?? `said by ${request.caller.path}`;
  });
  const runtime: Runtime = { ...talk.runtime, supervisor: supervisor() };
  return { talk, runtime, phases };
}

/** Who supervises the steps of a tree, by their names. */
function modes(flow: Workflow): Readonly<Record<string, string>> {
  const { plan } = flow.compile({ model: 'mock/echo', supervisor: supervisor() });
  const found: Record<string, string> = {};
  const look = (nodes: readonly PlanNode[], around: string): void => {
    for (const node of nodes) {
      found[`${around}${node.id}`] = node.supervise?.by ?? 'off';
      if ('plan' in node) look(node.plan.nodes, `${around}${node.id}/`);
    }
  };
  look(plan?.nodes ?? [], '');
  return found;
}

describe('supervised trees', () => {
  it('[S1] an agent has no mode of its own, neither by its type nor by a call', () => {
    const supervise = Reflect.get(goal('g', 'Do.'), 'supervise') as () => unknown;
    const call = (): unknown => Reflect.apply(supervise, agent('critic', 'You.'), []);
    expect(call).toThrow(/agent critic: an agent can't be supervised by itself/);
  });

  it('[S1] [decision 7] a mode holds for everything below; own modes win, and agents are supervised with their goal', () => {
    const critic = agent('critic', 'You.');
    const flow = workflow('flow')
      .supervise()
      .add(
        sequence('one').steps(
          goal('plain', 'Do.'),
          goal('free', 'Do.').unsupervised(),
          goal('gate', 'Do.').superviseByHuman(),
          convergence('loop', 'Do.', 2),
          goal('team', 'Do.').using(critic, goal('inner', 'Do.')),
          critic.task('Do.'),
        ),
        sequence('two').unsupervised().steps(goal('late', 'Do.')),
      );
    expect(modes(flow)).toEqual({
      plain: 'model',
      free: 'off',
      gate: 'human',
      loop: 'model',
      'loop/loop': 'off',
      team: 'model',
      'team/critic': 'off',
      'team/inner': 'model',
      'team/synthesis': 'off',
      critic: 'model',
      late: 'off',
    });
  });

  it("[decision 7] nothing below a person's gate can remove it", () => {
    const gate = (step: ReturnType<typeof goal>): readonly string[] =>
      workflow('flow')
        .superviseByHuman()
        .add(sequence('s').steps(step))
        .validate()
        .map(({ code }) => code);
    expect(gate(goal('g', 'Do.').unsupervised())).toEqual(['human-gate']);
    expect(gate(goal('g', 'Do.').using(goal('inner', 'Do.').supervise()))).toEqual(['human-gate']);
    expect(gate(goal('g', 'Do.').superviseByHuman())).toEqual([]);
  });

  it('needs somebody who supervises, and for a person somebody who asks, or a store', async () => {
    const flow = flowOf(goal('g', 'Do.').superviseByHuman());
    const found = flow.validate({ model: 'mock/echo' }).map(({ message, hint }) => `${message} (${hint})`);
    expect(found).toEqual([
      'Runtime.Supervisor is required when any node sets Supervise() or SuperviseByHuman() (supervisor({ model }))',
      'Runtime.human is required when any node sets SuperviseByHuman() (give a function that asks the person, or a store: then the run pauses)',
    ]);
    expect(flow.validate({ model: 'mock/echo', supervisor: supervisor() }, { store: memoryStore() })).toEqual([]);
    await expect(flow.execute({ model: 'mock/echo' })).rejects.toThrow(
      /Runtime\.Supervisor is required[^]*Runtime\.human/,
    );
  });

  it('[S6] a step that keeps its promise costs three calls: promise, work, and how it went', async () => {
    const { talk, runtime, phases } = supervised({});
    const { outputs } = await flowOf(goal('a', 'Begin.'), goal('b', 'Go on.').supervise()).execute(
      runtime,
      {},
      talk.options,
    );
    expect(phases).toEqual(['a work', 'b commit', 'b work', 'b post']);
    expect(outputs).toEqual({ a: 'said by a', b: 'said by b' });
    const commit = talk.requests.find((request) => phaseOf(request) === 'commit');
    expect(commit === undefined ? '' : promptOf(commit)).toContain('<goal name="a">\nsaid by a\n</goal>');
  });

  it('[S7] [A32] a correction reaches the next attempt: of a goal, of the agents of a goal, of every iteration', async () => {
    const steps = [
      goal('s', 'Do.'),
      goal('s', 'Do.').using(agent('one', 'You.'), agent('two', 'You.')),
      convergence('s', 'Do.', 1),
    ];
    for (const step of steps) {
      const posts = [BROKEN, KEPT];
      const { talk, runtime } = supervised({
        post: () => posts.shift() ?? '',
        verdict: () =>
          posts.length === 0 ? '{"verdict": "continue"}' : '{"verdict": "reorient", "correction": "Say more."}',
      });
      const { outcome } = await flowOf(step.supervise()).execute(runtime, {}, talk.options);
      const work = talk.requests.filter((request) => phaseOf(request) === undefined).map(promptOf);
      expect(outcome).toBe('succeeded');
      const half = work.length / 2;
      expect(work.slice(0, half).join('')).not.toContain('<correction');
      for (const prompt of work.slice(half))
        expect(prompt).toContain('<correction source="supervisor">\nSay more.\n</correction>');
    }
  });

  it('[S8] [decision 9] a halted step ends the run, with what there is of the state', async () => {
    const { talk, runtime } = supervised({
      post: () => BROKEN,
      verdict: () => '{"verdict": "halt", "reason": "It lies."}',
    });
    const flow = flowOf(goal('a', 'Begin.'), goal('b', 'Go on.').supervise(), goal('c', 'End.'));
    const result = await flow.execute(runtime, {}, talk.options);
    expect([result.outcome, result.error?.code, result.outputs]).toEqual([
      'failed',
      'SKEIN_HALTED',
      { a: 'said by a' },
    ]);
    expect(result.error?.message).toMatch(/goal b: halted by supervision: It lies\./);
  });

  it('maxReorientAttempts of the runtime bounds the corrections of every step', async () => {
    const { talk, runtime, phases } = supervised({
      post: () => BROKEN,
      verdict: () => '{"verdict": "reorient", "correction": "Again."}',
    });
    const flow = flowOf(goal('g', 'Do.').supervise());
    await flow.execute({ ...runtime, maxReorientAttempts: 3 }, {}, talk.options);
    expect(phases.filter((phase) => phase === 'g work')).toHaveLength(4);
  });

  it('[S9] [decision 9] a person is asked in this process by Runtime.human', async () => {
    const { talk, runtime, phases } = supervised({});
    const asked: string[] = [];
    const human: Runtime['human'] = (question) => {
      asked.push(question.text);
      return Promise.resolve(asked.length === 1 ? 'revise: Be nicer.' : 'approve');
    };
    const { outcome } = await flowOf(goal('g', 'Do.').superviseByHuman()).execute(
      { ...runtime, human },
      {},
      talk.options,
    );
    expect([outcome, asked.length]).toEqual(['succeeded', 2]);
    expect(phases.filter((phase) => phase.endsWith('supervise'))).toEqual([]);
    expect(promptOf(talk.requests.findLast((request) => phaseOf(request) === undefined) as ModelRequest)).toContain(
      'Be nicer.',
    );
  });

  it('[decision 9] with a store a gate pauses the run; its answer lets it go on, and no work is done twice', async () => {
    const store = memoryStore();
    const { talk, runtime, phases } = supervised({});
    const flow = flowOf(goal('a', 'Begin.'), goal('b', 'Go on.').superviseByHuman(), goal('c', 'End.'));
    const paused = await flow.execute(runtime, {}, { ...talk.options, store });
    expect([paused.outcome, paused.outputs, paused.questions.length]).toEqual(['paused', { a: 'said by a' }, 1]);
    answerRun(store, paused.runId, { value: 'approve' });
    const done = await flow.execute(runtime, {}, { ...talk.options, store, resume: paused.runId });
    expect([done.outcome, done.outputs]).toEqual(['succeeded', { a: 'said by a', b: 'said by b', c: 'said by c' }]);
    expect(phases).toEqual(['a work', 'b commit', 'b work', 'b post', 'c work']);
  });

  it('[S13] the model of the supervisor judges, that of the goal declares, also where agents do the work', async () => {
    const own: Supervisor = supervisor({ model: 'own/judge' });
    const { talk, runtime } = supervised({ post: () => BROKEN });
    const models: string[] = [];
    const flow = flowOf(goal('g', 'Do.').using(agent('one', 'You.')).supervise());
    const providers = {
      own: (name: string) => (models.push(name), talk.options.models?.providers?.['own']?.('m')) as never,
    };
    await flow.execute({ ...runtime, supervisor: own }, {}, { models: { ...talk.options.models, providers } });
    expect(models.toSorted()).toEqual(['judge', 'm']);
  });

  it('[A16] a step that is run alone is supervised as well', async () => {
    const { talk, runtime, phases } = supervised({});
    const at = state();
    await goal('g', 'Do.').supervise().execute(runtime, at, talk.options);
    expect([phases, at.outputs]).toEqual([['g commit', 'g work', 'g post'], { g: 'said by g' }]);
  });

  it('[addition 12] checkpoints of a run are kept in a folder, a store, or by a function; what is lost is a warning', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'skein-checkpoints-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const flow = flowOf(goal('g', 'Do.').using(agent('one', 'You.')).supervise());
    const { talk, runtime } = supervised({});
    const { runId, warnings } = await flow.execute({ ...runtime, checkpoints: folder }, {}, talk.options);
    expect(warnings).toEqual([]);
    const kept: unknown = JSON.parse(await readFile(join(folder, runId, 'g.json'), 'utf8'));
    expect(kept).toMatchObject({
      path: 'g',
      pre: { interpretation: 'do it' },
      attempts: [{ post: { metCommitment: true }, reconcile: { escalate: false } }],
      outcome: 'accepted',
    });
    const names: string[] = [];
    await flow.execute({ ...runtime, checkpoints: (name) => names.push(name) }, {}, talk.options);
    expect(names).toEqual(['g']);
    const store = checkpointStore();
    const two = flowOf(goal('g', 'Do.').supervise(), goal('h', 'Do.').supervise());
    await two.execute({ ...runtime, checkpoints: store }, {}, talk.options);
    expect(store.decisionTrail.map(({ path, outcome }) => [path, outcome])).toEqual([
      ['g', 'accepted'],
      ['h', 'accepted'],
    ]);
    expect([store.get('h'), store.get('x')]).toEqual([store.decisionTrail[1], undefined]);
    const full = { save: () => Promise.reject(new Error('the disk is full')) };
    const { warnings: told } = await flow.execute({ ...runtime, checkpoints: full }, {}, talk.options);
    expect(told.map(({ message }) => message)).toEqual(['a checkpoint could not be written: g: the disk is full']);
    const lost = await flow.execute({ ...runtime, checkpoints: join(folder, runId, 'g.json') }, {}, talk.options);
    expect([lost.outcome, lost.warnings[0]?.code]).toEqual(['succeeded', 'checkpoint-lost']);
  });

  it('debug prints prompts and answers on stderr, without what a terminal obeys', async () => {
    const printed: string[] = [];
    const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
    onTestFinished(() => write.mockRestore());
    const talk = talker(() => 'an\u001b[31m answer');
    await flowOf(goal('g', 'Do.')).execute({ ...talk.runtime, debug: true }, {}, talk.options);
    expect(printed.join('')).toBe(
      '[g] system: You are a helpful assistant executing a goal.\n[g] prompt: <goal name="g">\n    Do.\n    </goal>\n[g] answer: an[31m answer\n',
    );
  });
});
