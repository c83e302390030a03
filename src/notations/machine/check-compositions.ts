import { didYouMean, meantOrKnown } from '../../base/suggest.js';
import { quoteShort } from '../../lang/value-text.js';
import { namesOfPredicate } from './compositions/predicates.js';
import { INPUT, namesIn } from './compositions/references.js';
import { orderOf, waitsOf } from './compositions/step-order.js';
import type { CompositionStep, PlacedPack, Predicate } from './pack.js';

/** Tool names reserved for the runtime. */
const RESERVED: ReadonlySet<string> = new Set(['workflow__transition', 'workflow__set_artifact']);

/** Checks the rules of compositions: step names, references, order, nesting. */
export function checkCompositions(placed: PlacedPack): void {
  for (const [name, { steps, output }] of Object.entries(placed.pack.compositions ?? {})) {
    const check = new CompositionCheck(name, steps, placed);
    check.steps();
    if (output !== undefined) check.refer(output, 'output', ['output']);
  }
}

class CompositionCheck {
  private readonly place: string;
  private readonly ids: ReadonlySet<string>;

  constructor(
    private readonly name: string,
    private readonly all: readonly CompositionStep[],
    private readonly placed: PlacedPack,
  ) {
    this.place = `compositions[${JSON.stringify(name)}]`;
    this.ids = new Set(all.flatMap((step) => [step.id, ...(step.branches ?? []).map(({ id }) => id)]));
  }

  steps(): void {
    const seen = new Set<string>();
    for (const [index, step] of this.all.entries()) {
      const keys = ['steps', String(index)];
      this.checkStep(step, seen, keys);
      this.checkFollower(step, this.all[index - 1], keys);
      for (const [at, branch] of (step.branches ?? []).entries()) {
        const inside = [...keys, 'branches', String(at)];
        this.checkStep(branch, seen, inside);
        if (branch.kind !== 'branch' && branch.kind !== 'parallel') continue;
        const message = `${branch.kind} step ${quoteShort(branch.id)} can't stand in the parallel step ${quoteShort(step.id)}`;
        this.error('nested-step', message, inside, 'make it a step of its own');
      }
    }
    this.checkCycles();
  }

  refer(id: string, what: string, keys: readonly string[]): void {
    if (this.ids.has(id)) return;
    this.error('unknown-step', `${what} ${quoteShort(id)} is not a step`, keys, meantOrKnown(id, this.ids, 'steps'));
  }

  private checkStep(step: CompositionStep, seen: Set<string>, keys: readonly string[]): void {
    const { id, depends_on = [], prompt_task, tool } = step;
    if (seen.has(id))
      this.error('duplicate-step', `the step ${quoteShort(id)} is defined twice`, keys, 'rename one of them');
    if (RESERVED.has(id))
      this.error('reserved-tool', `the name ${quoteShort(id)} is reserved`, keys, 'choose another name');
    seen.add(id);
    for (const [at, other] of depends_on.entries()) {
      this.refer(other, `depends_on of step ${quoteShort(id)}:`, [...keys, 'depends_on', String(at)]);
    }
    for (const way of ['then', 'else'] as const) {
      const target = step[way];
      if (target !== undefined) this.refer(target, `${way} of step ${quoteShort(id)}:`, [...keys, way]);
    }
    const { prompts, tools = {} } = this.placed.pack;
    if (prompt_task !== undefined && !Object.hasOwn(prompts, prompt_task)) {
      const message = `prompt_task ${quoteShort(prompt_task)} of step ${quoteShort(id)} does not reference a valid prompt`;
      this.error(
        'unknown-prompt',
        message,
        [...keys, 'prompt_task'],
        meantOrKnown(prompt_task, Object.keys(prompts), 'prompts'),
      );
    }
    this.checkReferences(step, keys);
    if (step.predicate !== undefined) this.checkPredicate(step.predicate, id, [...keys, 'predicate']);
    for (const name of [...(tool === undefined ? [] : [tool]), ...(step.tools ?? [])])
      this.checkTool(name, tools, id, keys);
  }

  /** Checks that references in values and predicates begin with `input` or a step. */
  private checkReferences({ id, input, args, predicate }: CompositionStep, keys: readonly string[]): void {
    const names = new Map([
      ...namesIn(input).map((name) => [name, 'input'] as const),
      ...namesIn(args).map((name) => [name, 'args'] as const),
      ...(predicate === undefined ? [] : namesOfPredicate(predicate)).map((name) => [name, 'predicate'] as const),
    ]);
    for (const [name, key] of names) {
      if (name === INPUT || this.ids.has(name)) continue;
      const message = `${key} of step ${quoteShort(id)}: \${${name}} is neither input nor a step`;
      const hint = didYouMean(name, [INPUT, ...this.ids]) ?? 'such as ${input.text} or ${STEP.output.KEY}';
      this.error('unknown-step', message, [...keys, key], hint);
    }
  }

  /** Checks that a comparison has a path and a value, and a presence test a path. */
  private checkPredicate(predicate: Predicate, id: string, keys: readonly string[]): void {
    const { op, exists, all_of = [], any_of = [], not } = predicate;
    const needed = op === undefined ? (exists === undefined ? [] : ['path']) : ['path', 'value'];
    for (const key of needed.filter((one) => !Object.hasOwn(predicate, one))) {
      this.error('missing-key', `predicate of step ${quoteShort(id)}: ${key} is missing`, keys, `add ${key}`);
    }
    for (const inner of [...all_of, ...any_of, ...(not === undefined ? [] : [not])])
      this.checkPredicate(inner, id, keys);
  }

  private checkTool(name: string, tools: object, id: string, keys: readonly string[]): void {
    if (RESERVED.has(name)) {
      this.error('reserved-tool', `step ${quoteShort(id)} can't call ${name}`, keys, 'a composition fires no events');
    } else if (!Object.hasOwn(tools, name)) {
      const message = `${this.place}: step ${quoteShort(id)}: ${quoteShort(name)} is not a tool of the pack`;
      const hint = didYouMean(name, Object.keys(tools)) ?? 'a tool server or your program must provide it';
      this.placed.findings.warning('unknown-tool', message, this.at(keys), hint);
    }
  }

  /** Warns about a step placed after a branch or parallel steps without depending on them. */
  private checkFollower(step: CompositionStep, before: CompositionStep | undefined, keys: readonly string[]): void {
    if (before === undefined || (before.kind !== 'branch' && before.kind !== 'parallel')) return;
    if (step.depends_on !== undefined || before.then === step.id || before.else === step.id) return;
    const message = `${this.place}: step ${quoteShort(step.id)} follows the ${before.kind} step ${quoteShort(before.id)} without depends_on`;
    this.placed.findings.warning('loose-step', message, this.at(keys), 'say what it waits for');
  }

  /** Reports steps that wait for each other, for any reason. */
  private checkCycles(): void {
    const order = new Set(orderOf(waitsOf(this.all)));
    const left = [...this.ids].filter((id) => !order.has(id));
    const [first] = left;
    if (first === undefined) return;
    const index = this.all.findIndex(
      ({ id, branches = [] }) => id === first || branches.some((one) => one.id === first),
    );
    const message = `steps wait for each other: ${left.map((one) => quoteShort(one)).join(', ')}`;
    this.error('step-cycle', message, ['steps', String(index)], 'take one of the references out');
  }

  private error(code: string, message: string, keys: readonly string[], hint: string): void {
    this.placed.findings.error(code, `${this.place}: ${message}`, this.at(keys), hint);
  }

  private at(keys: readonly string[]): ReturnType<PlacedPack['at']> {
    return this.placed.at('compositions', this.name, ...keys);
  }
}
