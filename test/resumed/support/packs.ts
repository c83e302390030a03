import { Drawing } from './drawing.js';

type Data = Readonly<Record<string, unknown>>;

/** What happens from outside: a message, or an event, by its place in the list of those that there are. */
export interface Deed {
  readonly message?: string;
  readonly event?: number;
  readonly context?: string;
  readonly data?: { readonly ticket: number };
}

export interface PackData {
  readonly pack: Data;
  readonly deeds: readonly Deed[];
  readonly approve: boolean;
  readonly carryForward: boolean;
  readonly recent?: number;
}

const EVENTS = ['Go', 'Back', 'Done', 'Ask'];
const TOOLS = [['one'], ['look'], ['one', 'look'], ['ask', 'look', 'one']] as const;

/** Draws a pack, and what is said in a conversation with it. */
export class PackDrawing extends Drawing {
  private readonly prompts: Record<string, Data> = {
    pc: { id: 'pc', name: 'pc', version: '1.0.0', system_template: 'Say {{input}} again.' },
    pa: { id: 'pa', name: 'pa', version: '1.0.0', system_template: 'Agent of {{input}}.', tools: ['one', 'look'] },
  };
  private readonly compositions: Record<string, Data> = {};

  talk(): PackData {
    const names = this.list(2, 5, () => this.id('s'));
    const states = Object.fromEntries(names.map((name, at) => [name, this.state(name, at, names)]));
    const tool = (name: string): Data => ({
      name,
      description: name,
      parameters: { type: 'object', properties: { q: { type: 'string' } } },
    });
    const engine = {
      ...this.maybe(0.3, () => ({ budget: this.budget() })),
      ...this.maybe(0.3, () => ({ skein: this.extension(names[0] ?? '') })),
    };
    const pack = {
      id: 'pk',
      name: 'pk',
      version: '1.0.0',
      template_engine: { version: 'v1', syntax: '{{variable}}' },
      prompts: this.prompts,
      tools: { one: tool('one'), look: tool('look'), ask: tool('ask') },
      workflow: { version: 2, entry: names[0], states, engine },
      ...(Object.keys(this.compositions).length === 0 ? {} : { compositions: this.compositions }),
    };
    const deeds = this.list(2, 4, () => this.deed());
    return {
      pack,
      deeds,
      approve: this.chance(0.25),
      carryForward: this.chance(0.3),
      ...this.maybe(0.1, () => ({ recent: 3 })),
    };
  }

  private deed(): Deed {
    const word = this.id('hello ');
    if (this.chance(0.7)) return { message: word };
    return {
      event: this.nat(9),
      ...this.maybe(0.6, () => ({ message: word })),
      ...this.maybe(0.4, () => ({ context: this.id('because ') })),
      ...this.maybe(0.3, () => ({ data: { ticket: this.nat(9) } })),
    };
  }

  private budget(): Data {
    return this.pick<Data>(
      { max_total_visits: 4 + this.nat(6) },
      { max_tool_calls: 4 + this.nat(10) },
      { max_wall_time_sec: 100_000 },
    );
  }

  private extension(first: string): Data {
    const of = (state: Data): Data => ({ states: { [first]: state } });
    return this.pick<Data>(
      { supervise: true },
      of({ supervise: { human: true } }),
      { budget: '90-calls' },
      of({ budget: '40-calls' }),
      of({ endorse: 'person' }),
    );
  }

  private state(name: string, at: number, names: readonly string[]): Data {
    const last = names.at(-1);
    const terminal = name === last && this.chance(0.7);
    const events = terminal ? [] : EVENTS.slice(0, 1 + this.nat(3)).map((event) => [event, this.oneOf(names)]);
    const state = {
      ...(events.length === 0 ? {} : { on_event: Object.fromEntries(events) as Data }),
      ...(terminal ? { terminal } : {}),
      ...this.maybe(0.25, () => ({
        max_visits: 1 + this.nat(2),
        ...this.maybe(name === last ? 0 : 0.7, () => ({ on_max_visits: last })),
      })),
      ...this.maybe(0.25, () => ({ persistence: 'transient' })),
      ...this.maybe(0.4, () => ({ artifacts: { [this.pick('log', 'note')]: { type: 'text/plain', mode: 'append' } } })),
    };
    if (at > 0 && this.chance(0.15)) return { ...state, orchestration: 'composition', composition: this.composition() };
    const way = terminal ? {} : this.maybe(0.2, () => ({ orchestration: this.pick('external', 'hybrid') }));
    return { ...state, ...way, prompt_task: this.prompt(name) };
  }

  private prompt(state: string): string {
    const id = `p-${state}`;
    const parts = [
      `You are ${state}.`,
      ...(this.chance(0.4) ? ['[{{artifacts.log}}]'] : []),
      ...(this.chance(0.3) ? ['({{workflow_context}})'] : []),
      ...(this.chance(0.3) ? ['{{who}}'] : []),
    ];
    this.prompts[id] = {
      id,
      name: 'P',
      version: '1.0.0',
      system_template: parts.join(' '),
      variables: [{ name: 'who', type: 'string', required: false, default: 'Ada' }],
      ...this.maybe(0.6, () => ({ tools: this.pick<readonly string[]>(...TOOLS) })),
      ...this.maybe(0.2, () => ({ tool_policy: { max_rounds: 2 + this.nat(3) } })),
      ...this.maybe(0.15, () => ({
        validators: [{ type: 'banned_words', enabled: true, fail_on_violation: true, params: { words: ['yes'] } }],
      })),
    };
    return id;
  }

  private composition(): string {
    const id = this.id('c');
    const first = { id: 'k0', ...this.part() };
    const second = this.chance(0.5)
      ? {
          id: 'k1',
          kind: 'parallel',
          depends_on: ['k0'],
          branches: [
            { id: 'b0', ...this.part('k0') },
            { id: 'b1', ...this.part() },
          ],
          reduce: { strategy: this.pick('append', 'barrier', 'replace'), into: 'all' },
        }
      : { id: 'k1', depends_on: ['k0'], ...this.part('k0') };
    const third = { id: 'k2', depends_on: [this.pick('k0', 'k1')], ...this.part() };
    this.compositions[id] = { version: 1, output: this.pick('k0', 'k1', 'k2'), steps: [first, second, third] };
    return id;
  }

  private part(from?: string): Data {
    const input = from === undefined ? '${input.text}' : `\${${from}.output}`;
    return this.pick<Data>(
      { kind: 'prompt', prompt_task: 'pc', input },
      {
        kind: 'tool',
        tool: this.pick('one', 'look'),
        args: { q: input },
        ...this.maybe(0.3, () => ({ modifiers: { retry: { max_attempts: 2 } } })),
      },
      {
        kind: 'agent',
        prompt_task: 'pa',
        input: '${input.text}',
        tools: ['one', 'look'],
        termination: { max_steps: 2 },
      },
    );
  }
}
