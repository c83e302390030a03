import { present } from '../../../base/json.js';
import type { Problem } from '../../../base/problem.js';
import { amountText } from '../../../plan/budget-text.js';
import type { Budget } from '../../../plan/budget.js';
import type { Security } from '../../../plan/security.js';
import type { ModelSettings } from '../../../plan/agent-spec.js';
import { quoteShort } from '../../../lang/value-text.js';
import {
  walkTree,
  type TreeAgent,
  type TreeOverride,
  type TreeStep,
  type TreeWork,
  type TreeWorkflow,
} from '../../tree/definition.js';
import { isKeyword } from '../statements.js';
import { Profiles, agentToml, fitsToml, policyToml } from './write-toml.js';

export interface WrittenFile {
  readonly name: 'Agentfile' | 'agent.toml' | 'policy.toml';
  readonly text: string;
}

export interface ConvertedTree {
  /** Empty if the tree has something that an Agentfile can't express. */
  readonly files: readonly WrittenFile[];
  readonly problems: readonly Problem[];
}

const SUPERVISION = { model: ' SUPERVISED', human: ' SUPERVISED HUMAN', off: ' UNSUPERVISED' } as const;
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/** Writes a tree as an Agentfile. What the language can't express is a problem (`not-in-agentfile`), so nothing is lost silently. */
export function agentfileOf(tree: TreeWorkflow, defaults: TreeOverride): ConvertedTree {
  const writer = new Writer(tree, defaults);
  const text = writer.text();
  const { problems } = writer;
  if (problems.length > 0) return { files: [], problems };
  const toml = agentToml(writer.defaults(), writer.profiles, tree);
  const policy = policyToml(defaults.tools ?? []);
  return {
    files: [
      { name: 'Agentfile', text },
      ...(toml === '' ? [] : [{ name: 'agent.toml' as const, text: toml }]),
      ...(policy === '' ? [] : [{ name: 'policy.toml' as const, text: policy }]),
    ],
    problems,
  };
}

class Writer {
  readonly problems: Problem[] = [];
  readonly profiles = new Profiles();
  private readonly seen = new Map<string, string>();

  constructor(
    private readonly tree: TreeWorkflow,
    private readonly given: TreeOverride,
  ) {}

  text(): string {
    const { tree } = this;
    this.checkBeyond('the runtime', this.given, ['model', 'settings', 'cache', 'sandbox', 'tools', 'mcpServers']);
    this.checkSettings('the runtime', this.defaults().settings ?? {});
    for (const [name, { headers }] of Object.entries(this.given.mcpServers ?? {}))
      if (headers !== undefined) this.problem(`MCP server ${name}: agent.toml can't say headers`);
    if (!fitsToml(tree.sends)) this.problem("sends: agent.toml can't say null");
    const lines = [
      ...(tree.supervision === undefined || tree.supervision === 'off' ? [] : [SUPERVISION[tree.supervision].trim()]),
      `NAME ${this.name(tree.name, 'workflow')}`,
      ...[this.budget('the workflow', tree.budget).trim()].filter((line) => line !== ''),
      ...[this.security('the workflow', tree).trim()].filter((line) => line !== ''),
      ...tree.inputs.map(({ name, default: preset }) => {
        const value = preset === undefined ? '' : ` DEFAULT ${quoted(preset)}`;
        return `INPUT ${this.name(name, 'parameter')}${value}`;
      }),
    ];
    const agents: string[] = [];
    const goals: string[] = [];
    for (const node of walkTree(tree)) {
      if (node.kind === 'agent') this.add(agents, node, () => this.agent(node));
      else if (node.kind === 'goal' || node.kind === 'convergence') this.add(goals, node, () => this.work(node));
    }
    const runs = tree.sequences.map(({ name, steps, supervision, security }) => {
      const using = steps.map((step) => step.name).join(', ');
      const mode = supervision === undefined ? '' : SUPERVISION[supervision];
      return `RUN ${this.name(name, 'sequence')} USING ${using}${this.security(`sequence ${name}`, { security })}${mode}`;
    });
    this.checkSequences();
    const parts = [lines, agents, goals, runs].filter((part) => part.length > 0);
    return `${parts.map((part) => part.join('\n')).join('\n\n')}\n`;
  }

  /** Returns the defaults of all steps. Settings, which a runtime lacks, come from the sequences. */
  defaults(): TreeOverride {
    const { settings, cache } = this.tree.sequences[0]?.override ?? {};
    return {
      ...this.given,
      ...present({ settings: settings ?? this.given.settings, cache: cache ?? this.given.cache }),
    };
  }

  /** Adds a step once; the same step may be used in several places. */
  private add(lines: string[], step: TreeStep, line: () => string): void {
    const key = `${step.kind === 'agent' ? 'agent' : 'goal'} ${step.name}`;
    const digest = JSON.stringify(step, (name, value: unknown) => (name === 'at' ? undefined : value));
    const known = this.seen.get(key);
    if (known === undefined) lines.push(line());
    else if (known !== digest) this.refuse(step, `there are two different steps of this name`);
    this.seen.set(key, digest);
  }

  private agent(agent: TreeAgent): string {
    if (agent.task !== undefined) this.refuse(agent, 'an agent can only appear in USING without a task');
    const { model, settings } = agent.override ?? {};
    this.checkBeyond(`agent ${agent.name}`, agent.override ?? {}, ['model', 'settings']);
    const budget =
      this.budget(`agent ${agent.name}`, agent.budget) +
      this.security(`agent ${agent.name}`, agent) +
      this.endorsed(agent);
    const profile = model === undefined && settings === undefined ? '' : this.profileOf(agent, model, settings);
    if (agent.strict === true) this.refuse(agent, 'strict outputs have no clause');
    return `AGENT ${this.name(agent.name, 'agent')} ${quoted(agent.prompt)}${fields(agent)}${profile}${budget}`;
  }

  private profileOf(agent: TreeAgent, model: string | undefined, settings: ModelSettings | undefined): string {
    const { settings: around = {} } = this.defaults();
    this.checkSettings(`agent ${agent.name}`, settings ?? {});
    // A profile inherits what it does not set from [llm].
    if (settings !== undefined && Object.keys(around).some((key) => !Object.hasOwn(settings, key)))
      this.refuse(agent, 'its settings leave out some that all steps have: a profile has them too');
    return ` REQUIRES "${this.profiles.nameOf(model, settings ?? {})}"`;
  }

  private checkSettings(what: string, settings: ModelSettings): void {
    const beyond = Object.keys(settings).filter((key) => key !== 'maxOutputTokens' && key !== 'temperature');
    if (beyond.length > 0) this.problem(`${what}: agent.toml can't say ${beyond.join(', ')}`);
  }

  private work(work: TreeWork & { readonly kind: 'goal' | 'convergence' }): string {
    this.checkBeyond(`${work.kind} ${work.name}`, work.override ?? {}, []);
    for (const used of work.using)
      if (used.kind !== 'agent') this.refuse(work, `only agents can be listed in USING, not ${used.kind} ${used.name}`);
    if (work.strict === true) this.refuse(work, 'strict outputs have no clause');
    const using = work.using.length === 0 ? '' : ` USING ${work.using.map(({ name }) => name).join(', ')}`;
    const mode = work.supervision === undefined ? '' : SUPERVISION[work.supervision];
    const what = `${work.kind} ${work.name}`;
    const budget = this.budget(what, work.budget) + this.security(what, work) + this.endorsed(work as TreeStep);
    const start = `${work.kind === 'goal' ? 'GOAL' : 'CONVERGE'} ${this.name(work.name, work.kind)}`;
    return `${start} ${quoted(work.description)}${fields(work)}${using}${this.within(work)}${budget}${mode}`;
  }

  private within(
    work: TreeWork & { readonly within?: number; readonly withinVar?: string; readonly cap?: number },
  ): string {
    if (work.cap !== undefined)
      this.refuse({ kind: 'convergence', name: work.name }, 'the cap of withinVar has no clause');
    if (work.withinVar !== undefined) return ` WITHIN $${work.withinVar}`;
    return work.within === undefined ? '' : ` WITHIN ${work.within}`;
  }

  private budget(what: string, budget: Budget | undefined): string {
    if (budget === undefined) return '';
    const { usd, tokens, calls, toolCalls, time, ...more } = budget;
    this.checkBeyond(`the budget of ${what}`, more, []);
    const amounts = [
      ...(usd === undefined ? [] : [amountText('usd', usd)]),
      ...(tokens === undefined ? [] : [`${tokens}-tokens`]),
      ...(calls === undefined ? [] : [`${calls}-calls`]),
      ...(toolCalls === undefined ? [] : [`${toolCalls}-tool-calls`]),
      ...(time === undefined ? [] : [`${time}ms`]),
    ];
    return ` BUDGET ${amounts.join(', ')}`;
  }

  private security(what: string, { security }: { readonly security?: Security | undefined }): string {
    if (security === undefined) return '';
    const { mode, scope, ...more } = security;
    this.checkBeyond(`the security of ${what}`, more, []);
    return ` SECURITY ${mode}${scope === undefined ? '' : ` ${quoted(scope)}`}`;
  }

  private endorsed(step: TreeStep): string {
    if (step.endorse !== undefined && step.endorse !== 'person')
      this.refuse(step, 'a schema that endorses has no clause');
    return step.endorse === undefined ? '' : ' ENDORSED';
  }

  /** Checks that sequences contain only goals, and that all have the same overrides. */
  private checkSequences(): void {
    const [first, ...others] = this.tree.sequences.map(({ override }) => JSON.stringify(override ?? {}));
    for (const { name, steps, override } of this.tree.sequences) {
      this.checkBeyond(`sequence ${name}`, override ?? {}, ['settings', 'cache']);
      for (const step of steps) if (step.kind === 'agent') this.refuse(step, 'a RUN names goals alone');
    }
    if (others.some((other) => other !== first))
      this.problem('the sequences are customized differently: an Agentfile has one configuration');
  }

  private checkBeyond(
    what: string,
    override: TreeOverride | Budget | Partial<Security>,
    allowed: readonly (keyof TreeOverride)[],
  ): void {
    const beyond = Object.entries(override).flatMap(([key, value]) =>
      saysNothing(value) || (allowed as readonly string[]).includes(key) ? [] : [key],
    );
    if (beyond.length > 0) this.problem(`${what}: an Agentfile can't say ${beyond.join(', ')}`);
  }

  private name(name: string, what: string): string {
    if (NAME.test(name) && !isKeyword(name)) return name;
    this.problem(
      `${what} ${quoteShort(name)}: a name in an Agentfile has letters, digits, _ and -, and must not be a keyword`,
    );
    return name;
  }

  private refuse({ kind, name }: Pick<TreeStep, 'kind' | 'name'>, why: string): void {
    this.problem(`${kind} ${name}: ${why}`);
  }

  private problem(message: string): void {
    const hint = 'change it, or keep it as a tree';
    this.problems.push({ code: 'not-in-agentfile', severity: 'error', message, hint });
  }
}

function saysNothing(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}

function fields({ outputs }: Pick<TreeStep, 'outputs'>): string {
  return outputs.length === 0 ? '' : ` -> ${outputs.join(', ')}`;
}

/** Quotes a text, over several lines if it has them and needs no escapes. */
function quoted(text: string): string {
  if (text.includes('\n') && !text.includes('"""') && !text.includes('\r') && !text.endsWith('"'))
    return `"""\n${text}\n"""`;
  const escaped = text
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\r', String.raw`\r`)
    .replaceAll('\t', String.raw`\t`);
  return `"${escaped}"`;
}
