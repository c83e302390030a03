import { basename } from 'node:path';
import { present } from '../../base/json.js';
import type { Position } from '../../base/problem.js';
import type { Budget } from '../../plan/budget.js';
import { raised, type Security } from '../../plan/security.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Findings } from '../../text/findings.js';
import { checkName } from '../../text/names.js';
import type {
  TreeAgent,
  TreeConvergence,
  TreeGoal,
  TreeOverride,
  TreeSequence,
  TreeWorkflow,
} from '../tree/definition.js';
import type { ChosenModel, Configuration } from './configuration.js';
import { skillContext, type Source } from './sources.js';
import type { Agentfile, WorkStatement, Written } from './statements.js';
import { checkMissing, narrowed, type OfferedTools } from './tools.js';

export interface Surroundings {
  /** The path shown in messages. */
  readonly file: string;
  readonly configuration: Configuration;
  readonly offered: OfferedTools;
  /** The source that the `FROM` of each statement names. Absent if it could not be read. */
  readonly sources: ReadonlyMap<WorkStatement, Source>;
}

/**
 * Builds the tree that an Agentfile describes. Compiling finds the problems that any tree can have. Defining finds those of the file alone:
 * duplicate or unknown names, profiles, missing clauses.
 *
 * Problem codes: `no-goal`, `duplicate-name`, `unknown-name`, `unknown-profile`, `missing-value`, `bad-name`; warnings `no-name`, `no-run`,
 * `not-run`, `no-effect`, `old-reference`, `missing-tool`.
 */
export function defineTree(file: Agentfile, surroundings: Surroundings, findings: Findings): TreeWorkflow {
  return new Definer(file, surroundings, findings).workflow();
}

class Definer {
  private readonly agents = new Map<string, TreeAgent>();
  private readonly goals = new Map<string, TreeGoal | TreeConvergence>();
  /** Names that `{{name}}` in a text may refer to. */
  private readonly values: ReadonlySet<string>;

  constructor(
    private readonly file: Agentfile,
    private readonly around: Surroundings,
    private readonly findings: Findings,
  ) {
    const works = [...file.agents, ...file.goals];
    this.values = new Set([
      ...file.inputs.map(({ name }) => name.text),
      ...file.goals.map(({ name }) => name.text),
      ...works.flatMap(({ outputs }) => outputs.map(({ text }) => text)),
    ]);
  }

  workflow(): TreeWorkflow {
    const { file, findings } = this;
    for (const { name } of file.inputs) checkName(name.text, 'name of an input', name.at, findings);
    this.declare(file.agents, 'agent', this.agents, (agent) => this.agent(agent));
    this.declare(file.goals, 'goal', this.goals, (goal) => this.goal(goal));
    this.checkAgents();
    const sequences = this.sequences();
    return {
      kind: 'workflow',
      ...this.name(),
      inputs: file.inputs.map(({ name, value }) => ({
        name: name.text,
        ...(value !== undefined && { default: value.text }),
        at: name.at,
      })),
      sequences,
      ...present({ supervision: file.supervision?.mode, budget: this.budget(), security: this.security() }),
      ...this.around.configuration.declared,
    };
  }

  private name(): { readonly name: string; readonly at: Position } {
    const { name } = this.file;
    const start = { file: this.around.file, line: 1, column: 1 };
    if (name === undefined) {
      const own = basename(this.around.file).replace(/\.[^.]*$/, '');
      this.findings.warning('no-name', `the file has no NAME and is called ${own}`, start, 'write NAME my-workflow');
      return { name: own, at: start };
    }
    checkName(name.text, 'name of a workflow', name.at, this.findings);
    return { name: name.text, at: name.at };
  }

  /** Declares statements by name. The first one with a name counts. */
  private declare<T>(
    statements: readonly WorkStatement[],
    what: string,
    into: Map<string, T>,
    make: (statement: WorkStatement) => T,
  ): void {
    for (const statement of statements) {
      const { text, at } = statement.name;
      checkName(text, `name of ${what === 'agent' ? 'an agent' : 'a goal'}`, at, this.findings);
      if (into.has(text)) {
        this.findings.error('duplicate-name', `the ${what} ${quoteShort(text)} stands twice`, at, 'rename one of them');
      } else into.set(text, make(statement));
    }
  }

  private agent(statement: WorkStatement): TreeAgent {
    const { name, outputs, requires, supervision } = statement;
    if (supervision !== undefined && supervision.mode !== 'off') {
      const message = `SUPERVISED on the agent ${quoteShort(name.text)} has no effect: agents are supervised as their goal is`;
      this.findings.warning('no-effect', message, supervision.at, 'write it after the goal');
    }
    const source = this.around.sources.get(statement);
    const override = { ...this.profile(requires), ...this.skill(source, statement) };
    return {
      kind: 'agent',
      name: name.text,
      prompt: this.text(statement, source),
      outputs: outputs.map(({ text }) => text),
      ...settingsOf(statement),
      ...(Object.keys(override).length > 0 && { override }),
      at: name.at,
    };
  }

  private goal(statement: WorkStatement): TreeGoal | TreeConvergence {
    const { kind, name, outputs, using, supervision } = statement;
    const source = this.around.sources.get(statement);
    const override = this.skill(source, statement);
    const work = {
      name: name.text,
      description: this.text(statement, source),
      using: using.flatMap((used) => this.used(used, 'agent', this.agents, [...this.file.goals])),
      outputs: outputs.map(({ text }) => text),
      ...present({ supervision: supervision?.mode }),
      ...settingsOf(statement),
      ...(Object.keys(override).length > 0 && { override }),
      at: name.at,
    };
    return kind === 'GOAL' ? { kind: 'goal', ...work } : { kind: 'convergence', ...work, ...this.within(statement) };
  }

  private within({ name, within }: WorkStatement): Pick<TreeConvergence, 'within' | 'withinVar'> {
    if (within === undefined) {
      const message = `CONVERGE ${name.text} without WITHIN`;
      this.findings.error('missing-value', message, name.at, 'write WITHIN 5 or WITHIN $rounds after it');
      return { within: 1 };
    }
    return 'number' in within ? { within: within.number } : { within: 0, withinVar: within.variable };
  }

  /** Returns the text of a statement. A skill's text is not searched for `$name`s, because it may hold code. */
  private text({ text, from, name }: WorkStatement, source: Source | undefined): string {
    const written = source?.text ?? text?.text ?? '';
    const at = text?.at ?? from?.at ?? name.at;
    // An unreadable source was reported before.
    if (written.trim() === '' && from !== undefined) return source === undefined ? '-' : '';
    checkMissing(written, at, this.findings);
    if (source?.skill !== undefined) return written.replaceAll('$', '$$$$');
    if (!written.includes('{{')) return written;
    for (const inner of new Set([...written.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, word = '']) => word))) {
      const hint = this.values.has(inner) ? `did you mean $${inner}?` : 'write $name to insert a value';
      this.findings.warning('old-reference', `{{${inner}}} stays as it is written`, at, hint);
    }
    return written;
  }

  private profile(requires: Written | undefined): ChosenModel {
    if (requires === undefined) return {};
    const { profiles } = this.around.configuration;
    const profile = profiles.get(requires.text);
    if (profile !== undefined) return profile;
    const hint =
      this.findings.near(requires.text, profiles.keys()) ??
      `add [profiles.${requires.text}] with model = "provider/model" to agent.toml, or name a file with --config`;
    this.findings.error('unknown-profile', `there is no profile ${quoteShort(requires.text)}`, requires.at, hint);
    return {};
  }

  private skill(source: Source | undefined, { from, name }: WorkStatement): TreeOverride {
    const skill = source?.skill;
    if (source === undefined || skill === undefined) return {};
    const at = from?.at ?? name.at;
    const { allowed } = skill;
    return {
      ...(allowed && narrowed(this.around.offered, allowed, skill.name, at, this.findings)),
      ...present({
        systemContext: skillContext(source),
        extraDirs: skill.parts.length === 0 ? undefined : [skill.folder],
      }),
    };
  }

  private used<T>(
    { text, at }: Written,
    what: string,
    known: ReadonlyMap<string, T>,
    others: readonly WorkStatement[],
  ): readonly T[] {
    const found = known.get(text);
    if (found !== undefined) return [found];
    if (this.file.refused.has(text)) return [];
    const other = others.find(({ name }) => name.text === text);
    const hint =
      other === undefined
        ? (this.findings.near(text, known.keys()) ?? `declare it: ${what.toUpperCase()} ${text} "..."`)
        : `${text} is ${other.kind === 'AGENT' ? 'an AGENT: only a GOAL or CONVERGE can use it' : 'a goal: only RUN can use it'}`;
    this.findings.error('unknown-name', `there is no ${what} ${quoteShort(text)}`, at, hint);
    return [];
  }

  private sequences(): readonly TreeSequence[] {
    const { runs, goals } = this.file;
    const all = [...this.goals.values()];
    if (all.length === 0) {
      const start = { file: this.around.file, line: 1, column: 1 };
      this.findings.error('no-goal', 'the file has no GOAL or CONVERGE', start, 'write GOAL name "what to do"');
      return [];
    }
    if (runs.length === 0) {
      const at = this.file.name?.at ?? goals[0]?.at;
      const message = 'no RUN: all goals run in the order of the file';
      const hint = `write RUN main USING ${all.map(({ name }) => name).join(', ')}`;
      this.findings.warning('no-run', message, at, hint);
      return [{ kind: 'sequence', name: 'main', steps: all, ...present({ at }) }];
    }
    const used = new Set(runs.flatMap(({ using }) => using.map(({ text }) => text)));
    for (const { name, kind } of goals) {
      if (used.has(name.text)) continue;
      const message = `no RUN names ${kind} ${name.text}: it does not run`;
      this.findings.warning('not-run', message, name.at, `add it to the USING of a RUN`);
    }
    return runs.flatMap(({ name, at, using, security, supervision }) => {
      checkName(name.text, 'name of a RUN', name.at, this.findings);
      if (using.length === 0) {
        const message = `RUN ${name.text} without USING`;
        this.findings.error('missing-value', message, name.at, 'write USING goal, goal');
      }
      const steps = using.flatMap((goal) => this.used(goal, 'goal', this.goals, this.file.agents));
      // The missing steps were reported before.
      if (steps.length === 0) return [];
      const own = present({ supervision: supervision?.mode, security: security?.security });
      return [{ kind: 'sequence', name: name.text, steps, ...own, at }];
    });
  }

  /** Reports agents that opt out of a person's approval: that is not allowed. */
  private checkAgents(): void {
    const { agents, goals, runs, supervision } = this.file;
    for (const { name, supervision: own } of agents) {
      if (own?.mode !== 'off') continue;
      const users = goals.filter(({ using }) => using.some(({ text }) => text === name.text));
      const above = runs.filter(({ using }) => using.some(({ text }) => users.some((goal) => goal.name.text === text)));
      if ([{ supervision }, ...users, ...above].some((one) => one.supervision?.mode === 'human')) {
        const message = `UNSUPERVISED on the agent ${quoteShort(name.text)} stands below a person's approval`;
        this.findings.error('human-gate', message, own.at, 'remove it, or SUPERVISED HUMAN above it');
      } else
        this.findings.warning(
          'no-effect',
          `UNSUPERVISED on the agent ${quoteShort(name.text)} has no effect`,
          own.at,
          'write it after the goal',
        );
    }
  }

  private budget(): Budget | undefined {
    const own = this.file.budget?.budget;
    const { budget } = this.around.configuration;
    return own === undefined ? budget : { ...budget, ...own };
  }

  /** Returns the stricter security of the file and the configuration. Problem code: `lowered-security`. */
  private security(): Security | undefined {
    const { security: written } = this.file;
    const { security: configured } = this.around.configuration;
    const own = written?.security;
    if (own?.mode === 'research' && configured?.mode === 'research' && own.scope !== configured.scope) {
      const message = 'SECURITY and the configuration disagree about what may be investigated';
      this.findings.error('lowered-security', message, written?.at, 'let one of the two say it');
    }
    return raised(configured, own);
  }
}

function settingsOf({ budget, security, endorsed }: WorkStatement): Pick<TreeAgent, 'budget' | 'security' | 'endorse'> {
  const endorse = endorsed === true ? ('person' as const) : undefined;
  return present({ budget: budget?.budget, security: security?.security, endorse });
}
