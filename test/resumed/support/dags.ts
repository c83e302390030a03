import { Drawing } from './drawing.js';

/** A step of a file. */
type Step = Readonly<Record<string, unknown>>;

/** Steps that a step may come after, and refer to. */
type Known = readonly string[];

const VERDICT = { yes: 'boolean', list: ['string'], note: 'string' };
const LIST = { type: 'object', properties: { list: { type: 'array', items: { type: 'string' }, maxItems: 3 } } };

/** Draws a DAG workflow whose agents have files of their own. */
export class DagDrawing extends Drawing {
  /** Further files of the program, by name. */
  readonly files: Record<string, string> = {};

  file(depth: number): string {
    for (const name of ['a', 'b', 'c']) this.files[`agents/${name}.agent.md`] = this.worker(name);
    const steps = this.steps(depth, [], 6);
    const agents = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, { file: `agents/${name}.agent.md` }]));
    return JSON.stringify({
      name: 'drawn',
      inputs: { go: {} },
      config: {
        ...this.maybe(0.3, () => ({ max_concurrency: 1 + this.nat(2) })),
        ...this.maybe(0.3, () => ({ interactive: true })),
      },
      ...this.maybe(0.15, () => ({ budget: '900-calls' })),
      ...this.maybe(0.05, () => ({ supervise: true })),
      agents,
      steps: steps.list,
      ...this.maybe(0.3, () => ({ finally: [this.agent([]), this.effect([])] })),
      ...this.maybe(steps.known.length === 0 ? 0 : 0.5, () => ({
        output: {
          values: Object.fromEntries(steps.known.slice(0, 3).map((id, at) => [`v${at}`, `{{steps.${id}.output?}}`])),
        },
      })),
    });
  }

  private worker(name: string): string {
    const tools = ['read_file', 'write_file'].filter(() => this.chance(0.3));
    return `---\nname: ${name}\ndescription: Works\ntools: [${tools.join(', ')}]\n---\n\nYou are ${name}.\n`;
  }

  private steps(depth: number, around: Known, most = 3): { list: Step[]; known: Known } {
    const list: Step[] = [];
    let known: Known = [];
    for (const _ of this.list(1, most, () => 0)) {
      const { steps, leaves } = this.step(depth, around, known);
      list.push(...steps);
      known = [...known, ...leaves];
    }
    return { list, known };
  }

  /** `around`: steps that the step around this one comes after; `beside`: steps before this one. */
  private step(depth: number, around: Known, beside: Known): { steps: Step[]; leaves: Known } {
    const after = beside.filter(() => this.chance(0.5));
    const known = [...around, ...after];
    const leaf = this.pick('agent', 'agent', 'agent', 'agent', 'effect', 'tool', 'ask', 'set', 'wait', 'end');
    const kind = depth === 0 || this.chance(0.6) ? leaf : this.pick('loop', 'map', 'call', 'choose');
    const first = after.length === 0 ? {} : { depends_on: after };
    if (kind === 'loop') return this.loop(depth, known, first);
    if (kind === 'map') return this.map(depth, known, first);
    if (kind === 'call') return this.call(known, first);
    if (kind === 'choose') return this.choose(known, first);
    const step = { ...this.leaf(kind, known), ...first };
    const isSilent = 'type' in step && (step.type === 'end' || (step.type === 'wait' && !('event' in step)));
    return { steps: [step], leaves: isSilent ? [] : [step.id] };
  }

  private leaf(kind: string, known: Known): Step & { readonly id: string } {
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
    if (kind === 'wait') {
      const event = this.id('event');
      const forms = [{ for: '1ms' }, { event }, { event, for: '48h', on_error: 'continue' }] as const;
      return { id: this.id('e'), type: 'wait', ...this.pick<object>(...forms), ...this.when(known) };
    }
    if (kind === 'end') {
      const failed = this.maybe(0.5, () => ({ status: 'failed', reason: 'It ends.' }));
      return {
        id: this.id('x'),
        type: 'end',
        ...failed,
        condition: { cel: `${this.holds(known)} && ${this.holds(known)}` },
      };
    }
    return this.agent(known);
  }

  private agent(known: Known): Step & { readonly id: string } {
    const policies = this.policies(known);
    const flaky = 'retry_count' in policies && 'on_error' in policies && policies.on_error === 'retry';
    const word = this.pick('', '', '', '', '', ', busy', flaky ? ', flaky' : '', this.chance(0.3) ? ', broken' : '');
    return {
      id: this.id('a'),
      agent: this.pick('a', 'b', 'c'),
      prompt: `Do it${word}. ${this.text(known)}`,
      ...this.maybe(0.25, () => ({ schema: VERDICT })),
      ...this.maybe(0.06, () => ({ supervise: this.pick<unknown>(true, { human: true }) })),
      ...this.maybe(0.06, () => ({ endorse: 'person' })),
      ...policies,
    };
  }

  /** Something that may happen only once: a line in a file. */
  private effect(known: Known): Step & { readonly id: string } {
    const id = this.id('r');
    return { id, run: ['tee', '-a', 'ledger.txt'], stdin: `${id}\n`, ...this.policies(known) };
  }

  private policies(known: Known): object {
    return {
      ...this.when(known),
      ...this.maybe(0.3, () => ({ retry_count: 2 })),
      ...this.maybe(0.3, () => ({ on_error: this.pick('continue', 'skip', 'retry') })),
      ...this.maybe(0.1, () => ({ timeout: '10m' })),
      ...this.maybe(0.08, () => ({ budget: '200-calls' })),
    };
  }

  private when(known: Known): object {
    return this.maybe(0.2, () => ({ condition: { cel: this.holds(known) } }));
  }

  private text(known: Known): string {
    const from = this.chance(0.7) ? this.oneOf(known) : undefined;
    return from === undefined ? 'Now.' : `From {{steps.${from}.output?}}.`;
  }

  /** A condition that always has a value. */
  private holds(known: Known): string {
    const from = this.oneOf(known);
    const status = this.pick('succeeded', 'failed', 'skipped', 'succeeded');
    return from === undefined
      ? this.pick("inputs.go == 'Go.'", "inputs.go == 'No.'")
      : `string(steps.${from}.status) == '${status}'`;
  }

  private loop(depth: number, known: Known, first: object): { steps: Step[]; leaves: Known } {
    const id = this.id('l');
    const inner = this.steps(depth - 1, known);
    const last = { ...this.agent(inner.known), id: this.id('a'), depends_on: inner.known };
    const { on_error: _, ...policies } = this.policies(known) as Record<string, unknown>;
    const step = {
      id,
      type: 'loop',
      until: `json(steps.${last.id}.output).contains('${this.pick('yes', 'a', '1', 'no')}')`,
      max_rounds: 2 + this.nat(2),
      on_limit: this.pick('continue', 'continue', 'fail'),
      ...this.maybe(0.2, () => ({ keep: 'before' })),
      steps: [...inner.list, last],
      ...policies,
      ...first,
    };
    return { steps: [step], leaves: [id] };
  }

  private map(depth: number, known: Known, first: object): { steps: Step[]; leaves: Known } {
    const [list, id] = [this.id('a'), this.id('m')];
    const find = { id: list, agent: 'a', prompt: 'Name some.', schema: LIST, ...first };
    const inner = this.steps(depth - 1, [...known, list]);
    const last = { ...this.agent(inner.known), prompt: 'About {{item}}.', depends_on: inner.known };
    const more = {
      ...this.maybe(0.3, () => ({ concurrency: 1 })),
      ...this.maybe(0.4, () => ({ on_item_error: 'continue' })),
    };
    const after = [...known.filter((one) => 'depends_on' in first && (first.depends_on as Known).includes(one)), list];
    const map = {
      id,
      type: 'map',
      over: `steps.${list}.output.list`,
      ...more,
      steps: [...inner.list, last],
      depends_on: after,
      ...this.policies([]),
    };
    return { steps: [find, map], leaves: [list, id] };
  }

  private call(known: Known, first: object): { steps: Step[]; leaves: Known } {
    const id = this.id('k');
    const file = `called-${id}.yaml`;
    const inner = this.steps(0, []);
    const agents = Object.fromEntries(
      ['a', 'b', 'c'].map((name) => [name, { inline: { prompt: `You are ${name}.`, tools: [] } }]),
    );
    const last = inner.known.at(-1);
    const values = last === undefined ? {} : { output: { values: { last: `{{steps.${last}.output?}}` } } };
    this.files[file] = JSON.stringify({ name: 'called', inputs: { go: {} }, agents, steps: inner.list, ...values });
    return {
      steps: [{ id, type: 'call', file, inputs: { go: this.text(known) }, ...this.policies(known), ...first }],
      leaves: last === undefined ? [] : [id],
    };
  }

  private choose(known: Known, first: object): { steps: Step[]; leaves: Known } {
    const { schema: _, ...chooser } = { schema: undefined, ...this.agent(known), ...first };
    const [one, other] = [this.id('a'), this.id('a')];
    const branch = (id: string): Step => ({ ...this.agent([...known, chooser.id]), id, depends_on: [chooser.id] });
    const choose = { one, other: { about: 'Any other.', step: other } };
    return { steps: [{ ...chooser, choose }, branch(one), branch(other)], leaves: [chooser.id, one, other] };
  }
}
