import { getThread, SkeinError } from 'skein';
import type { Store } from 'skein';
import { openPack } from 'skein/machine';
import type { PackConversation, TurnResult } from 'skein/machine';
import { answerTo } from './kills.js';
import { numberOf } from './drawing.js';
import type { Deed, PackData } from './packs.js';
import { toolsOf } from './tools.js';
import type { World } from './world.js';

const THREAD = 'talk';

/** What a conversation came to: the same in each way that leads there. */
export interface Talked {
  readonly state: string;
  readonly isComplete: boolean;
  readonly messages: unknown;
  readonly context: unknown;
  readonly turns: readonly string[];
}

/** The turns that have begun. */
function turnsOf(store: Store) {
  try {
    return getThread(store, THREAD).turns.filter(({ runId }) => store.run(runId) !== undefined);
  } catch (error) {
    if (SkeinError.isInstance(error) && error.code === 'SKEIN_NO_THREAD') return [];
    throw error;
  }
}

/** Holds the conversation to its end, or goes on with it: the last turn is brought to its end first. `told`: how each turn ended. */
export async function talk(
  data: PackData,
  its: World,
  store: Store,
  told: (turn: number, how: unknown) => void,
): Promise<Talked> {
  const conversation = await openPack(data.pack, {
    store,
    thread: THREAD,
    tools: toolsOf(its),
    models: its.models(),
    carryForward: data.carryForward,
    ...(data.approve ? { approve: { one: true } } : {}),
    ...(data.recent === undefined ? {} : { recent: data.recent }),
  });
  const begun = turnsOf(store).length;
  if (begun > 0) await turn(conversation, begun - 1, () => conversation.resume(), told);
  for (let at = begun; at < data.deeds.length && !conversation.isComplete; at += 1) {
    const before = turnsOf(store).length;
    await turn(conversation, at, () => doIt(conversation, data.deeds[at] ?? {}), told);
    // Refused: it will be refused again.
    if (turnsOf(store).length === before) break;
  }
  const { metadata: _m, started_at: _s, updated_at: _u, ...context } = conversation.context();
  const talked = {
    state: conversation.currentState,
    isComplete: conversation.isComplete,
    messages: conversation.messages,
    context: JSON.parse(
      JSON.stringify(context).replaceAll(/"(timestamp|captured_at|at)":"[^"]*"/g, '"$1":""'),
    ) as unknown,
    turns: turnsOf(store).map(({ status }) => status),
  };
  await conversation.close();
  return talked;
}

function doIt(conversation: PackConversation, { event, message = 'instead', context, data }: Deed) {
  const events = conversation.availableEvents;
  const name = event === undefined ? undefined : events[event % Math.max(1, events.length)];
  if (name === undefined) return conversation.send(message);
  const extras = { ...(context === undefined ? {} : { context }), ...(data === undefined ? {} : { data }) };
  return conversation.transition(name, { ...(message === 'instead' ? {} : { message }), ...extras });
}

async function turn(
  conversation: PackConversation,
  at: number,
  begin: () => PromiseLike<TurnResult | undefined>,
  told: (turn: number, how: unknown) => void,
): Promise<void> {
  try {
    let result = await begin();
    for (let asked = 0; result?.outcome === 'paused' && asked < 60; asked += 1) {
      const question = result.pauses[numberOf(`${at} ${asked}`) % result.pauses.length];
      if (question === undefined) break;
      result = await conversation.answer(question.key, answerTo(question));
    }
    if (result !== undefined)
      told(at, [
        result.outcome,
        result.text,
        result.state,
        result.complete,
        result.error?.code,
        result.transitions.map(({ from, to, event }) => [from, event, to]),
      ]);
  } catch (error) {
    if (!SkeinError.isInstance(error)) throw error;
    told(at, [error.code, error.message]);
  }
}
