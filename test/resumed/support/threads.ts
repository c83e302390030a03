import { answerRun, getThread, SkeinError } from 'skein';
import type { Store, ThreadTurn } from 'skein';
import { agent, agentAsTool, agentNode, graph } from 'skein/graph';
import { Drawing, numberOf } from './drawing.js';
import { answerTo } from './kills.js';
import { toolsOf } from './tools.js';
import type { World } from './world.js';

const THREAD = 'talk';

type Kind = 'parts' | 'once' | 'ask' | 'inner' | 'agent' | 'bad';

interface Part {
  readonly kind: Kind;
  readonly name: string;
  readonly tools: readonly ('one' | 'look' | 'ask')[];
  readonly asks: boolean;
}

/** A workflow that is a turn of a conversation, and what is said in it. */
export interface ThreadData {
  readonly parts: readonly Part[];
  readonly says: readonly string[];
  readonly hasBudget: boolean;
}

interface State {
  say: string;
  log: string[];
  messages: unknown[];
}

export class ThreadDrawing extends Drawing {
  thread(): ThreadData {
    const parts = this.list(2, 5, (): Part => {
      const kind = this.pick<Kind>('parts', 'once', 'ask', 'inner', 'inner', 'agent', 'agent', 'bad');
      const tools = this.pick<Part['tools']>(['one'], ['one', 'look'], ['ask', 'one'], ['look']);
      return { kind, name: this.id(kind), tools, asks: this.chance(0.3) };
    });
    const words = this.list(2, 4, () => this.pick('', '', '', ' bad'));
    return { parts, says: words.map((word, at) => `m${at}${word}`), hasBudget: this.chance(0.3) };
  }
}

/** The workflow of a process. */
function flowOf({ parts, hasBudget }: ThreadData, its: World) {
  const tools = toolsOf(its);
  const does = async (key: string, what: string): Promise<string> => {
    its.did(`effect ${key}`);
    await its.delay();
    return what;
  };
  const equipped = (name: string, part: Part) =>
    agent({ name, instructions: `You are ${name}.`, tools: part.tools.map((one) => tools[one]) });
  const innerOf = (part: Part) =>
    graph<{ task: string }>({ name: `in-${part.name}` })
      .node('pay', async ({ task }, step) => await does(step.idempotencyKey, `paid ${task}`), { effect: 'once' })
      .node('sure', async ({ pay }, step) =>
        part.asks ? await step.ask({ text: `Sure ${pay}?`, choices: ['yes', 'no'] }) : 'yes',
      )
      .node('said', agentNode(equipped('in', part), { taskParam: 'pay' }));
  const budget = hasBudget ? { budget: { calls: 900, thread: { calls: 5_000 } } } : {};
  const flow = graph<State>({ name: 'talk', reducers: { log: 'append', messages: 'extend' }, ...budget });
  const add = (part: Part): void => {
    const { kind, name } = part;
    if (kind === 'parts')
      flow.addNode(name, async ({ say }, step) => {
        const one = await step.run('one', ({ idempotencyKey }) => does(idempotencyKey, `1 ${say}`));
        return { log: await step.run('two', ({ idempotencyKey }) => does(idempotencyKey, `2 ${one}`)) };
      });
    else if (kind === 'once')
      flow.addNode(name, async ({ say }, step) => ({ log: await does(step.idempotencyKey, `${name} ${say}`) }), {
        effect: 'once',
      });
    else if (kind === 'ask')
      flow.addNode(name, async ({ say }, step) => ({
        log: `${name} ${await step.ask({ text: `Which ${say}?`, choices: ['yes', 'no'] })}`,
      }));
    else if (kind === 'inner')
      flow.addNode(name, async ({ say }, step) => {
        const { pay, sure, said } = await innerOf(part).runOrThrow({ task: say }, step.runOptions);
        return { log: `${name} ${pay} ${sure} ${String(said)}` };
      });
    else if (kind === 'agent') {
      const help = agentAsTool(equipped('help', part), { name: 'help', description: 'Helps.' });
      const one = agent({ name: 'ag', instructions: 'You are ag.', tools: [help, tools.one] });
      flow.addNode(name, agentNode(one, { taskParam: 'say', conversation: 'messages' }));
    } else
      flow.addNode(name, ({ say }) => {
        if (say.includes('bad')) throw new Error('bad');
        return {};
      });
  };
  for (const part of parts) add(part);
  for (const [at, { name }] of parts.entries()) {
    const before = parts[at - 1];
    if (before === undefined) flow.setEntry(name);
    else flow.addEdge(before.name, name);
  }
  return flow;
}

/** Turns whose run was recorded: others have not begun. */
function turnsOf(store: Store): readonly ThreadTurn[] {
  try {
    const { turns } = getThread(store, THREAD);
    return turns.filter(({ runId, error }) => error?.code !== 'SKEIN_NO_RUN' && store.run(runId) !== undefined);
  } catch (error) {
    if (SkeinError.isInstance(error) && error.code === 'SKEIN_NO_THREAD') return [];
    throw error;
  }
}

/** What a conversation came to: the same in each way that leads there. */
export function threadOf(store: Store) {
  const turns = turnsOf(store).map(({ runId, status, counts, inputs, results, error }) => {
    return { runId, status, counts, inputs, results, error: error?.message };
  });
  const { state, questions } = getThread(store, THREAD);
  return { state: { ...state }, turns, questions };
}

const ENDED: ReadonlySet<string> = new Set(['succeeded', 'degraded', 'failed', 'cancelled', 'out_of_budget']);

/** Refusals of a message that another turn has to come before, or that has been taken already. */
const REFUSALS: ReadonlySet<string> = new Set(['SKEIN_QUESTION', 'SKEIN_RUN_EXISTS']);

/** Says what has not been said yet, in one process. `way`: how it goes on with a turn that has not ended. */
export async function hold(data: ThreadData, its: World, store: Store, way: string) {
  const flow = flowOf(data, its);
  const { says } = data;
  const models = its.models();
  const send = async (...ats: readonly number[]): Promise<void> => {
    const sent = ats.map((at) => flow.run({ say: says[at] ?? '' }, { store, thread: THREAD, runId: `m${at}`, models }));
    for (const end of await Promise.allSettled(sent)) {
      if (end.status === 'fulfilled') continue;
      const error: unknown = end.reason;
      if (!SkeinError.isInstance(error) || !REFUSALS.has(error.code)) throw error;
    }
  };
  for (let rounds = 0; rounds < 200; rounds += 1) {
    const begun = turnsOf(store);
    const one = begun.at(-1);
    const last = begun.length - 1;
    const isOpen = one !== undefined && !ENDED.has(one.status);
    const isAllSaid = begun.length >= says.length;
    if (isAllSaid && !isOpen && one?.endedAt !== undefined) return threadOf(store);
    const questions = isOpen ? getThread(store, THREAD).questions : [];
    for (const [at, question] of questions.entries())
      if (at === 0 || numberOf(`${way} ${question.key}`) % 3 > 0)
        answerRun(store, `m${last}`, { key: question.key, value: answerTo(question) });
    const how = numberOf(`${way} ${rounds}`) % 4;
    if (!isAllSaid && (!isOpen || how === 0)) {
      // Now and then two at once: they are heard in this order.
      await send(...[begun.length, begun.length + 1].slice(0, how === 2 ? 2 : 1).filter((at) => at < says.length));
    } else if (isOpen && how === 1) await send(last);
    else await flow.run({}, { store, resume: `m${last}`, models });
  }
  throw new Error('it does not come to its end');
}
