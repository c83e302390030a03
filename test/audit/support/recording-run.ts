/**
 * A process that records a run without end in the folder that its argument names: for tests that kill it or take its space away. Writes one
 * line to stdout per event, and what could not be written to stderr. `once` as second argument: one round, then the end.
 */
import { openRunFolder } from '../../../src/audit/run-folder.js';
import type { StepContext } from '../../../src/engine/ports/executor.js';
import { startRun } from '../../../src/engine/run.js';
import type { AgentNode } from '../../../src/plan/plan.js';
import type { Workflow } from '../../../src/plan/workflow.js';

const [dir = '', mode = ''] = process.argv.slice(2);

const agent: AgentNode = {
  kind: 'agent',
  id: 'work',
  agent: { name: 'worker', instructions: [], models: [] },
  prompt: ['work'],
  output: 'out',
  writes: ['out'],
};
const plan = {
  format: 1,
  name: 'endless',
  inputs: [],
  channels: [{ name: 'out' }],
  nodes: [agent],
  edges: [],
  routes: [],
} as const;
const workflow: Workflow = {
  plan: {
    ...plan,
    nodes: [
      {
        kind: 'loop',
        id: 'rounds',
        plan,
        until: [{ op: 'code' }],
        maxRounds: mode === 'once' ? 1 : 1_000_000,
        onMaxRounds: 'continue',
      },
    ],
  },
  bindings: {},
  settings: { output: { format: 'markdown' }, memory: { initial: 'start' }, streaming: true },
  files: [{ path: 'endless.yaml', text: 'name: endless\n' }],
  problems: [],
};

async function work(_: AgentNode, step: StepContext): Promise<{ readonly type: 'done'; readonly output: string }> {
  const text = 'all work and no play '.repeat(1_000);
  step.note({ kind: 'prompt', system: '', prompt: text, model: 'm' });
  step.note({ kind: 'model.started', turn: 1, model: 'm' });
  for (let at = 0; at < 5; at += 1) {
    await step.effect(`delta${at}`, () => new Promise((resolve) => setImmediate(resolve)));
    step.note({ kind: 'model.delta', text });
    step.note({ kind: 'memory', mode: 'append', text: `${step.path} ${at}` });
  }
  return { type: 'done', output: text };
}

const runId = 'child-run-12345678';
const folder = await openRunFolder({ workflow, runId, dir, keep: 0, inputs: { dir }, secrets: ['unlikely-secret'] });
const run = startRun(workflow.plan!, {
  runId,
  bindings: { 'until:rounds': () => false },
  executors: { agent: work },
  listeners: [folder.listen, (event) => process.stdout.write(`${event.type}\n`)],
});
const result = await run.result;
for (const problem of await folder.close(result)) process.stderr.write(`${problem}\n`);
process.stdout.write(`outcome ${result.outcome}\n`);
