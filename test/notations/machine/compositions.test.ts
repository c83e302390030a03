import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkPlan, run } from 'skein';
import { tool } from 'skein/graph';
import { packComposition } from '../../../src/notations/machine/compositions/pack-composition.js';
import type { Json } from '../../../src/base/json.js';
import { holds } from '../../../src/notations/machine/compositions/predicates.js';
import { namesIn } from '../../../src/notations/machine/compositions/references.js';
import type { Composition, CompositionStep, Pack } from '../../../src/notations/machine/pack.js';
import { ownModels, promptOf } from '../../graph/support-agents.js';
import type { Said } from '../../graph/support-agents.js';
import { cases } from '../../thorough.js';

interface Desk {
  readonly composition: Omit<Composition, 'steps'> & { readonly steps: readonly CompositionStep[] };
  readonly input?: Json;
  /** What each prompt says; default: its name and what it is asked. */
  readonly says?: Readonly<Record<string, Said>>;
  readonly tools?: Readonly<Record<string, (input: Json) => unknown>>;
  readonly reading?: readonly string[];
}

async function outcomeOf({ composition, input = { text: 'Hi' }, says = {}, tools = {}, reading = [] }: Desk) {
  const order: string[] = [];
  const { models, requests } = ownModels({
    m: (request) => {
      const prompt = request.caller.agent;
      order.push(prompt);
      return says[prompt] ?? `${prompt}: ${promptOf(request)}`;
    },
  });
  const steps = composition.steps.flatMap((step) => [step, ...(step.branches ?? [])]);
  const prompts = steps.flatMap(({ prompt_task = [] }) => prompt_task);
  const implemented = steps.flatMap(({ tool: name = [] }) => name);
  const pack: Pack = {
    id: 'p',
    prompts: Object.fromEntries(prompts.map((name) => [name, { system_template: `You are ${name}. {{input}}` }])),
    compositions: { c: composition },
  };
  const definition = packComposition(pack, 'c', {
    tools: Object.fromEntries(
      implemented.map((name) => [
        name,
        tool({
          name,
          inputSchema: { type: 'object' },
          effect: reading.includes(name) ? 'read' : 'once',
          trust: 'trusted',
          async execute(value) {
            order.push(`${name} begins`);
            await new Promise((resolve) => setTimeout(resolve, 1));
            order.push(`${name} ends`);
            return tools[name]?.(value as Json);
          },
        }),
      ]),
    ),
    schemas: new Map(['x', 'schemas/type.json'].map((path) => [path, { type: 'object', required: ['type'] }])),
  });
  expect(checkPlan(definition.plan, definition.bindings)).toEqual([]);
  const { result } = run(definition, { inputs: { input }, models: { ...models, override: 'own/m' } });
  const { outcome, state, error, census } = await result;
  return { outcome, output: state?.['output'], error, order, requests, census };
}

const say = (id: string, input?: Json): CompositionStep => {
  return { id, kind: 'prompt', prompt_task: id, ...(input === undefined ? {} : { input }) };
};
const call = (id: string, args: Json = {}, more: Partial<CompositionStep> = {}): CompositionStep => {
  return { id, kind: 'tool', tool: id, args, ...more };
};
/** By pairs: an object with a key `then` looks like a promise. */
const ways = (to: string, other?: string): Partial<CompositionStep> => {
  const pairs: [string, string][] = [['then', to]];
  if (other !== undefined) pairs.push(['else', other]);
  return Object.fromEntries(pairs);
};
const branch = (id: string, value: string, to: string, other?: string): CompositionStep => {
  return { id, kind: 'branch', predicate: { path: '${classify.output}', op: 'equals', value }, ...ways(to, other) };
};

describe('references', () => {
  it('[45] a text that is one reference keeps the type; in a longer text the value is written', async () => {
    const args = {
      a: '${input.n}',
      b: 'n is ${input.n} and ${input.list}',
      c: ['${input.list}'],
      d: 7,
      e: '${ input.o.deep }',
    };
    const input = { n: 3, list: [1, 2], o: { deep: true } };
    const { output } = await outcomeOf({
      composition: { steps: [call('t', args)] },
      input,
      tools: { t: (value) => value },
    });
    expect(output).toEqual({ a: 3, b: 'n is 3 and [1,2]', c: [[1, 2]], d: 7, e: true });
  });

  it('[45] all references that lead nowhere are named', async () => {
    const args = { a: '${input.x.y}', b: 'so ${input.z}', c: '${input.toString}' };
    const { outcome, error } = await outcomeOf({ composition: { steps: [call('t', args)] } });
    expect([outcome, error?.code, error?.message]).toEqual([
      'failed',
      'SKEIN_TEMPLATE',
      expect.stringContaining('references lead nowhere: ${input.x.y}, ${input.z}, ${input.toString}'),
    ]);
  });

  it('what a reference is filled with is never looked at again', async () => {
    const input = { text: '${input.secret} {{secret}}', secret: 'S' };
    const steps = [say('a', '${input.text}'), say('b', { it: '${a.output}', text: 'x' })];
    const { output } = await outcomeOf({ composition: { steps }, input });
    expect(output).toBe('b: {"it":"a: ${input.secret} {{secret}}","text":"x"}');
  });

  it('names steps also in lists and objects', () => {
    expect(namesIn({ a: ['${x.output} ${ y.output.z }'], b: '$x ${1x}' })).toEqual(['x', 'y']);
  });
});

describe('predicates', () => {
  const scope = (name: string): unknown =>
    name === 'input' ? { n: 5, t: 'x', o: { a: [1] }, nothing: null } : undefined;

  it.each([
    [{ path: '${input.n}', op: 'equals', value: 5 }, true],
    [{ path: '${input.o}', op: 'equals', value: { a: [1] } }, true],
    [{ path: '${input.gone}', op: 'equals', value: 5 }, false],
    [{ path: '${input.gone}', op: 'not_equals', value: 5 }, true],
    [{ path: '${input.t}', op: 'in', value: ['x', 'y'] }, true],
    [{ path: '${input.gone}', op: 'not_in', value: ['x'] }, true],
    [{ path: '${input.n}', op: 'less_than', value: 6 }, true],
    [{ path: '${input.n}', op: 'less_than_or_equals', value: 4 }, false],
    [{ path: '${input.n}', op: 'greater_than', value: 5 }, false],
    [{ path: '${input.n}', op: 'greater_than_or_equals', value: 5 }, true],
    [{ path: '${input.nothing}', exists: true }, true],
    [{ path: '${input.gone}', exists: false }, true],
    [{ path: '${input.__proto__}', exists: true }, false],
    [{ all_of: [] }, true],
    [{ any_of: [] }, false],
    [{ not: { any_of: [{ path: '${input.t}', exists: true }] } }, false],
  ])('[45] %j is %s', (predicate, holding) => {
    expect(holds(predicate, scope)).toBe(holding);
  });

  it.each([
    [{ path: '${input.t}', op: 'less_than', value: 5 }, 'less_than compares numbers, not a text'],
    [{ path: '${input.gone}', op: 'greater_than', value: 5 }, 'greater_than compares numbers, not null'],
    [{ path: '${input.t}', op: 'in', value: 'xyz' }, 'in needs a list of values, not a text'],
  ])('[45] %j is an error', (predicate, message) => {
    expect(() => holds(predicate, scope)).toThrow(message);
  });
});

describe('steps', () => {
  it('[44] a prompt is asked its input, and the output is that of the last step, or of the one that is named', async () => {
    const steps = [say('a', '${input.text}'), say('b', 'Now: ${a.output}')];
    expect(await outcomeOf({ composition: { steps } })).toMatchObject({
      outcome: 'succeeded',
      output: 'b: Now: a: Hi',
    });
    expect((await outcomeOf({ composition: { steps, output: 'a' } })).output).toBe('a: Hi');
    const alone = await outcomeOf({ composition: { steps: [say('a')] } });
    expect([alone.output, alone.requests[0]?.messages[0]]).toEqual([
      'a: Hi',
      { role: 'system', text: 'You are a. Hi' },
    ]);
  });

  it('[A11] steps that name each other wait; others run at the same time; those with effects keep their order', async () => {
    const steps = [call('one'), call('two'), call('look'), call('see'), call('after', { of: '${see.output}' })];
    const tools = { see: () => 'seen' };
    const reading = ['look', 'see', 'after'];
    const { order } = await outcomeOf({ composition: { steps }, tools, reading });
    expect(order.indexOf('one ends')).toBeLessThan(order.indexOf('two begins'));
    expect(order.indexOf('see ends')).toBeLessThan(order.indexOf('after begins'));
    expect(order.indexOf('see begins')).toBeLessThan(order.indexOf('look ends'));
    expect(order.indexOf('look begins')).toBeLessThan(order.indexOf('one ends'));
  });

  it('[45] [46] a branch goes one way, the other step is skipped, and who waits for either goes on', async () => {
    const steps = [
      say('classify'),
      branch('route', 'paper', 'paper', 'general'),
      say('paper', '${input.text}'),
      say('general', '${input.text}'),
      { ...say('end', 'All done'), depends_on: ['paper', 'general'] },
    ];
    const { order, census, output } = await outcomeOf({ composition: { steps }, says: { classify: 'paper' } });
    expect([order, output]).toEqual([['classify', 'paper', 'end'], 'end: All done']);
    expect(census.skipped).toBe(2);
    expect((await outcomeOf({ composition: { steps }, says: { classify: 'x' } })).order).toEqual([
      'classify',
      'general',
      'end',
    ]);
  });

  it('[45] a missing else falls through; where both ways are the same the step runs', async () => {
    const through = [
      say('classify'),
      branch('route', 'yes', 'more'),
      say('more'),
      { ...say('end', 'e'), depends_on: ['more'] },
    ];
    expect((await outcomeOf({ composition: { steps: through }, says: { classify: 'no' } })).order).toEqual([
      'classify',
    ]);
    const same = [say('classify'), branch('route', 'yes', 'more', 'more'), say('more')];
    expect((await outcomeOf({ composition: { steps: same }, says: { classify: 'no' } })).order).toEqual([
      'classify',
      'more',
    ]);
  });

  it('the step of a branch that was skipped itself is skipped, too', async () => {
    const steps = [
      say('classify'),
      branch('route', 'yes', 'inner'),
      { ...branch('inner', 'yes', 'deep') },
      say('deep'),
    ];
    expect((await outcomeOf({ composition: { steps }, says: { classify: 'no' } })).order).toEqual(['classify']);
    expect((await outcomeOf({ composition: { steps }, says: { classify: 'yes' } })).order).toEqual([
      'classify',
      'deep',
    ]);
  });

  it.each([
    ['append', ['a', 'b']],
    ['replace', 'b'],
    ['barrier', { x: 'a', y: 'b' }],
  ])('[44] parallel steps come together by %s under the name of the result', async (strategy, merged) => {
    const both: CompositionStep = {
      id: 'both',
      kind: 'parallel',
      branches: [call('x'), call('y')],
      reduce: { strategy, into: 'all' },
    };
    const steps = [both, call('end', { it: '${both.output.all}' })];
    const tools = { x: () => 'a', y: () => 'b', end: (value: Json) => value };
    expect((await outcomeOf({ composition: { steps }, tools })).output).toEqual({ it: merged });
  });

  it('[46] a parallel step that fails leaves the others running, and all failures are told', async () => {
    const fails = (why: string) => () => {
      throw new Error(why);
    };
    const reduce = { strategy: 'append', into: 'all' };
    const both: CompositionStep = { id: 'both', kind: 'parallel', branches: [call('x'), call('y'), call('z')], reduce };
    const tools = { x: fails('x broke'), y: fails('y broke'), z: () => 'fine' };
    const { outcome, error, order } = await outcomeOf({
      composition: { steps: [both] },
      tools,
      reading: ['x', 'y', 'z'],
    });
    expect([outcome, order.includes('z ends')]).toEqual(['failed', true]);
    expect(error?.message).toContain('x: x broke; y: y broke');
  });

  it('[44] max_attempts counts all attempts', async () => {
    let left = 1;
    const tools = {
      t: () => {
        if (left-- > 0) throw new Error('not yet');
        return 'now';
      },
    };
    const steps = [call('t', {}, { modifiers: { retry: { max_attempts: 2 } } })];
    expect(await outcomeOf({ composition: { steps }, tools })).toMatchObject({ outcome: 'succeeded', output: 'now' });
    left = 1;
    expect((await outcomeOf({ composition: { steps: [call('t')] }, tools })).outcome).toBe('failed');
  });

  it('[44] an agent ends after max_steps rounds, or when the tool of its termination was called', async () => {
    const agent = (termination: CompositionStep['termination']): CompositionStep => {
      return { id: 'a', kind: 'agent', prompt_task: 'a', tools: ['look'], ...(termination && { termination }) };
    };
    const looks = { text: 'so far', calls: [['look', {}]] } as const;
    const unused = call('look', {}, { id: 'once' });
    for (const termination of [{ max_steps: 2 }, { tool_called: 'look' }]) {
      const steps = [unused, agent(termination)];
      const { output, requests } = await outcomeOf({ composition: { steps }, says: { a: looks }, reading: ['look'] });
      expect([output, requests.length]).toEqual(['so far', 'max_steps' in termination ? 2 : 1]);
    }
  });

  it('[44] an input that does not match its schema runs no step', async () => {
    const composition = { input_schema: 'x', steps: [say('a', 'Go.')] };
    const { outcome, error, order } = await outcomeOf({ composition, input: { text: 'Hi' } });
    expect([outcome, error?.code, order]).toEqual(['failed', 'SKEIN_INPUT', []]);
    expect((await outcomeOf({ composition, input: { type: 'x' } })).outcome).toBe('succeeded');
  });

  it('[44] an output schema makes the output data, and is checked', async () => {
    const step = { ...say('classify'), output_schema: 'schemas/type.json' };
    const steps = [step, call('t', { type: '${classify.output.type}' })];
    const good = {
      composition: { steps, output: 'classify', output_schema: 'x' },
      says: { classify: '{"type":"paper"}' },
    };
    expect((await outcomeOf(good)).output).toEqual({ type: 'paper' });
    const bad = await outcomeOf({ composition: { steps: [call('t')], output_schema: 'x' }, tools: { t: () => 5 } });
    expect([bad.outcome, bad.error?.code]).toEqual(['failed', 'SKEIN_OUTPUT_INVALID']);
    const none = await outcomeOf({
      composition: { steps: [say('classify'), branch('r', 'yes', 'x'), say('x')], output: 'x' },
      says: { classify: 'no' },
    });
    expect([none.outcome, none.error?.message]).toEqual([
      'failed',
      expect.stringContaining('the output step "x" was skipped'),
    ]);
  });
});

/** Statement 46 by the letter, one step after the other: which steps run. A step of a branch that never ran does not run either. */
function slowly(steps: readonly CompositionStep[], value: string): readonly string[] {
  const ran = new Map<string, string | null>();
  const skipped = new Set<string>();
  for (const step of steps) {
    const { id, depends_on = [] } = step;
    const namers = steps.filter((one) => one.then === id || one.else === id);
    const isOff = namers.length > 0 && namers.every((one) => skipped.has(one.id));
    if (skipped.has(id) || isOff || (depends_on.length > 0 && depends_on.every((one) => skipped.has(one)))) {
      skipped.add(id);
      continue;
    }
    if (step.kind !== 'branch') {
      ran.set(id, id);
      continue;
    }
    const isTaken = step.predicate?.value === value;
    const [taken, other] = isTaken ? [step.then, step.else] : [step.else, step.then];
    ran.set(id, taken ?? null);
    if (other !== undefined && other !== taken) skipped.add(other);
  }
  return steps.filter(({ id, kind }) => kind === 'tool' && ran.has(id)).map(({ id }) => id);
}

it('[46] random compositions run the same steps as a slow walk along the array', async () => {
  const size = 8;
  const drawing = fc.array(
    fc.record({
      isBranch: fc.boolean(),
      deps: fc.subarray(Array.from({ length: size }, (_, at) => at)),
      to: fc.nat(size - 1),
      other: fc.option(fc.nat(size - 1)),
      value: fc.constantFrom('yes', 'no'),
    }),
    { minLength: 2, maxLength: size },
  );
  await fc.assert(
    fc.asyncProperty(drawing, async (drawn) => {
      const named = (at: number): string => `s${at}`;
      const taken = new Set<number>();
      const steps = drawn.map(({ isBranch, deps, to, other, value }, at): CompositionStep => {
        const before = deps.filter((one) => one < at).map(named);
        const depends = before.length === 0 ? {} : { depends_on: before };
        // A branch names later steps, and each step is named by one branch alone.
        const targets = [to, other ?? to].filter((one) => one > at && one < drawn.length && !taken.has(one));
        if (!isBranch || targets.length === 0) return { ...call(named(at)), ...depends };
        for (const one of targets) taken.add(one);
        const predicate = { path: '${input.text}', op: 'equals', value };
        const [first = 0, second] = targets.map(named);
        return { id: named(at), kind: 'branch', predicate, ...depends, ...ways(String(first), second) };
      });
      const { order } = await outcomeOf({ composition: { steps, output: 's0' }, input: { text: 'yes' } });
      const begun = order.filter((one) => one.endsWith(' begins')).map((one) => one.split(' ')[0]);
      expect(new Set(begun)).toEqual(new Set(slowly(steps, 'yes')));
    }),
    { numRuns: cases(40) },
  );
});
