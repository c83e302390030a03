import { expect, test } from 'vitest';
import { answerRun, memoryStore, readRun, runWorkflow, type WorkflowRunOptions } from 'skein';
import { loadWorkflowText } from 'skein/yaml';

const AGENTS = 'agents: { worker: { instruction: You work. } }\n';

/** Runs a file with a script; gives the milliseconds of its steps, by path. */
async function timesOf(file: string, rules: readonly object[], options: WorkflowRunOptions) {
  const workflow = await loadWorkflowText(AGENTS + file, { file: 'w.yaml', cwd: '/' });
  const models = { env: {}, script: { strict: false, rules } } as WorkflowRunOptions['models'] & object;
  const { result } = await runWorkflow(workflow, { audit: false, models, ...options });
  const { runId } = await result;
  const { steps } = readRun(options.store ?? memoryStore(), runId);
  return { runId, ms: Object.fromEntries(steps.map(({ path, ms }) => [path, ms])) };
}

const SLOW = { step: 'slow', answer: { text: 'done', delay: '200ms' }, repeat: true };
const BROKEN = { step: 'broken', answer: { error: { status: 400, message: 'no use' } }, repeat: true };

test('a block that failed took as long as the steps inside of it', async () => {
  const file = `workflow:
  - id: both
    type: sequence
    on_error: continue
    steps: [{ id: slow, type: agent, name: worker }, { id: broken, type: agent, name: worker }]
`;
  const { ms } = await timesOf(file, [SLOW, BROKEN], { store: memoryStore() });
  expect(ms['both']).toBeGreaterThanOrEqual(195);
  expect(ms['both']).toBeGreaterThanOrEqual(ms['both/slow'] ?? Infinity);
});

test('of a step in a block that was tried again the last execution counts, of the block all of them', async () => {
  const file = `workflow:
  - id: both
    type: sequence
    on_error: continue
    retry: { max_attempts: 1, initial_delay: 100ms, on: [no use] }
    steps: [{ id: slow, type: agent, name: worker }, { id: broken, type: agent, name: worker }]
`;
  const { ms } = await timesOf(file, [SLOW, BROKEN], { store: memoryStore() });
  expect(ms['both']).toBeGreaterThanOrEqual(495);
  expect(ms['both/slow']).toBeLessThan(400);
  expect(ms['both/broken']).toBeLessThan(200);
});

test('the time between two sessions does not count', async () => {
  const file = `workflow:
  - id: both
    type: sequence
    on_error: continue
    steps: [{ id: ask, type: ask, question: Go on? }, { id: broken, type: agent, name: worker }]
`;
  const store = memoryStore();
  const first = await timesOf(file, [BROKEN], { store });
  await new Promise((done) => setTimeout(done, 600));
  answerRun(store, first.runId, { key: 'both/ask', value: 'yes' });
  const { ms } = await timesOf(file, [BROKEN], { store, resume: first.runId });
  expect(ms['both']).toBeLessThan(500);
});
