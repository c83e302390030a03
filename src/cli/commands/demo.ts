import { readFile } from 'node:fs/promises';
import { countText } from '../../base/text.js';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Option, type Command } from 'commander';
import { usdText } from '../../events/cost-text.js';
import type { Plan } from '../../plan/plan.js';
import { EXIT, printProblems } from '../failures.js';
import { packageRoot } from '../own-package.js';
import { durabilityAct, runAndDie } from '../run/durability-act.js';
import { lastCommit } from '../run/last-commit.js';
import { loadWorkflow } from '../run/load-workflow.js';
import { costOfPlan } from '../run/plan-cost.js';
import { followRun } from '../run/execute-run.js';
import { reportEnd, type Ended } from '../run/report-end.js';
import { nextSteps } from '../view/next-steps.js';
import { printable } from '../view/printable.js';
import { RunLog } from '../view/run-log.js';
import { tokensText } from '../view/step-text.js';
import { printNote, printResult } from '../view/streams.js';
import { hasUnicode } from '../view/style.js';

/** `skein demo`. */
export function define(command: Command, done: (code: number) => void): void {
  command
    .option('--no-color', 'no colours')
    .addOption(new Option('--act <folder>').hideHelp())
    .action(async (options: { readonly color: boolean; readonly act?: string }) => {
      done(options.act === undefined ? await demo(options.color) : await act(options.act));
    });
}

const EXAMPLE = fileURLToPath(new URL('examples/code-review/', packageRoot()));
const FILE = join(EXAMPLE, 'workflow.yaml');
const SCRIPT = join(EXAMPLE, 'script.yaml');

/** The model whose price is shown. */
const MODEL = 'openai/gpt-5-mini';

/** Names a model for agents that leave it to the user: the script then reports what this model would have cost. */
function priced(plan: Plan): Plan {
  const nodes = plan.nodes.map((node) =>
    node.kind === 'agent' ? { ...node, agent: { ...node.agent, models: [MODEL] } } : node,
  );
  return { ...plan, nodes };
}

async function demo(color: boolean): Promise<number> {
  const cwd = process.cwd();
  const { title, diff } = (await lastCommit(cwd)) ?? (await sample(EXAMPLE));
  const inputs = { diff, intent: title };
  const { workflow: loaded, problems, broken } = await loadWorkflow(FILE, { cwd, inputs });
  printProblems(problems);
  if (broken || loaded.plan === undefined) return EXIT.invalid;
  const workflow = { ...loaded, plan: priced(loaded.plan) };
  printNote(
    `A code review of ${printable(title)}\nby a team of agents, with the answers of a script instead of a model.\n`,
  );
  const log = new RunLog(workflow.plan);
  const flags = { mock: SCRIPT, audit: false, color };
  const execution = { flags, cwd, workflow, inputs, log };
  const ended = await followRun(execution);
  if (ended.result.outcome !== 'succeeded') return await reportEnd(execution, ended);
  const kept = await durabilityAct(
    { workflow, inputs, cwd, script: SCRIPT, calls: log.spent.modelCalls },
    ended.result.state,
  );
  for (const line of await costLines(workflow.plan, log)) printNote(line);
  await curtain(workflow.plan, ended);
  return kept ? EXIT.ok : EXIT.failed;
}

/** The last lines on the screen: the picture, the answer, the census, and what to do next. */
async function curtain(plan: Plan, { result, style }: Ended): Promise<void> {
  const [{ boxesOf, drawingOf }, { formatCensus }] = await Promise.all([
    import('../../draw.js'),
    import('../../index.js'),
  ]);
  const { columns, isTTY } = process.stdout;
  printResult(`\n${boxesOf(drawingOf(plan), { unicode: hasUnicode(), columns })}`);
  const answer = String(result.state['steps.report.output']).trimEnd();
  printResult(`\n## Step: report (by a script: no model read the diff)\n\n${isTTY ? printable(answer) : answer}`);
  printNote(`\n${style.bold(plan.name)} ${style.good('succeeded')}: ${formatCensus(result.census)}`);
  for (const line of nextSteps('write a workflow of your own to start from', 'skein new mine')) printNote(line);
}

/** The part that runs in the process that is killed. */
async function act(folder: string): Promise<number> {
  const cwd = process.cwd();
  const { workflow } = await loadWorkflow(FILE, { cwd });
  if (workflow.plan === undefined) return EXIT.invalid;
  await runAndDie(folder, { workflow: { ...workflow, plan: priced(workflow.plan) }, cwd, script: SCRIPT });
  return EXIT.ok;
}

async function sample(folder: string): Promise<{ readonly title: string; readonly diff: string }> {
  return { title: 'a change that comes with the example', diff: await readFile(join(folder, 'sample.diff'), 'utf8') };
}

async function costLines(plan: Plan, log: RunLog): Promise<readonly string[]> {
  const { estimateCalls } = await import('../../index.js');
  const { modelCalls, toolCalls } = estimateCalls(plan);
  const { worst } = await costOfPlan(plan, {});
  const spent = log.spent.spending();
  return [
    '',
    `With a model this run would have made ${countText(spent.modelCalls, 'call')} to ${MODEL} (about ${tokensText(spent.usage)}, in + out) for ${usdText(spent.usd)};`,
    `at most ${modelCalls.worst} model calls and ${toolCalls.worst} tool calls${typeof worst.usd === 'number' ? ` for about ${usdText(worst.usd)}` : ''}, no matter what the models do. Nothing was sent anywhere, nothing was left behind.`,
    'skein doctor shows which models you can use.',
  ];
}
