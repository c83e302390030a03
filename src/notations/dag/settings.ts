import { quoteShort } from '../../lang/value-text.js';
import type { WorkflowSettings } from '../../plan/workflow.js';
import { absolutePath, reportUnread } from '../../text/files.js';
import type { Findings } from '../../text/findings.js';
import { present } from '../../base/json.js';
import type { Definition } from './definition.js';
import { nearestStep } from './step-graph.js';
import type { StepGraph } from './step-graph.js';
import type { Workspace } from '../opened-file.js';

/**
 * Builds the settings for running and printing the workflow. `memory` is the initial shared memory; undefined if it is off. Printed outputs
 * are truncated by `output.truncate`, which defaults to `config.truncate`.
 */
export function buildSettings(
  definition: Definition,
  workspace: Workspace,
  memory: string | undefined,
): WorkflowSettings {
  const { config, output } = definition;
  return present({
    output: present({
      nodes: output.steps?.map((step) => step.text),
      format: output.format,
      truncate: output.truncate ?? config.truncate,
    }),
    audit: { dir: absolutePath(config.auditDir, workspace.cwd, workspace.home), keep: config.auditRetention },
    memory: memory === undefined ? undefined : { initial: memory },
    streaming: config.streaming,
    logLevel: config.logLevel,
  });
}

/** Returns the initial shared memory: the file beside the workflow, or the text in it, or empty. Undefined if memory is off. */
export async function readInitialMemory(
  definition: Definition,
  workspace: Workspace,
  findings: Findings,
): Promise<string | undefined> {
  const { memory } = definition.config;
  if (memory?.file === undefined) return memory === undefined ? undefined : (memory.content ?? '');
  const path = absolutePath(memory.file.text, workspace.base, workspace.home);
  const text = await workspace.read(path);
  if (text.ok) {
    workspace.use(path, text.text);
    return text.text;
  }
  reportUnread(text, `initial_file ${workspace.shown(path)}`, memory.file.at, findings);
  return '';
}

/** Checks that the steps named in `output` exist (`unknown-step`) and have outputs (`missing-output`). */
export function checkOutputSteps(definition: Definition, graph: StepGraph, findings: Findings): void {
  const { ids } = graph;
  for (const { text, at } of definition.output.steps ?? []) {
    if (ids.has(text) && graph.hasOutput(text)) continue;
    if (ids.has(text)) {
      const message = `output names the step ${quoteShort(text)}, which has no output`;
      findings.error('missing-output', message, at, 'leave it out: it ends the workflow');
      continue;
    }
    findings.error(
      'unknown-step',
      `output names the step ${quoteShort(text)}, which does not exist`,
      at,
      nearestStep(text, ids, findings),
    );
  }
}
