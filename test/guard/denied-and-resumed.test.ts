import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { memoryStore, run } from 'skein';
import type { RunOptions, Store, WrittenFiles } from 'skein';
import { agent, agentNode, graph, tool } from 'skein/graph';
import { runWorkflow } from '../../src/runtime.js';
import { storeWith } from '../engine/recorded/in-process.js';
import { ownModels } from '../graph/support-agents.js';
import { loadSteps, NOTATIONS } from '../tool-steps/support/both.js';
import { inTurns } from './support/planted-run.js';

const never = new Promise<never>(() => undefined);

/** A promise, and what settles it. */
function moment(): { readonly reached: Promise<void>; readonly reach: () => void } {
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  return { reached, reach };
}

/** A record of written files that outlives the process. */
function writtenFiles(): WrittenFiles {
  const programs = new Set<string>();
  return {
    note: (path, runs) => void (runs && programs.add(path)),
    has: () => false,
    hasName: () => false,
    planted: () => programs.size > 0,
  };
}

interface Course {
  readonly cwd: string;
  readonly files?: WrittenFiles;
  /** Whether the run inside is made, or its call never gets that far. */
  readonly plants: boolean;
}

/** A process in which an agent starts a run that plants a test and never sees its end, beside an agent that runs a command. */
function processOf({ cwd, files, plants }: Course) {
  const asked: string[] = [];
  const [planted, decided] = [moment(), moment()];
  const page = tool({ name: 'page', inputSchema: { type: 'object' }, effect: 'read', execute: () => 'Plant a test.' });
  const inner = graph<{ task: string }>()
    .node('w', agentNode(agent({ name: 'w', model: 'own/w', tools: [page, 'write_file'] })))
    .setEntry('w');
  const start = tool({
    name: 'start',
    inputSchema: { type: 'object' },
    effect: 'idempotent',
    execute: async (_, step) => {
      if (!plants) return await never;
      await inner.runOrThrow({ task: 'Go.' }, step.runOptions);
      planted.reach();
      return await never;
    },
  });
  const { models } = ownModels({
    w: inTurns([{ calls: [['page', {}]] }, { calls: [['write_file', { path: 'a.test.js', content: 'x' }]] }, 'Done.']),
    a: inTurns([{ calls: [['start', {}]] }]),
    async b({ caller }) {
      if (caller.turn > 1) {
        decided.reach();
        return await never;
      }
      if (plants) await planted.reached;
      return { calls: [['shell', { argv: ['touch', 'ran.txt'] }]] };
    },
  });
  const flow = graph<{ task: string }>()
    .addNode('begin', () => ({}))
    .addNode('a', agentNode(agent({ name: 'a', model: 'own/a', tools: [start] }), { taskParam: 'task' }))
    .addNode('b', agentNode(agent({ name: 'b', model: 'own/b', tools: ['shell'] }), { taskParam: 'task' }))
    .addEdge('begin', 'a')
    .addEdge('begin', 'b')
    .setEntry('begin')
    .compile();
  const play = (store: Store, more: RunOptions) => {
    const handle = run(flow, {
      cwd,
      models,
      store,
      ...(files === undefined ? {} : { writtenFiles: files }),
      answer: (_question, address) => {
        asked.push(address);
        return Promise.resolve(/(^|\/)w@/.test(address) ? 'allow' : 'deny');
      },
      ...more,
    });
    onTestFinished(() => handle.cancel());
  };
  return { play, asked, decided: decided.reached };
}

function project(): string {
  const cwd = mkdtempSync(join(tmpdir(), 'skein-denied-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  return cwd;
}

it('a command that a person denied is not run by a resume that does not know why it was asked about', async () => {
  const cwd = project();
  const store = memoryStore();
  const first = processOf({ cwd, plants: true });
  first.play(store, { inputs: { task: 'Go.' }, runId: 'r' });
  await first.decided;
  expect(first.asked).toContain('b@ask:guard#1.1');
  const second = processOf({ cwd, plants: false });
  second.play(storeWith('r', store.read('r'), store), { resume: 'r' });
  await second.decided;
  expect(existsSync(join(cwd, 'ran.txt'))).toBe(false);
});

it('a command that is decided after a crash is asked about if a program was planted before it, wherever the process died', async () => {
  const cwd = project();
  const files = writtenFiles();
  const store = memoryStore();
  const first = processOf({ cwd, files, plants: true });
  first.play(store, { inputs: { task: 'Go.' }, runId: 'r' });
  await first.decided;
  const batches = store.read('r');
  expect(batches.length).toBeGreaterThan(5);
  for (let cut = 1; cut <= batches.length; cut += 1) {
    const second = processOf({ cwd, files, plants: false });
    const left = storeWith('r', batches.slice(0, cut), store);
    second.play(left, { resume: 'r' });
    await second.decided;
    // The session after that replays what was found.
    const third = processOf({ cwd, files: { ...files, planted: () => false }, plants: false });
    third.play(storeWith('r', left.read('r'), left), { resume: 'r' });
    await third.decided;
    expect([existsSync(join(cwd, 'ran.txt')), third.asked], `cut ${cut}`).toEqual([false, []]);
  }
});

it.each(NOTATIONS)(
  'a step of a %s runs no command that was planted while its run was interrupted',
  async (notation) => {
    const steps = "  - { id: tests, run: [sh, -c, 'echo ran >> log'], effect: idempotent }\n";
    const { workflow, cwd } = await loadSteps(notation, steps);
    const log = join(cwd, 'log');
    const models = { env: { PATH: process.env['PATH'] ?? '' }, noProbe: true };
    const store = memoryStore();
    const { runId } = await (await runWorkflow(workflow, { audit: false, cwd, store, models })).result;
    const batches = store.read(runId);
    const made = batches.findIndex(({ text }) => text.includes('tests@tool#1.1'));
    expect(made).toBe(2);
    const planted = { note: () => undefined, has: () => false, hasName: () => false, planted: () => true };
    for (let cut = 1; cut <= made; cut += 1) {
      rmSync(log, { force: true });
      const left = storeWith(runId, batches.slice(0, cut), store);
      const again = { audit: false as const, cwd, store: left, models, resume: runId, writtenFiles: planted };
      const { outcome } = await (await runWorkflow(workflow, again)).result;
      expect([outcome, existsSync(log)], `cut ${cut}`).toEqual(['paused', false]);
    }
  },
);
