import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { SkeinError, toErrorData } from '../../base/errors.js';
import { isPlainObject, present } from '../../base/json.js';
import { definitionError, hasErrors } from '../../base/problem.js';
import {
  KeptState,
  machineOf,
  missingTools,
  placeOfAgent,
  standOf,
  startOf as beginningOf,
  type Context,
  type LoadedMachine,
} from '../../talking.js';
import type { ModuleWorkflow } from '../modules/load-module.js';
import { passingStore, storeForRun, type Recording } from '../run/recording.js';
import { checkOwn, storeFile, storeRoot } from '../run/open-store.js';
import { writeOrigin } from '../run/origin.js';
import type { CommonFlags, TalkFlags } from '../run/run-flags.js';
import { needsStore, type ThreadFlags } from '../run/thread-options.js';
import { printNote } from '../view/streams.js';
import type { Brought } from './brought.js';
import { Conversation } from './conversation.js';

export interface Opening {
  readonly flags: CommonFlags & ThreadFlags & TalkFlags & { readonly store: boolean };
  /** What the user is told of the inputs when the first turn starts. */
  readonly told: readonly string[];
  readonly file: string;
  readonly cwd: string;
  readonly workflow: ModuleWorkflow;
  readonly brought: Brought;
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * Opens a conversation with a loaded pack. Nothing is written before its first turn.
 *
 * @throws SkeinError `SKEIN_DEFINITION` for tools without functions, `SKEIN_USAGE`, `SKEIN_CONTEXT`
 */
export async function openConversation(opening: Opening): Promise<Conversation> {
  const { flags, told, cwd, file, workflow, brought, variables } = opening;
  const { plan } = workflow;
  const machine = plan === undefined ? undefined : machineOf(plan);
  if (plan === undefined || machine === undefined) throw new SkeinError('SKEIN_USAGE', `${file} is not a pack`);
  const start = await startOf(machine, flags, cwd);
  const root = storeRoot({ cwd, create: true }) ?? cwd;
  const recording = flags.store ? await recordingIn({ root, ...opening }) : { store: await passingStore() };
  const thread = flags.thread ?? `${machine.pack.id}-${randomBytes(3).toString('hex')}`;
  const kept = recording.store === undefined ? undefined : KeptState.of(recording.store, thread, plan);
  // An agent only decides where a conversation begins.
  if (start !== undefined && flags.agent === undefined && kept?.position !== undefined) {
    const hint = 'leave out --state and --context, or begin another thread';
    throw new SkeinError('SKEIN_USAGE', `the conversation ${thread} has begun already`, { hint });
  }
  const { state } = standOf(machine.setup, kept?.position, start);
  const missing = missingTools(machine.pack, machine.setup.endless ? { prompt: state } : { state }, brought);
  if (hasErrors(missing)) throw definitionError(missing);
  return new Conversation({ flags, told, file, cwd, workflow, machine, thread, variables, start, recording });
}

/** @throws SkeinError `SKEIN_USAGE`, `SKEIN_FILE`, `SKEIN_CONTEXT` */
async function startOf({ pack, setup }: LoadedMachine, flags: TalkFlags, cwd: string): Promise<Context | undefined> {
  const begins = (['agent', 'prompt', 'state', 'context'] as const).filter((name) => flags[name] !== undefined);
  const named = begins.map((name) => `--${name}`).join(' and ');
  if (begins.length > 1)
    throw wrong(`a conversation begins by one flag alone, not by ${named}`, 'leave all but one out');
  const { agent, state, context } = flags;
  const place = agent === undefined ? { state } : placeOfAgent(pack, agent);
  if (context === undefined && !('state' in place && place.state !== undefined)) return undefined;
  if (setup.endless) throw wrong('pack has no workflow section', `leave out ${named}`);
  if (context === undefined) return beginningOf(setup, place as { readonly state: string });
  const read = (await readContext(context, cwd)) as Context;
  try {
    return beginningOf(setup, { context: read });
  } catch (error) {
    if (!SkeinError.isInstance(error) || error.code !== 'SKEIN_CONTEXT') throw error;
    const { code, message, hint, details } = error;
    const isOfForm = isPlainObject(details) && details['wrong'] !== undefined;
    // What code gives comes from context(); a file comes from a command.
    const meant = isOfForm ? CONTEXT_HINT : hint;
    throw new SkeinError(code, `${context}: ${message}`, present({ hint: meant, details }));
  }
}

const CONTEXT_HINT = '--context takes a JSON file, such as skein context THREAD prints';

function wrong(what: string, hint: string): SkeinError {
  return new SkeinError('SKEIN_USAGE', what, { hint });
}

async function readContext(file: string, cwd: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(resolve(cwd, file), 'utf8')) as unknown;
  } catch (cause) {
    throw new SkeinError('SKEIN_FILE', `the context ${file} can't be read: ${toErrorData(cause).message}`, {
      hint: CONTEXT_HINT,
      cause,
    });
  }
}

/** The first turn creates a missing store. */
async function recordingIn(
  opening: Opening & { readonly root: string },
): Promise<Pick<Recording, 'store' | 'open' | 'origin'>> {
  const { root, cwd, file, flags, workflow } = opening;
  const options = { cwd, ...(flags.durability === undefined ? {} : { durability: flags.durability }) };
  const store = await storeForRun({ ...options, create: false });
  const origin = writeOrigin({ root, cwd, file, flags, workflow });
  if (store !== undefined) {
    if (flags.thread !== undefined) checkOwn(store.token, storeFile(root));
    return { store, origin };
  }
  if (storeRoot({ cwd, create: false }) === undefined)
    return { open: async () => (await storeForRun({ ...options, create: true })) ?? (await passingStore()), origin };
  // The message that this machine has no SQLite has been printed.
  if (flags.thread !== undefined) throw needsStore('skein doctor says which SQLite can be used here');
  printNote('the conversation ends with this command');
  return { store: await passingStore() };
}
