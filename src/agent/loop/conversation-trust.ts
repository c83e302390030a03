import { pathOf, stepOf } from '../../base/address.js';
import { SkeinError } from '../../base/errors.js';
import type { GuardRules } from '../../guard/decide.js';
import { CLEAN, type Label } from '../../guard/label.js';
import type { HeardText } from '../../guard/lineage.js';
import { BUILT_IN } from '../../plan/built-in-tools.js';
import { builtInOf } from '../../plan/tool-names.js';
import type { AgentSpec } from '../../plan/agent-spec.js';
import type { ServerTrust } from '../../plan/policy.js';
import type { Influence } from '../../engine/ports/durable.js';
import type { Past } from '../../engine/ports/recording.js';
import { ASK_USER } from '../ask-user.js';
import type { Message, ModelTurn } from '../model.js';
import type { ResultName, RunTrust } from '../run-trust.js';
import type { Opened, OpenedTool } from '../session.js';
import { spreadBy, type Answer, type FilesShown } from './answer.js';

interface Hearing {
  readonly path: string;
  readonly spec: AgentSpec;
  readonly opened: Opened;
  readonly run: RunTrust;
  /** The step's influence: what led to the step, what it has read, and what is added here. */
  readonly influence: Influence;
  /** Names of the tools of the step itself. */
  readonly own: ReadonlySet<string>;
  /** Whether other agents read the results of this step. */
  readonly shares: boolean;
}

/** What a conversation heard, and wrote after something untrusted. */
export type LeftBehind = Pick<Past, 'heard' | 'wrote'>;

/** The step's tools that read or write the memory shared by the agents of a run. */
const MEMORY_TOOLS: ReadonlyMap<string, 'read' | 'write'> = new Map([
  ['shared_memory_read', 'read'],
  ['read_memory', 'read'],
  ['shared_memory_write', 'write'],
  ['write_memory', 'write'],
]);

/** The trust label of a conversation: everything that influenced the model's next turn. A replay returns the same. */
export class ConversationTrust {
  /** Files that the step has written, with their paths as the tools show them. */
  readonly wrote = new Set<string>();

  /** Files that the step, and the runs that its tools started, wrote after something untrusted. */
  private readonly spread = new Set<string>();
  /** The label when the step began, and so of its prompt. */
  private readonly begun: Label;
  /** Texts that the user does not vouch for. */
  private readonly texts: HeardText[] = [];

  constructor(private readonly step: Hearing) {
    this.begun = step.influence.label();
    this.join(step.run.first);
    hearOnlineModels(step.opened, step.influence);
  }

  /** True if everything that influenced the conversation is trusted. */
  get isTrusted(): boolean {
    return this.label.level === 'trusted';
  }

  get label(): Label {
    return this.step.influence.label();
  }

  add(label: Label): void {
    this.step.influence.add(label);
  }

  /** Whether tools of the step itself show what a person or another agent says, which may be private. */
  get hasListeners(): boolean {
    return [...this.step.own].some((name) => name === ASK_USER || MEMORY_TOOLS.has(name));
  }

  addDescriptions(): void {
    for (const { origin } of this.step.opened.tools) if (origin !== undefined) this.add(descriptionsOf(origin));
  }

  /** Adds the tool results in messages from before the step began. */
  addEarlier(messages: readonly Message[]): void {
    for (const message of messages) {
      if (message.role !== 'tool') continue;
      for (const result of message.results) {
        const label = this.step.run.labelOf(result) ?? this.labelOfResult(result.name, 'earlier', {});
        this.join(label);
        this.keep(label, result.output);
      }
    }
  }

  /** Returns the texts read so far, to trace where an argument comes from. `prompt` is the step's input. */
  heardTexts(prompt: string): readonly HeardText[] {
    const { begun } = this;
    return begun.level === 'trusted' ? this.texts : [heardText(begun, this.step.path, prompt), ...this.texts];
  }

  addMemory(): void {
    this.join(this.step.run.memory);
  }

  /**
   * A tool of the step itself runs: whoever sees what it writes to the memory from now on finds its label, too.
   *
   * @param label what influenced the call, as it was when its turn made it
   */
  runs(name: string, label: Label): void {
    const { run } = this.step;
    if (MEMORY_TOOLS.get(name) === 'write') run.memory = run.labels.join(run.memory, run.labels.of(label));
  }

  /** Adds the result of a call, or its error; `at` is `TURN.INDEX`. */
  heard(call: ResultName, answer: Answer, at: string): void {
    const { run } = this.step;
    const ofTool = answer.own === true ? CLEAN : this.labelOfResult(call.name, at, answer);
    const label = answer.heard === undefined ? ofTool : run.labels.join(ofTool, run.labels.of(answer.heard));
    this.join(label);
    // A result inside a model call is not added again on a replay.
    if (!at.startsWith('dispatched.')) this.keep(label, answer.output);
    if (this.step.shares) run.heard(call, label);
    if (answer.files?.wrote !== undefined) this.wrote.add(answer.files.wrote);
    for (const path of spreadBy(answer) ?? []) this.spreads(path);
    if (answer.lost === true && this.isFunction(call.name)) run.lostFiles();
  }

  left(): LeftBehind {
    return { heard: this.label, ...(this.spread.size === 0 ? {} : { wrote: [...this.spread] }) };
  }

  /** Adds what calls inside a model call left behind. */
  recall({ heard, wrote = [] }: LeftBehind): void {
    if (heard !== undefined) this.add(heard);
    for (const path of wrote) this.spreads(path);
  }

  private keep(id: number, text: string): void {
    if (id !== CLEAN) this.texts.push(heardText(this.step.run.labels.get(id), this.step.path, text));
  }

  private join(id: number): void {
    if (id !== CLEAN) this.step.influence.add(this.step.run.labels.get(id));
  }

  private labelOfResult(name: string, at: string, { files }: Pick<Answer, 'files'>): number {
    const { run, own, path } = this.step;
    const source = `${path}@tool#${at}`;
    if (own.has(name)) {
      if (MEMORY_TOOLS.get(name) === 'read') return run.memory;
      // An untrusted text may have asked a person for something to send out.
      const isElicited = name === ASK_USER && !this.isTrusted;
      return isElicited ? run.labels.of({ level: 'trusted', isPrivate: true, sources: [source] }) : CLEAN;
    }
    const tool = this.step.opened.tools.find((one) => one.name === name);
    if (tool !== undefined && (tool.pretended === true || this.addsNothing(tool))) return CLEAN;
    const isBuiltIn = tool !== undefined && tool.origin === undefined && tool.code === undefined;
    const builtIn = isBuiltIn ? builtInOf(name) : undefined;
    if (builtIn !== undefined && BUILT_IN[builtIn].effect === 'read')
      return run.labels.of(labelOfFiles(files, source, run.here.isLost ? 'untrusted' : run.rules.project));
    const { level = 'untrusted', public: isPublic } = serverOf(tool, run.rules);
    return run.labels.of({ level, isPrivate: builtIn !== 'fetch' && isPublic !== true, sources: [source] });
  }

  /** Whether a tool adds no label, both as it was opened and as it is defined at present. */
  private addsNothing({ name, trust, origin, code }: OpenedTool): boolean {
    if (trust !== 'trusted' || origin !== undefined) return false;
    const builtIn = code === undefined ? builtInOf(name) : undefined;
    if (builtIn !== undefined) return BUILT_IN[builtIn].trust === 'trusted';
    const now = this.step.spec.functions?.find((one) => one.name === name);
    return now === undefined || now.trust === 'trusted';
  }

  private isFunction(name: string): boolean {
    return this.step.opened.tools.some((tool) => tool.name === name && tool.code !== undefined);
  }

  private spreads(path: string): void {
    this.spread.add(path);
    this.step.run.here.add(path);
    this.step.influence.wrote?.(path);
  }
}

/** The label of a server's tool descriptions. A local server has the user's rights anyway, while they stay the same. */
function descriptionsOf({ server, isRemote, isChanged }: NonNullable<OpenedTool['origin']>): Label {
  return {
    level: isRemote === true || isChanged === true ? 'untrusted' : 'vetted',
    isPrivate: false,
    sources: [`server:${server}`],
  };
}

/**
 * Adds the label of an error that quotes a tool server: what it said, or wrote to its error output, when it could not be used. Its text
 * leaves the step, which never had a conversation, or one in which only the descriptions of the server's tools count.
 */
export function hearFailedServers(error: unknown, { mcpServers = {} }: AgentSpec, influence: Influence): void {
  if (!SkeinError.isInstance(error) || error.code !== 'SKEIN_MCP') return;
  influence.add({
    level: 'untrusted',
    isPrivate: true,
    sources: Object.keys(mcpServers).map((name) => `server:${name}`),
  });
}

/** Adds the label of models that search by their name. */
export function hearOnlineModels({ models }: Pick<Opened, 'models'>, influence: Influence): void {
  for (const { id } of models) if (isOnline(id)) influence.add(searchedBy(id));
}

/** Adds the label of an answer whose provider searched, or ran a tool. The model counts too: it can be another one than before. */
export function hearSearch({ model, searched }: ModelTurn, influence: Influence): void {
  if (searched === true || isOnline(model)) influence.add(searchedBy(model));
}

function isOnline(model: string): boolean {
  return model.toLowerCase().endsWith(':online');
}

function searchedBy(model: string): Label {
  return { level: 'untrusted', isPrivate: false, sources: [`model:${model}`] };
}

function serverOf({ origin }: Partial<OpenedTool> = {}, { servers = {} }: GuardRules): ServerTrust {
  return (origin && Object.hasOwn(servers, origin.server) ? servers[origin.server] : undefined) ?? {};
}

/** Project files are vetted unless the user says otherwise. Older records do not tell where a file was. */
function labelOfFiles(files: FilesShown | undefined, source: string, project: GuardRules['project']): Label {
  if (files === undefined) return { level: 'untrusted', isPrivate: true, sources: [source] };
  const foreign = files.foreign ?? [];
  const level = project === 'untrusted' ? 'untrusted' : 'vetted';
  if (foreign.length === 0) return { level, isPrivate: project !== 'public', sources: [source] };
  return { level: 'untrusted', isPrivate: true, sources: [source, ...foreign.map((path) => `file:${path}`)] };
}

/** Most sources of a text that are named when its path is shown. */
const MOST_NAMED = 3;

function isCall(source: string): boolean {
  return source.includes('@');
}

/** A text as it reached the step at `path`. */
function heardText({ sources, more }: Label, path: string, text: string): HeardText {
  // First what this step or another one called, then the sources that it showed.
  const named = [...sources.filter(isCall), ...sources.filter((source) => !isCall(source))];
  const steps = sources.filter(isCall).map((source) => pathOf(stepOf(source)));
  const isCut = more === true || sources.length > MOST_NAMED;
  const source = [...named.slice(0, MOST_NAMED), ...(isCut ? ['and more'] : [])].join(', ');
  return { source, steps: [...new Set([...steps, path])], text };
}
