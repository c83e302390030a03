import { nodePathOf } from '../base/address.js';
import type { StepOutcome, StepReport } from '../events/census.js';
import { truncateText } from '../lang/truncate.js';
import { valueText } from '../lang/value-text.js';
import type { Truncate } from '../lang/values.js';
import type { Plan } from '../plan/plan.js';
import { innerNode, writingNodes, type InnerNode } from '../plan/result-nodes.js';
import type { OutputFormat, Workflow } from '../plan/workflow.js';
import { statusOf, type StepStatus } from './record-fields.js';

export interface OutputOptions {
  readonly workflow: Workflow;
  readonly state: Readonly<Record<string, unknown>>;
  /** Every step that did not simply succeed, in the order in which the steps ended. */
  readonly reports: readonly StepReport[];
  /** Returns how the latest visit of a node ended, by its path. If it succeeded, reports of earlier visits don't count. */
  readonly latest?: (path: string) => StepOutcome | undefined;
  /** The declared result of the workflow. Printed as JSON unless a format is given. */
  readonly result?: Readonly<Record<string, unknown>> | undefined;
  /** Defaults to the workflow's setting. */
  readonly format?: OutputFormat;
  /** Ids of the nodes to print, in this order; paths of nodes inside others, such as `reviews/style`. Defaults to the setting, or else to every node that writes, in plan order. */
  readonly nodes?: readonly string[];
  /** True to keep outputs whole, whatever the settings limit. Defaults to false. */
  readonly whole?: boolean;
}

interface Section {
  readonly id: string;
  readonly status: StepStatus;
  /** Absent if the step did not end. */
  readonly outcome?: StepOutcome;
  readonly output?: unknown;
  readonly why: string;
  readonly failed: boolean;
}

/**
 * Formats the results of a run as text, one section per step. `markdown` and `plain` end with a line break, `json` does not: `{ steps: {
 * ID: { status, output?, error?, reason? } } }`.
 */
export function formatOutput(options: OutputOptions): string {
  const { workflow, whole = false, result, format } = options;
  if (result !== undefined && format === undefined) return `${JSON.stringify(result, undefined, 2)}\n`;
  const { output } = workflow.settings;
  const truncate = whole ? undefined : output.truncate;
  const lastOf = new Map(options.reports.map((report) => [nodePathOf(report.path), report]));
  const shared = sharedChannels(workflow.plan);
  const found = selectNodes(options, lastOf);
  const sections = found.map((one) => sectionOf(one, { ...options, shared }, lastOf.get(one.path)));
  switch (format ?? output.format) {
    case 'markdown':
      return `${['# Workflow Results', ...sections.map((section) => markdownSection(section, truncate))].join('\n\n')}\n`;
    case 'plain':
      return sections.map((section) => `${plainSection(section, truncate)}\n`).join('\n');
    case 'json': {
      // Built by hand: an object would put numeric names first.
      const steps = sections.map((section) => {
        const text = JSON.stringify(jsonSection(section, truncate), undefined, 2).replaceAll('\n', '\n    ');
        return `    ${JSON.stringify(section.id)}: ${text}`;
      });
      return steps.length === 0 ? '{\n  "steps": {}\n}' : `{\n  "steps": {\n${steps.join(',\n')}\n  }\n}`;
    }
  }
}

function selectNodes(options: OutputOptions, lastOf: ReadonlyMap<string, StepReport>): readonly InnerNode[] {
  const { plan, settings } = options.workflow;
  if (plan === undefined) return [];
  const paths = options.nodes ?? settings.output.nodes ?? writingNodes(plan);
  const found = paths.flatMap((path) => innerNode(plan, path) ?? []);
  const told = found.map((one) =>
    outputOf(one, options.state) === undefined ? (endedAround(one, options, lastOf) ?? one.path) : one.path,
  );
  return [...new Set(told)].flatMap((path) => innerNode(plan, path) ?? []);
}

/** Returns the channels with several writers, inputs among them: a value does not tell which of them wrote it. */
function sharedChannels(plan: Plan | undefined): ReadonlySet<string> {
  const seen = new Set(plan?.inputs.map(({ channel }) => channel));
  const shared = new Set<string>();
  for (const { output } of plan?.nodes ?? []) {
    if (output !== undefined && seen.has(output)) shared.add(output);
    if (output !== undefined) seen.add(output);
  }
  return shared;
}

type SectionOptions = OutputOptions & { readonly shared: ReadonlySet<string> };

function sectionOf(one: InnerNode, options: SectionOptions, last: StepReport | undefined): Section {
  const { path, channel } = one;
  const isPassed = options.latest?.(path) === 'succeeded';
  const isOthers = options.latest !== undefined && channel !== undefined && options.shared.has(channel);
  const output = isOthers && !isPassed ? undefined : outputOf(one, options.state);
  // A node that was skipped on one visit may have an output from another.
  if (last === undefined || isPassed || (last.outcome === 'skipped' && output !== undefined)) {
    const status = output === undefined ? 'not_run' : 'completed';
    return { id: path, status, output, why: '', failed: false };
  }
  const { outcome, error, reason } = last;
  const why = error?.message ?? reason ?? '';
  return { id: path, status: statusOf(outcome), outcome, why, failed: error !== undefined };
}

/** The block around a path that ended without results: what ended it concerns all that is inside. */
function endedAround(
  { path }: InnerNode,
  options: OutputOptions,
  lastOf: ReadonlyMap<string, StepReport>,
): string | undefined {
  for (let end = path.indexOf('/'); end > 0; end = path.indexOf('/', end + 1)) {
    const around = path.slice(0, end);
    if (lastOf.has(around) && options.latest?.(around) !== 'succeeded') return around;
  }
  return undefined;
}

function outputOf({ node, channel, path }: InnerNode, state: Readonly<Record<string, unknown>>): unknown {
  if (channel !== undefined) return Object.hasOwn(state, channel) ? state[channel] : undefined;
  if (path !== node.id) return undefined;
  const written = (node.writes ?? []).filter((name) => Object.hasOwn(state, name) && state[name] !== undefined);
  return written.length === 0 ? undefined : Object.fromEntries(written.map((name) => [name, state[name]]));
}

function markdownSection(section: Section, truncate: Truncate | undefined): string {
  return `## Step: ${oneLine(section.id)}\n\n${section.status === 'completed' ? shown(section, truncate) : `*${remark(section)}*`}`;
}

function plainSection(section: Section, truncate: Truncate | undefined): string {
  const body = section.status === 'completed' ? shown(section, truncate) : `(${lowerFirst(remark(section))})`;
  return `=== ${oneLine(section.id)} ===\n${body}`;
}

function shown(section: Section, truncate: Truncate | undefined): string {
  const { output } = section;
  const text = typeof output === 'object' && output !== null ? JSON.stringify(output, undefined, 2) : valueText(output);
  return truncateText(text, truncate);
}

function remark({ status, outcome, why }: Section): string {
  const words = (outcome && OUTCOME_REMARKS[outcome]) ?? REMARKS[status];
  return why === '' || (status !== 'failed' && status !== 'paused') ? words : `${words}: ${oneLine(why)}`;
}

/** Outcomes that their status does not name. */
const OUTCOME_REMARKS: Readonly<Partial<Record<StepOutcome, string>>> = {
  timed_out: 'Timed out',
  out_of_budget: 'Out of budget',
};

const REMARKS: Readonly<Record<StepStatus, string>> = {
  failed: 'Failed',
  paused: 'Paused',
  skipped: 'Skipped',
  cancelled: 'Cancelled',
  not_run: 'Not run',
  running: 'Not run',
  completed: 'Not run',
};

function jsonSection(section: Section, truncate: Truncate | undefined): Record<string, unknown> {
  const { status, output, why, failed } = section;
  if (status === 'completed') return { status, output: cutValue(output, truncate) };
  return { status, ...(why === '' ? {} : failed ? { error: why } : { reason: why }) };
}

/** A value keeps its type unless it must be cut. */
function cutValue(value: unknown, truncate: Truncate | undefined): unknown {
  const text = valueText(value);
  const cut = truncateText(text, truncate);
  return cut === text ? value : cut;
}

// Line breaks and characters that control a terminal: a message must stay on its line.
const CONTROL = /[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]+/gu;

function oneLine(text: string): string {
  return text.replace(CONTROL, ' ').trim();
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
