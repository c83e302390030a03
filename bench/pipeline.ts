import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Model } from '../src/agent/model.js';
import { openScriptBook } from '../src/agent/script/script-book.js';
import { readScript } from '../src/agent/script/read-script.js';
import { scriptModel } from '../src/agent/script/script-model.js';
import type { Script } from '../src/agent/script/script-types.js';
import { hasErrors, run } from '../src/index.js';
import type { Workflow } from '../src/index.js';
import { loadPipeline } from '../src/yaml.js';
import { measure, printTable } from './measure.js';

const STEPS = 500;
const OUTPUT = 1_000;
const WIDTH = 50;
const LATENCY = 100;
const ROUNDS = 9;

const AGENTS = 'agents:\n  a: { instruction: You write. }\n  qa: { instruction: You review. }\n';

interface Row {
  readonly name: string;
  readonly figure: string;
  readonly compared: string;
  readonly goal: string;
  readonly held: boolean;
}

/** 500 steps: nine agents and a condition with a jump back, 50 times; each step has a prompt that refers to another one. */
function mixedFile(): string {
  const steps = Array.from({ length: STEPS }, (_, at) => {
    if (at % 10 !== 9) {
      const prompt = at === 0 ? 'Begin.' : `Go on with {{ $steps.s${at % 10 === 0 ? at - 2 : at - 1}.output }}.`;
      return `  - { id: s${at}, type: agent, name: a, prompt: "${prompt}" }\n`;
    }
    const condition = `{{ $steps.s${at - 1}.output == "approved" }}`;
    return `  - { id: s${at}, type: condition, condition: '${condition}', false: [{ goto: s${at - 9} }] }\n`;
  });
  return `${AGENTS}workflow:\n${steps.join('')}`;
}

function sequenceFile(): string {
  return `${AGENTS}workflow:\n${ids()
    .map((id) => `  - { id: ${id}, type: agent, name: a }\n`)
    .join('')}`;
}

function parallelFile(): string {
  const steps = Array.from({ length: WIDTH }, (_, at) => `      - { id: p${at}, type: agent, name: a }\n`);
  return `${AGENTS}workflow:\n  - type: parallel\n    id: par\n    steps:\n${steps.join('')}`;
}

function ids(): readonly string[] {
  return Array.from({ length: STEPS }, (_, at) => `s${at}`);
}

async function load(file: string): Promise<Workflow> {
  const workflow = await loadPipeline(file, { cwd: '/' });
  if (hasErrors(workflow.problems)) throw new Error(JSON.stringify(workflow.problems));
  return workflow;
}

/** A workflow that can't change any more is checked before its first run only. */
async function loadOnce(file: string): Promise<Workflow> {
  const workflow = await load(file);
  Object.freeze(workflow.plan);
  Object.freeze(workflow.bindings);
  return workflow;
}

async function runWith(workflow: Workflow, script: Script): Promise<Record<string, unknown>> {
  const own = (): Model => scriptModel('own/m', openScriptBook(script));
  const result = await run(workflow, { models: { env: {}, noProbe: true, override: 'own/m', providers: { own } } })
    .result;
  if (result.outcome !== 'succeeded') throw new Error(`the run ${result.outcome}: ${result.error?.message ?? ''}`);
  return result.state;
}

/** The same by hand: a loop that builds the prompts and calls the scripted model. */
async function byHand(script: Script): Promise<string> {
  const model = scriptModel('own/m', openScriptBook(script));
  const { signal } = new AbortController();
  let outputs = '';
  let prompt = '';
  for (const path of ids()) {
    prompt = `${outputs === '' ? '' : `--- Prior Step Outputs ---\n\n${outputs}--- End Prior Step Outputs ---\n\n`}Go.`;
    const request = {
      messages: [
        { role: 'system', text: 'You write.' },
        { role: 'user', text: prompt },
      ],
      tools: [],
      settings: {},
      signal,
      caller: { path, agent: 'a', turn: 1 },
      dispatch: () => Promise.reject(new Error('no tools')),
    } as const;
    let text = '';
    for await (const part of model.stream(request)) if (part.type === 'text') text += part.text;
    outputs += `[${path} (agent: a)]:\n${text}\n\n`;
  }
  return prompt;
}

async function validation(folder: string): Promise<Row> {
  const file = join(folder, 'mixed.yaml');
  writeFileSync(file, mixedFile());
  const { skein = Number.NaN } = await measure(
    { name: 'validate', units: 1, candidates: { skein: () => load(file) } },
    ROUNDS,
  );
  return {
    name: `a file of ${STEPS} steps is validated`,
    figure: `${skein.toFixed(1)} ms`,
    compared: `${((skein * 1_000) / STEPS).toFixed(0)} us a step`,
    goal: '< 100 ms',
    held: skein < 100,
  };
}

async function sequence(folder: string): Promise<Row[]> {
  const file = join(folder, 'sequence.yaml');
  writeFileSync(file, sequenceFile());
  const workflow = await loadOnce(file);
  const line = `${'x'.repeat(99)}\n`;
  const answer = JSON.stringify(line.repeat(OUTPUT / line.length));
  const rules = ids().map((id) => `  - { step: ${id}, answer: ${answer} }\n`);
  const script = readScript(`rules:\n${rules.join('')}`, 'sequence.script.yaml');
  const { skein = Number.NaN, hand = Number.NaN } = await measure(
    { name: 'sequence', units: 1, candidates: { hand: () => byHand(script), skein: () => runWith(workflow, script) } },
    ROUNDS,
  );
  const name = `${STEPS} steps, each with ${OUTPUT} bytes more in its prompt`;
  return [
    { name: `${name}: by hand`, figure: `${hand.toFixed(0)} ms`, compared: '1.00', goal: '', held: true },
    {
      name: `${name}: pipeline`,
      figure: `${skein.toFixed(0)} ms`,
      compared: (skein / hand).toFixed(2),
      goal: '<= 3.00',
      held: skein <= 3 * hand,
    },
  ];
}

async function parallel(folder: string): Promise<Row> {
  const file = join(folder, 'parallel.yaml');
  writeFileSync(file, parallelFile());
  const workflow = await loadOnce(file);
  const answer = `{ text: done, delay: ${LATENCY}ms }`;
  const script = readScript(`rules:\n  - { agent: a, answers: [${answer}] }\n`, 'parallel.script.yaml');
  const { skein = Number.NaN } = await measure(
    { name: 'parallel', units: 1, candidates: { skein: () => runWith(workflow, script) } },
    ROUNDS,
  );
  return {
    name: `${WIDTH} agents at once, ${LATENCY} ms each`,
    figure: `${skein.toFixed(0)} ms`,
    compared: `${(skein - LATENCY).toFixed(0)} ms beside waiting`,
    goal: '<= 150 ms',
    held: skein <= 150,
  };
}

/** Pipelines: how long a large file takes to be checked, what the outputs of many steps cost, and how parallel a block is. */
export async function benchPipeline(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'skein-bench-'));
  try {
    const rows = [await validation(folder), ...(await sequence(folder)), await parallel(folder)];
    printTable(
      `Pipelines that were loaded once, median of ${ROUNDS}`,
      ['', 'figure', 'compared', 'goal', ''],
      rows.map(({ name, figure, compared, goal, held }) => [name, figure, compared, goal, held ? 'held' : 'NOT held']),
    );
    return rows.filter(({ held }) => !held).map(({ name, compared, goal }) => `${name}: ${compared}, goal ${goal}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
