import { formatDuration } from '../../base/duration.js';
import { countText } from '../../base/text.js';
import { cachedText, callCostText } from '../../events/cost-text.js';
import { isWaitNote, type Asking, type SkeinEvent, type StepNote } from '../../events/event.js';
import type { GuardedCallFacts, TrustNote } from '../../events/trust.js';
import {
  guardText,
  isGuardNote,
  isLoopNote,
  loopText,
  type GuardNote,
  type LoopNote,
} from '../../events/step-notes.js';
import { isSupervisionNote, supervisionText, type SupervisionNote } from '../../events/supervision.js';
import { endedLine, modelText, outcomeWords } from './step-text.js';
import { oneLine, printable } from './printable.js';
import { isPassed, type RunLog } from './run-log.js';
import type { StepLog } from './step-log.js';
import { SaidTexts } from './said-texts.js';
import type { Style } from './style.js';

/** What is reported about a run in progress. */
export interface AnnounceOptions {
  /** Whether to report starts of steps. The live view shows them anyway. */
  readonly starts: boolean;
  /** Whether to report ends of steps. The end of the run lists them anyway. */
  readonly ends: boolean;
  /** Whether to report model turns, tool calls and prompts. */
  readonly verbose: boolean;
  /** Whether to report tool calls even if not verbose. */
  readonly tools?: boolean;
  /** Whether to print text as it arrives. */
  readonly stream: boolean;
  readonly style: Style;
  /** The name of a run in commands. Undefined if it is not recorded. */
  readonly nameOfRun?: (runId: string) => string | undefined;
}

/** Up to this number, reused steps are reported one by one. */
const TOLD_REUSED = 20;

/** Maximum characters of a tool's input or an error on its line. */
const LONGEST_DETAIL = 160;

/** Maximum characters of the name of a tool. */
const LONGEST_NAME = 80;

/** Returns a function that converts events to lines about the progress of a run. The log must have received the event first. */
export function createAnnouncer(log: RunLog, options: AnnounceOptions): (event: SkeinEvent) => readonly string[] {
  const said = new SaidTexts(log, options.style);
  const silent = new Set<string>();
  const reused = createReuseTeller(options.style);
  return (event) => {
    said.follow(event);
    if (isPassed(event)) return passedLines(event, log, options.style);
    // A replayed event is not news. A step that continues in this session begins here for the user.
    if (event.replayed === true) {
      if (event.type === 'step.started') silent.add(event.path);
      if (event.type !== 'step.ended') return [];
      silent.delete(event.path);
      return options.ends ? reused(event.path, log.steps.get(event.path)) : [];
    }
    if (event.type === 'run.resumed') {
      const open = [...silent];
      silent.clear();
      return options.starts ? open.map((path) => startedLine(path, options.style)) : [];
    }
    const begins = event.type !== 'step.ended' && silent.has(event.path) && options.starts;
    silent.delete(event.path);
    return [...(begins ? [startedLine(event.path, options.style)] : []), ...newsLines(event, { log, said, options })];
  };
}

/** For a node that only decides, the decision is the only news. */
function passedLines(event: SkeinEvent, log: RunLog, style: Style): readonly string[] {
  const decision = event.replayed === true ? undefined : log.decision(event);
  return decision === undefined ? [] : [`step ${style.bold(printable(event.path))}: ${decision}`];
}

function createReuseTeller(style: Style): (path: string, step: StepLog | undefined) => readonly string[] {
  let told = 0;
  return (path, step) => {
    if (step === undefined || step.status === 'skipped') return [];
    told += 1;
    if (told > TOLD_REUSED) return told === TOLD_REUSED + 1 ? [style.dim('and more steps from the record')] : [];
    const what = step.status === 'succeeded' ? 'reused' : `${outcomeWords(step.status)}, says the record`;
    return [style.dim(`step ${printable(path)} ${what}`)];
  };
}

function startedLine(path: string, style: Style): string {
  return `step ${style.bold(printable(path))} started`;
}

function newsLines(event: SkeinEvent, { log, said, options }: Telling & { readonly log: RunLog }): readonly string[] {
  const { style, nameOfRun } = options;
  switch (event.type) {
    case 'run.started': {
      const known = nameOfRun?.(event.runId);
      const name = known === undefined ? '' : `, recorded as ${printable(known)}`;
      return [style.dim(`run of ${printable(event.plan)}: ${countText(event.nodes, 'step')}${name}`)];
    }
    case 'run.warning':
      return [warning(event.message, style)];
    case 'run.ended':
    case 'run.resumed':
      return [];
    case 'step.started':
      return options.starts ? [startedLine(event.path, style)] : [];
    case 'step.retrying': {
      const why = oneLine(event.error.message, LONGEST_DETAIL, style.signs.cut);
      return [`step ${printable(event.path)} tries again in ${formatDuration(event.delayMs)}: ${style.warn(why)}`];
    }
    case 'step.ended': {
      const step = log.steps.get(event.path);
      return [...said.end(event), ...(step === undefined || !options.ends ? [] : [endedLine(step, style)])];
    }
    case 'step.note':
      if (isLoopNote(event.note)) return roundLines(event.path, event.note, log, options);
      if (event.note.kind === 'guard.decided') return decidedLines(event.path, event.note, options);
      return isSilent(event.note) ? [] : noteLines(event.path, event.note, { said, options });
  }
}

/** A loop that repeats itself causes a warning. */
function roundLines(path: string, note: LoopNote, log: RunLog, { verbose }: AnnounceOptions): readonly string[] {
  const isWarned = note.kind !== 'loop.round' && log.steps.get(path)?.kind === 'loop';
  return verbose && !isWarned ? [`[${printable(path)}] ${loopText(note)}`] : [];
}

/** Notes without a line of their own. */
type SilentNote = Extract<
  StepNote,
  {
    readonly kind:
      'items' | 'rounds' | 'model.failed' | 'budget.admitted' | 'inner.call' | 'guard.label' | 'guard.endorsed';
  }
>;

const SILENT: ReadonlySet<StepNote['kind']> = new Set([
  'items',
  'rounds',
  'model.failed',
  'budget.admitted',
  'inner.call',
  'guard.label',
  'guard.endorsed',
]);

function isSilent(note: StepNote): note is SilentNote {
  return SILENT.has(note.kind);
}

interface Telling {
  readonly said: SaidTexts;
  readonly options: AnnounceOptions;
}

/** The reason of a model's failure without the model's name, which begins most messages and is on the line already. */
function reason(error: { readonly message: string }, model: string, cut: string): string {
  const { message } = error;
  const name = `${model}: `;
  return oneLine(message.startsWith(name) ? message.slice(name.length) : message, LONGEST_DETAIL, cut);
}

function noteLines(
  path: string,
  note: Exclude<StepNote, SilentNote | LoopNote | TrustNote>,
  { said, options }: Telling,
): readonly string[] {
  const { style } = options;
  if (isJudging(note)) return judgingLines(path, note, options);
  if (isWaitNote(note)) return detail(path, note, style, options.verbose);
  switch (note.kind) {
    case 'model.delta':
      return options.stream ? said.add(path, note.text) : [];
    case 'model.ended':
      return [...said.rest(path), ...detail(path, note, style, options.verbose)];
    case 'model.retrying':
      return [
        `[${printable(path)}] ${modelText(note.model)}: ${style.warn(reason(note.error, note.model, style.signs.cut))}; asks again in ${formatDuration(note.delayMs)}`,
      ];
    case 'model.fallback':
      return [
        `[${printable(path)}] ${modelText(note.from)}: ${style.warn(reason(note.error, note.from, style.signs.cut))}; continues with ${modelText(note.to)}`,
      ];
    case 'warning':
      return [warning(`${path}: ${note.message}`, style)];
    case 'tool.started':
    case 'tool.ended':
      return detail(path, note, style, options.verbose || options.tools === true);
    case 'prompt':
    case 'model.started':
    case 'question':
    case 'answer':
    case 'memory':
    case 'event':
      return detail(path, note, style, options.verbose);
  }
}

/** A call that a person is asked about is shown with the question. */
function decidedLines(path: string, note: GuardedCallFacts, { style, verbose }: AnnounceOptions): readonly string[] {
  if (note.decision === 'ask' && !verbose) return [];
  const { why = note.rule, lineage, declare } = note;
  const what = `the guard ${note.decision === 'deny' ? 'refuses' : 'asks about'} ${note.tool}: ${why}`;
  const more = [...lineage, ...(declare === undefined ? [] : [`would allow it: ${declare}`])];
  return [what, ...more].map(
    (line, at) => `${at === 0 ? `[${printable(path)}] ` : '    '}${oneLine(line, LONGEST_DETAIL, style.signs.cut)}`,
  );
}

function isJudging(note: StepNote): note is SupervisionNote | GuardNote {
  return isSupervisionNote(note) || isGuardNote(note);
}

function judgingLines(path: string, note: SupervisionNote | GuardNote, options: AnnounceOptions): readonly string[] {
  return isGuardNote(note) ? guardLines(path, note, options) : supervisionLines(path, note, options);
}

/** A step that is not accepted is news; everything else is detail. */
function supervisionLines(path: string, note: SupervisionNote, { style, verbose }: AnnounceOptions): readonly string[] {
  const isRefusal = note.kind === 'supervision.verdict' && note.verdict !== 'continue';
  if (!isRefusal && note.kind !== 'supervision.corrected' && !verbose) return [];
  return [`[${printable(path)}] ${oneLine(supervisionText(note), LONGEST_DETAIL, style.signs.cut)}`];
}

/** A call that is not made as wanted is news. */
function guardLines(path: string, note: GuardNote, { style, verbose }: AnnounceOptions): readonly string[] {
  if (!verbose && !['deny', 'modify', 'ask'].includes(note.verdict)) return [];
  return [`[${printable(path)}] ${oneLine(guardText(note), LONGEST_DETAIL, style.signs.cut)}`];
}

type Detail = Exclude<
  StepNote,
  | GuardNote
  | LoopNote
  | SupervisionNote
  | SilentNote
  | TrustNote
  | { readonly kind: 'model.delta' | 'model.retrying' | 'model.fallback' | 'warning' }
>;

function detail(path: string, note: Detail, { signs }: Style, isShown: boolean): readonly string[] {
  return isShown ? [`[${printable(path)}] ${detailText(note, signs.cut)}`] : [];
}

function detailText(note: Detail, cut: string): string {
  switch (note.kind) {
    case 'prompt':
      return `prompt of ${countText(note.prompt.length, 'character')} for ${modelText(note.model)}`;
    case 'model.started':
      return `${turnText(note)} of ${modelText(note.model)} started`;
    case 'model.queued':
      return `${turnText(note)} waits until ${modelText(note.model)} takes it, behind ${countText(note.ahead, 'call')}`;
    case 'model.admitted':
      return `${turnText(note)} waited ${formatDuration(note.waitedMs)} for ${modelText(note.model)}`;
    case 'model.ended':
      return `${turnText(note)} ended: ${note.usage.inputTokens} tokens in, ${note.usage.outputTokens} out, ${countText(note.toolCalls, 'tool call')}${costOfTurn(note)}`;
    case 'tool.started':
      return `calls ${toolText(note, cut)} ${oneLine(JSON.stringify(note.input), LONGEST_DETAIL, cut)}`;
    case 'tool.ended':
      return note.status === 'ok'
        ? `${toolText(note, cut)} done`
        : `${toolText(note, cut)} failed: ${oneLine(note.output, LONGEST_DETAIL, cut)}`;
    case 'budget.waiting':
      return printable(note.message);
    case 'question':
      return `asks: ${oneLine(note.question, LONGEST_DETAIL, cut)}`;
    case 'answer':
      return `answer: ${oneLine(note.answer, LONGEST_DETAIL, cut)}`;
    case 'memory':
      return note.mode === 'append' ? 'adds to the shared memory' : 'rewrites the shared memory';
    case 'event':
      return `tells: ${oneLine(JSON.stringify(note.event), LONGEST_DETAIL, cut)}`;
  }
}

/** A model names the tool, also one that does not exist. */
function toolText({ tool }: { readonly tool: string }, cut: string): string {
  return oneLine(tool, LONGEST_NAME, cut);
}

function costOfTurn({ usage, cost }: Pick<Detail & { readonly kind: 'model.ended' }, 'usage' | 'cost'>): string {
  return [cachedText(usage), callCostText(cost)].flatMap((part) => (part === '' ? [] : [`, ${part}`])).join('');
}

function turnText({ turn, phase }: Asking): string {
  return phase ?? `turn ${turn}`;
}

function warning(message: string, style: Style): string {
  return `${style.warn('warning')}: ${printable(message)}`;
}
