import { Drawing } from './drawing.js';

/** A step of a file. */
type Step = Readonly<Record<string, unknown>>;

/** What a step may refer to: the beginning of a reference, `$steps.a` or `$steps.block.outputs.a`. */
type Known = readonly string[];

const VERDICT = { yes: 'boolean', list: ['string'], note: 'string' };
const LIST = { type: 'object', properties: { list: { type: 'array', items: { type: 'string' }, maxItems: 3 } } };

/** Draws a pipeline of steps of all types. Waits for nothing but events and a millisecond. */
export class PipelineDrawing extends Drawing {
  /** Further files of the program, by name. */
  readonly files: Record<string, string> = {};

  file(depth: number): string {
    return this.document(
      this.steps(depth, [], 5),
      this.maybe(0.05, () => ({ supervise: true })),
      0.5,
    );
  }

  /** `p`: how often the file says what it gives. */
  private document(steps: { readonly list: Step[]; readonly known: Known }, more: object, p: number): string {
    const end = this.chance(0.3) ? { finally: [this.agent(steps.known), this.effect(steps.known)] } : {};
    const values = steps.known.map((from, at): [string, string] => [`v${at}`, `{{ ${from}.output? }}`]);
    const agents = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, this.worker(name)]));
    return JSON.stringify({
      agents,
      ...this.maybe(0.15, () => ({ budget: '900-calls' })),
      ...more,
      workflow: { max_loop_iterations: 2, steps: steps.list, ...this.maybe(0.2, () => ({ context: 'none' })) },
      ...end,
      ...this.maybe(values.length === 0 ? 0 : p, () => ({
        output: { values: Object.fromEntries(values.slice(0, 3)) },
      })),
    });
  }

  private worker(name: string): object {
    const toolsets = [{ type: 'memory' }, { type: 'filesystem' }, { type: 'user_prompt' }, { type: 'todo' }];
    return {
      instruction: `You are ${name}.`,
      ...this.maybe(0.5, () => ({ toolsets: toolsets.filter(() => this.chance(0.4)) })),
    };
  }

  /** Steps one after another, and what they leave. */
  private steps(depth: number, around: Known, most = 3): { list: Step[]; known: Known } {
    const list: Step[] = [];
    let known: Known = [];
    for (const _ of this.list(1, most, () => 0)) {
      const { step, leaves } = this.step(depth, [...around, ...known], list);
      list.push(step);
      known = [...known, ...leaves];
    }
    return { list, known };
  }

  private step(depth: number, known: Known, before: readonly Step[]): { step: Step; leaves: Known } {
    const leaf = this.pick('agent', 'agent', 'agent', 'agent', 'effect', 'tool', 'ask', 'set', 'wait', 'end');
    const kind =
      depth === 0 || this.chance(0.55) ? leaf : this.pick('condition', 'block', 'loop', 'map', 'call', 'choose');
    if (kind === 'condition') return this.condition(depth, known, before);
    if (kind === 'block') return this.block(depth, known);
    if (kind === 'loop') return this.loop(depth, known);
    if (kind === 'map') return this.map(depth, known);
    if (kind === 'call') return this.call();
    if (kind === 'choose') return this.choose(depth, known);
    const step = this.leaf(kind, known);
    return { step, leaves: hasOutput(step) ? [`$steps.${String(step['id'])}`] : [] };
  }

  private leaf(kind: string, known: Known): Step {
    if (kind === 'effect') return this.effect(known);
    if (kind === 'tool')
      return {
        id: this.id('w'),
        tool: 'write_file',
        input: { path: this.pick('f1.txt', 'f2.txt', 'f3.txt'), content: this.text(known) },
        ...this.policies(known),
      };
    if (kind === 'ask')
      return {
        id: this.id('q'),
        type: 'ask',
        question: `Which? ${this.text(known)}`,
        ...this.maybe(0.7, () => ({ choices: ['yes', 'no'] })),
        ...this.when(known),
      };
    if (kind === 'set')
      return { id: this.id('s'), type: 'set', values: { all: this.text(known), n: "{{= size('abc') }}" } };
    if (kind === 'wait')
      return {
        id: this.id('e'),
        type: 'wait',
        ...this.pick<object>(
          { for: '1ms' },
          { event: this.id('event') },
          { event: this.id('event'), for: '48h', on_error: 'continue' },
        ),
        ...this.when(known),
      };
    if (kind === 'end')
      return {
        id: this.id('x'),
        type: 'end',
        ...this.maybe(0.5, () => ({ status: 'failed', reason: 'It ends.' })),
        when: `{{ ${this.holds(known)} && ${this.holds(known)} }}`,
      };
    return this.agent(known);
  }

  private agent(known: Known): Step {
    const policies = this.policies(known);
    const word = this.pick(
      '',
      '',
      '',
      '',
      '',
      ', busy',
      'retry' in policies ? ', flaky' : '',
      this.chance(0.3) ? ', broken' : '',
    );
    return {
      id: this.id('a'),
      type: 'agent',
      name: this.pick('a', 'b', 'c'),
      prompt: `Do it${word}. ${this.text(known)}`,
      ...this.maybe(0.25, () => ({ schema: VERDICT })),
      ...this.maybe(0.15, () => ({
        conversation: 'talk',
        ...this.maybe(0.3, () => ({ recent: 3 })),
        ...this.maybe(0.2, () => ({ afresh: true })),
      })),
      ...this.maybe(0.06, () => ({ supervise: this.pick<unknown>(true, { human: true }) })),
      ...this.maybe(0.06, () => ({ endorse: 'person' })),
      ...policies,
    };
  }

  /** Something that may happen only once: a line in a file. */
  private effect(known: Known): Step {
    const id = this.id('r');
    return { id, run: ['tee', '-a', 'ledger.txt'], stdin: `${id}\n`, ...this.policies(known) };
  }

  private policies(known: Known): object {
    return {
      ...this.when(known),
      ...this.maybe(0.2, () => ({ retry: { max_attempts: 1, initial_delay: '1ms', on: ['busy', 'flaky', 'broken'] } })),
      ...this.maybe(0.2, () => ({ on_error: 'continue' })),
      ...this.maybe(0.1, () => ({ timeout: '10m' })),
      ...this.maybe(0.08, () => ({ budget: '200-calls' })),
    };
  }

  private when(known: Known): object {
    return this.maybe(0.15, () => ({ when: `{{ ${this.holds(known)} }}` }));
  }

  private text(known: Known): string {
    const from = this.chance(0.7) ? this.oneOf(known) : undefined;
    return from === undefined ? 'Now.' : `From {{ ${from}.output? }}.`;
  }

  /** A condition that always has a value. */
  private holds(known: Known): string {
    const from = this.oneOf(known);
    return from === undefined
      ? this.pick("$prompt == 'Go.'", "$prompt == 'No.'")
      : `string(${from}.status) == '${this.pick('succeeded', 'failed', 'skipped', 'succeeded')}'`;
  }

  private condition(depth: number, known: Known, before: readonly Step[]): { step: Step; leaves: Known } {
    const yes = this.steps(depth - 1, known);
    const back = before.map(({ id }) => id).filter((id) => id !== undefined);
    const jump = { goto: this.oneOf(back), max: 1 + this.nat(2), on_limit: this.pick('continue', 'continue', 'fail') };
    const no = back.length > 0 && this.chance(0.6) ? { list: [jump], known: [] } : this.steps(depth - 1, known);
    return {
      step: {
        id: this.id('c'),
        type: 'condition',
        condition: `{{ ${this.decides(known)} }}`,
        true: yes.list,
        false: no.list,
      },
      leaves: [...yes.known, ...no.known],
    };
  }

  /** A condition that follows from what was said. */
  private decides(known: Known): string {
    const from = this.oneOf(known.filter((one) => /\.?a\d+$/.test(one)));
    return from === undefined
      ? this.holds(known)
      : `json(${from}.output).contains('${this.pick('yes', 'a', '1', 'no')}')`;
  }

  private block(depth: number, known: Known): { step: Step; leaves: Known } {
    const id = this.id('p');
    const type = this.pick('parallel', 'parallel', 'sequence');
    const inner = type === 'sequence' ? this.steps(depth - 1, known) : this.branches(depth, known);
    const require = type === 'parallel' ? this.maybe(0.4, () => ({ require: this.pick<unknown>(1, 'all') })) : {};
    return {
      step: { id, type, steps: inner.list, ...require, ...this.policies(known) },
      leaves: inside(id, inner.known),
    };
  }

  private branches(depth: number, known: Known): { list: Step[]; known: Known } {
    const all = this.list(2, 3, () => this.step(depth - 1, known, []));
    return { list: all.map(({ step }) => step), known: all.flatMap(({ leaves }) => leaves) };
  }

  private loop(depth: number, known: Known): { step: Step; leaves: Known } {
    const id = this.id('l');
    const last = { ...this.agent(known), id: this.id('a') };
    const inner = this.steps(depth - 1, known);
    const said = `$steps.${last.id}`;
    const step = {
      id,
      type: 'loop',
      until: `{{ ${this.decides([said])} }}`,
      max_rounds: 2 + this.nat(2),
      on_limit: this.pick('continue', 'continue', 'fail'),
      ...this.maybe(0.2, () => ({ keep: 'before' })),
      steps: [...inner.list, last],
      ...this.policies(known),
    };
    return { step, leaves: inside(id, [...inner.known, said]) };
  }

  private map(depth: number, known: Known): { step: Step; leaves: Known } {
    const [list, id] = [this.id('a'), this.id('m')];
    const inner = this.steps(depth - 1, known);
    const find = { id: list, type: 'agent', name: 'a', prompt: 'Name some.', schema: LIST };
    const last = { ...this.agent(known), prompt: 'About {{ $item }}.' };
    const more = {
      ...this.maybe(0.3, () => ({ concurrency: 1 })),
      ...this.maybe(0.4, () => ({ on_item_error: 'continue' })),
    };
    const map = {
      id,
      type: 'map',
      over: `{{ $steps.${list}.output.list }}`,
      ...more,
      steps: [...inner.list, last],
      ...this.policies(known),
    };
    const around = this.id('z');
    return {
      step: { id: around, type: 'sequence', steps: [find, map] },
      leaves: inside(around, [`$steps.${list}`, `$steps.${id}`]),
    };
  }

  private call(): { step: Step; leaves: Known } {
    const id = this.id('k');
    const file = `called-${id}.yaml`;
    const steps = this.steps(0, []);
    this.files[file] = this.document(steps, {}, 1);
    return {
      step: { id, type: 'call', file, prompt: `Call ${id}.`, ...this.policies([]) },
      leaves: steps.known.length === 0 ? [] : [`$steps.${id}`],
    };
  }

  private choose(depth: number, known: Known): { step: Step; leaves: Known } {
    const [one, other] = [this.steps(depth - 1, known), this.steps(depth - 1, known)];
    const { schema: _, ...agent } = this.agent(known) as Step & { schema?: unknown };
    return {
      step: { ...agent, choose: { one: one.list, other: { about: 'Any other.', steps: other.list } } },
      leaves: [`$steps.${String(agent['id'])}`, ...one.known, ...other.known],
    };
  }
}

/** Waits for time alone and ends leave nothing. */
function hasOutput({ type, event }: Step): boolean {
  return type !== 'end' && (type !== 'wait' || event !== undefined);
}

/** The same from outside of a block. */
function inside(block: string, known: Known): Known {
  return known.map((one) => one.replace('$steps.', `$steps.${block}.outputs.`));
}
