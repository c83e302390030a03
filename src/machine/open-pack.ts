import { SkeinError } from '../base/errors.js';
import { systemClock } from '../base/clock.js';
import { definitionError } from '../base/problem.js';
import { present, type Json } from '../base/json.js';
import { checkOptions, type OptionForms } from '../base/options.js';
import { didYouMean } from '../base/suggest.js';
import { checkRunOptions } from '../runtime/check-run.js';
import { preparedPlan } from '../runtime/checked-plan.js';
import type { RunOptions } from '../runtime/options.js';
import { machinePlan, type MachineOptions } from '../notations/machine/plan/machine-plan.js';
import { placeOfAgent } from '../notations/machine/pack-names.js';
import type { MachineSetup } from '../notations/machine/plan/standing.js';
import { readWholePack, type PackOptions } from '../notations/machine/read-pack.js';
import { missingTools } from '../notations/machine/pack-tools.js';
import type { Pack } from '../notations/machine/pack.js';
import { Conversation } from './conversation.js';
import type { Context } from './pure/context-data.js';
import { markedInputs } from './marked-inputs.js';
import { MachineContext } from './pure/context.js';
import { StateMachine } from './pure/machine.js';
import { memoryStore } from '../stores/memory.js';

/**
 * Run options that a conversation accepts too. `thread` names the conversation: one of the store is continued; the default is the id of the
 * first run. `untrusted` and `private` name inputs of each turn (`message`, `context`, `start`) and variables.
 */
type OfRuns = Pick<
  RunOptions,
  | 'store'
  | 'models'
  | 'cwd'
  | 'allowPrivateAddresses'
  | 'supervisor'
  | 'answer'
  | 'listeners'
  | 'signal'
  | 'executors'
  | 'origin'
  | 'untrusted'
  | 'private'
  | 'thread'
>;

/**
 * Options of {@link openPack}.
 *
 * @example
 * const options = { thread: 'customer-4711', store, tools: { lookup }, variables: { company: 'Loom & Co' } } satisfies OpenPackOptions;
 */
export interface OpenPackOptions extends OfRuns, Omit<MachineOptions, 'files'>, Pick<PackOptions, 'file'> {
  /** The pack's folder, from which skills and schemas are read. */
  readonly folder?: string;
  /** Talks to this agent of the pack: in its state, or with its prompt alone. */
  readonly agent?: string;
  /** Begins in this state instead of the entry. */
  readonly state?: string;
  /** Begins from this context, as PromptKit or `context()` wrote it. */
  readonly context?: Context;
  /** Values of the prompts' variables. */
  readonly variables?: Readonly<Record<string, Json>>;
}

/**
 * A conversation with a pack, as {@link openPack} returns it.
 *
 * @example
 * const talk = async (conversation: PackConversation) => (await conversation.send('Hello')).text;
 */
export type PackConversation = Conversation;

/** Options of the pack's plan, which a pack has as a workflow, too. */
export const PLAN_OPTIONS: OptionForms<Omit<MachineOptions, 'files'> & Pick<OpenPackOptions, 'file' | 'folder'>> = {
  folder: 'text',
  file: 'text',
  prompt: 'text',
  recent: 'a number',
  maxHandOvers: 'a number',
  carryForward: 'true or false',
  tools: 'an object',
  approve: 'an object',
  validators: 'an object',
  standIn: 'true or false',
  mcpServers: 'an object',
  skills: 'a list',
  maxArtifactBytes: 'a number',
  maxAllArtifactBytes: 'a number',
};

const OWN: OptionForms<Omit<OpenPackOptions, keyof OfRuns | keyof MachineOptions | 'file' | 'folder'>> = {
  agent: 'text',
  state: 'text',
  context: 'an object',
  variables: 'an object',
};

const OF_RUNS: OptionForms<OfRuns> = {
  store: 'an object',
  models: 'an object',
  cwd: 'text',
  allowPrivateAddresses: 'true or false',
  supervisor: 'an object',
  answer: 'a function',
  listeners: 'a list',
  signal: 'an object',
  executors: 'an object',
  origin: 'an object',
  untrusted: 'a list of texts',
  private: 'a list of texts',
  thread: 'text, or an object',
};

/**
 * Opens a conversation with a pack: the text of a file, or data. Nothing runs before the first message or event. A pack without a workflow
 * talks with one of its prompts.
 *
 * @throws SkeinError `SKEIN_DEFINITION` with all problems; `SKEIN_USAGE` for invalid options; `SKEIN_CONTEXT` for another pack's context;
 *   `SKEIN_THREAD` for a thread of another pack
 * @example
 * const conversation = await openPack(await readFile('support.pack.json', 'utf8'), { tools: { lookup } });
 * const { text, state } = await conversation.send('My order is late.');
 */
export async function openPack(given: string | object, options: OpenPackOptions = {}): Promise<PackConversation> {
  checkOpening(options);
  const { pack, files } = await packOf(given, options);
  const { agent, ...place } = options;
  const isMock = options.models?.mock === true || options.models?.script !== undefined;
  const begun = {
    ...(isMock ? { standIn: true } : {}),
    ...place,
    ...(agent === undefined ? {} : placeOfAgent(pack, agent)),
  };
  const machine = machinePlan(pack, { ...begun, files });
  const compiled = preparedPlan(machine);
  const start = startOf(machine.setup, begun);
  checkTools(pack, machine.setup, begun);
  const { variables = {}, thread } = options;
  const named = (mark: 'untrusted' | 'private'): readonly string[] | undefined => {
    const names = options[mark];
    return Array.isArray(names) ? markedInputs(pack, { names, mark, variables }) : names;
  };
  return new Conversation({
    pack,
    compiled,
    setup: machine.setup,
    runs: {
      store: memoryStore(),
      ...ofRuns(options),
      ...present({ untrusted: named('untrusted'), private: named('private') }),
    },
    start,
    continues: agent !== undefined,
    variables,
    thread: typeof thread === 'string' ? { id: thread } : thread,
  });
}

function checkOpening(options: OpenPackOptions): void {
  checkOptions<OpenPackOptions>('openPack', options, { ...PLAN_OPTIONS, ...OWN, ...OF_RUNS });
  checkRunOptions(ofRuns(options));
  checkPlanOptions(options);
  const begins = (['agent', 'prompt', 'state', 'context'] as const).filter((name) => options[name] !== undefined);
  if (begins.length > 1)
    throw wrong(`a conversation begins by one option alone, not by ${begins.join(' and ')}`, 'leave all but one out');
}

function ofRuns(options: OpenPackOptions): OfRuns {
  const given = (Object.keys(OF_RUNS) as (keyof OfRuns)[]).filter((name) => options[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, options[name]]));
}

/** @throws SkeinError `SKEIN_USAGE` for values of {@link PLAN_OPTIONS} that are of no use */
export function checkPlanOptions({ recent, maxHandOvers, validators = {} }: MachineOptions): void {
  const unusable = Object.entries(validators).find(([, value]) => typeof value !== 'function');
  if (unusable !== undefined)
    throw wrong(
      `the validator ${JSON.stringify(unusable[0])} must be a function`,
      'it returns what is wrong with a text',
    );
  for (const [name, value] of Object.entries({ recent, maxHandOvers }))
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0 && value <= 1_000_000))
      throw wrong(`${name} is ${String(value)}`, 'give a whole number from 1 to 1,000,000');
}

/** Makes the error for an invalid option. */
function wrong(what: string, hint: string): SkeinError {
  return new SkeinError('SKEIN_USAGE', what, { hint });
}

/** @throws SkeinError `SKEIN_DEFINITION` with all problems of the pack */
export async function packOf(
  given: string | object,
  { file, folder, validators = {} }: Pick<OpenPackOptions, 'file' | 'folder' | 'validators'>,
) {
  const { pack, files, problems } = await readWholePack(given, {
    ...present({ file }),
    folder,
    validators: Object.keys(validators),
  });
  if (pack !== undefined) return { pack, files };
  const errors = problems.filter(({ severity }) => severity === 'error');
  throw definitionError(errors);
}

/**
 * Checks that each tool a model may call has an implementation. Servers may offer it under a different name.
 *
 * @throws SkeinError `SKEIN_DEFINITION`
 */
export function checkTools(pack: Pack, { spec, endless }: MachineSetup, options: OpenPackOptions): void {
  const state = options.context?.current_state ?? options.state ?? spec.entry;
  const missing = missingTools(pack, endless ? { prompt: spec.entry } : { state }, options);
  if (missing.length > 0) throw definitionError(missing);
}

/** Returns where the machine of a new conversation begins; undefined for the entry. */
export function startOf(
  { spec, limits }: Pick<MachineSetup, 'spec' | 'limits'>,
  { state, context }: Pick<OpenPackOptions, 'state' | 'context'>,
): Context | undefined {
  if (state !== undefined && !Object.hasOwn(spec.states, state)) {
    const names = Object.keys(spec.states);
    const hint = didYouMean(state, names) ?? `its states: ${names.slice(0, 20).join(', ')}`;
    throw new SkeinError('SKEIN_USAGE', `the pack has no state "${state}"`, { hint });
  }
  const begun = state === undefined ? context : new MachineContext(state, systemClock.now()).toJSON();
  return begun === undefined
    ? undefined
    : StateMachine.restore(spec, begun, { ...limits, clock: systemClock }).context();
}
