import { hasErrors, type Problem } from '../../base/problem.js';
import { meantOrKnown } from '../../base/suggest.js';
import { quoted } from './errors.js';
import { BUDGET_KEYS, WORKFLOW, readSpec } from './read-spec.js';
import { Problems, type PlacedProblem } from './shapes.js';
import type { Spec, State } from './spec.js';
import { checkPaths } from './validate-paths.js';

/**
 * The findings of {@link validateSpec} in a stable order: messages of errors and warnings, and all as problems with code and hint.
 *
 * @example
 * const { errors, warnings } = validateSpec(spec, ['draft', 'review']);
 */
export interface ValidationResult {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly hasErrors: boolean;
  readonly problems: readonly Problem[];
}

/**
 * Checks a spec: its form, and everything that its states refer to. Never throws.
 *
 * @param promptKeys names of the pack's prompts
 * @example
 * const result = validateSpec(pack.workflow, Object.keys(pack.prompts));
 * if (result.hasErrors) console.error(result.errors.join('\n'));
 */
export function validateSpec(spec: Spec, promptKeys: Iterable<string>): ValidationResult {
  const read = readSpec(spec);
  const found = read.spec === undefined ? read.problems : checkSpec(read.spec, new Set(promptKeys));
  const problems = found.map(({ problem }) => problem);
  const texts = (severity: Problem['severity']): string[] =>
    problems.filter((problem) => problem.severity === severity).map(({ message }) => message);
  return { errors: texts('error'), warnings: texts('warning'), hasErrors: hasErrors(problems), problems };
}

/** Checks a spec of valid form: the whole, each state, and the paths between states. */
export function checkSpec(spec: Spec, prompts: ReadonlySet<string>): readonly PlacedProblem[] {
  const problems = new Problems();
  if (spec.version !== 1 && spec.version !== 2) {
    const message = `workflow.version must be 1 or 2, got ${spec.version}`;
    const hint = 'write version: 2, or version: 1 for packs of older runtimes';
    problems.add(WORKFLOW.field('version'), { code: 'unknown-version', severity: 'error', message, hint });
  }
  const states = Object.entries(spec.states);
  if (states.length === 0) {
    const message = 'workflow.states must be non-empty';
    const hint =
      'a state is NAME: {prompt_task: PROMPT, on_event: {Event: NAME}}; a pack without states needs no workflow';
    problems.add(WORKFLOW.field('states'), { code: 'no-states', severity: 'error', message, hint });
    return problems.found;
  }
  const names = states.map(([name]) => name);
  if (!Object.hasOwn(spec.states, spec.entry)) {
    const message = `workflow.entry ${quoted(spec.entry)} does not reference a key in states`;
    const hint = meantOrKnown(spec.entry, names, 'states');
    problems.add(WORKFLOW.field('entry'), { code: 'unknown-entry', severity: 'error', message, hint });
  }
  checkBudgetKeys(spec, problems);
  for (const [name, state] of states) {
    new StateRules(spec, name, state, problems).check(prompts, names);
  }
  checkArtifacts(spec, problems);
  checkPaths(spec, problems);
  return problems.found;
}

function checkBudgetKeys({ engine }: Spec, problems: Problems): void {
  const known: readonly string[] = BUDGET_KEYS;
  const place = WORKFLOW.field('engine').field('budget');
  for (const key of Object.keys(engine?.budget ?? {}).filter((one) => !known.includes(one))) {
    const message = `${place.text}[${quoted(key)}] is not a known bound and has no effect`;
    const hint = meantOrKnown(key, known, 'bounds');
    problems.add(place.named(key), { code: 'unknown-bound', severity: 'warning', message, hint });
  }
}

/** The words that keys of a state accept. */
const WORDS = [
  ['persistence', ['transient', 'persistent']],
  ['orchestration', ['internal', 'external', 'hybrid', 'composition']],
] as const;

const EVENT_NAME = /^[A-Z][a-zA-Z0-9]*$/;

class StateRules {
  private readonly place;
  private readonly isComposition: boolean;

  constructor(
    private readonly spec: Spec,
    name: string,
    private readonly state: State,
    private readonly problems: Problems,
  ) {
    this.place = WORKFLOW.field('states').named(name);
    this.isComposition = state.orchestration === 'composition';
  }

  check(prompts: ReadonlySet<string>, names: readonly string[]): void {
    this.checkPrompt(prompts);
    this.checkEvents(names);
    this.checkWords();
    this.checkComposition();
    this.checkVisits(names);
    this.checkEnd();
  }

  private checkPrompt(prompts: ReadonlySet<string>): void {
    const { prompt_task = '' } = this.state;
    if (this.isComposition || prompts.has(prompt_task)) return;
    const rest = `prompt_task ${quoted(prompt_task)} does not reference a valid prompt`;
    this.add('prompt_task', `.${rest}`, 'unknown-prompt', 'error', meantOrKnown(prompt_task, prompts, 'prompts'));
  }

  private checkEvents(names: readonly string[]): void {
    for (const [event, target] of Object.entries(this.state.on_event ?? {})) {
      if (this.has(target) && EVENT_NAME.test(event)) continue;
      const place = this.place.field('on_event').named(event);
      if (!this.has(target)) {
        const message = `${place.text} target ${quoted(target)} does not exist in states`;
        const hint = meantOrKnown(target, names, 'states');
        this.problems.add(place, { code: 'unknown-target', severity: 'error', message, hint });
      }
      if (EVENT_NAME.test(event)) continue;
      const message = `${place.text}: event name should be PascalCase`;
      const hint = 'such as OrderFound';
      this.problems.add(place, { code: 'event-name', severity: 'warning', message, hint });
    }
  }

  private checkWords(): void {
    for (const [key, words] of WORDS) {
      const word: string | undefined = this.state[key];
      if (word === undefined || words.some((one) => one === word)) continue;
      const all = words.map(quoted).join(', ');
      this.add(
        key,
        `.${key} ${quoted(word)} is not valid (must be one of ${all})`,
        'unknown-word',
        'error',
        meantOrKnown(word, words, 'words'),
      );
    }
  }

  private checkComposition(): void {
    const { composition = '' } = this.state;
    if (this.isComposition && composition === '') {
      const rest = ': orchestration composition requires a composition';
      this.add('composition', rest, 'missing-composition', 'error', 'name one: composition: NAME');
    }
    if (!this.isComposition && composition !== '') {
      const rest = ': composition is only valid with orchestration composition';
      this.add('composition', rest, 'unused-composition', 'error', 'add orchestration: composition, or take it out');
    }
  }

  private checkVisits(names: readonly string[]): void {
    const { max_visits = 0, on_max_visits: to = '' } = this.state;
    if (to === '') return;
    if (!this.has(to)) {
      const rest = `.on_max_visits ${quoted(to)} does not exist in states`;
      this.add('on_max_visits', rest, 'unknown-redirect', 'error', meantOrKnown(to, names, 'states'));
      return;
    }
    if (max_visits === 0) {
      const rest = '.on_max_visits has no effect without max_visits';
      this.add('on_max_visits', rest, 'unused-redirect', 'warning', 'set max_visits too');
    } else if ((this.spec.states[to]?.max_visits ?? 0) > 0) {
      const rest = `.on_max_visits target ${quoted(to)} also has max_visits: potential redirect chain`;
      this.add('on_max_visits', rest, 'redirect-chain', 'warning', 'redirect to a state without max_visits');
    }
  }

  private checkEnd(): void {
    const { terminal = false, on_event = {}, max_visits = 0 } = this.state;
    const hasEvents = Object.keys(on_event).length > 0;
    if (terminal && hasEvents) {
      const rest = ': terminal state has on_event transitions (they never fire)';
      this.add('on_event', rest, 'terminal-events', 'warning', 'take out terminal: true, or the events');
    }
    if (this.spec.version >= 2 && !terminal && !hasEvents && max_visits === 0) {
      const rest = ': state has neither on_event nor max_visits (terminal: true says that it is an end)';
      this.add('on_event', rest, 'dead-end', 'warning', 'add terminal: true, or events');
    }
  }

  private has(name: string): boolean {
    return Object.hasOwn(this.spec.states, name);
  }

  private add(key: string, rest: string, code: string, severity: Problem['severity'], hint: string): void {
    const message = `${this.place.text}${rest}`;
    this.problems.add(this.place.field(key), { code, severity, message, hint });
  }
}

/** All states that declare an artifact share it, so their declarations should agree. */
function checkArtifacts({ states }: Spec, problems: Problems): void {
  const first = new Map<string, readonly [state: string, mode: string, type: string]>();
  for (const [state, { artifacts }] of Object.entries(states)) {
    for (const [name, { mode = 'replace', type }] of Object.entries(artifacts ?? {})) {
      const known = first.get(name);
      if (known === undefined) first.set(name, [state, mode, type]);
      const [other = '', otherMode = mode, otherType = type] = known ?? [];
      const place = WORKFLOW.field('states').named(state).field('artifacts').named(name);
      for (const [key, here, there] of [
        ['mode', mode, otherMode],
        ['type', type, otherType],
      ] as const) {
        if (here === there) continue;
        const message = `${place.text}.${key} is ${quoted(here)}, but ${quoted(there)} in state ${quoted(other)}: it is the same artifact`;
        const hint = `give it the same ${key} in both, or another name`;
        problems.add(place.field(key), { code: `artifact-${key}`, severity: 'warning', message, hint });
      }
    }
  }
}
