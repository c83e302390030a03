import { present } from '../../../base/json.js';
import type { SourceFile } from '../../../plan/workflow.js';
import { DECLARED } from '../../../plan/declarations.js';
import {
  walkTree,
  type TreeAgent,
  type TreeConvergence,
  type TreeGoal,
  type TreeOverride,
  type TreeStep,
  type TreeWorkflow,
} from '../../tree/definition.js';

const SUPERVISION = { model: '.supervise()', human: '.superviseByHuman()', off: '.unsupervised()' } as const;

/** Writes the tree of an Agentfile as a module for `skein/tree`: a constant for each agent and goal, below its comments. */
export function treeCode(tree: TreeWorkflow, defaults: TreeOverride, source: SourceFile): string {
  const comments = commentsOf(source.text);
  const names = namesOf(tree);
  const constants = [...names].map(([step, name]) => {
    const above = (comments.get(step.at?.line ?? 0) ?? []).map((line) => `${line}\n`).join('');
    return `${above}const ${name} = ${stepCode(step, names)};\n`;
  });
  const used = ['workflow', 'sequence', ...new Set([...names.keys()].map(({ kind }) => kind))].toSorted();
  const { settings, cache, ...given } = defaults;
  const custom = present({ settings, cache });
  const sequences = tree.sequences.map(({ name, steps, supervision, security, at }) => {
    const above = (comments.get(at?.line ?? 0) ?? []).map((line) => `    ${line}\n`).join('');
    const inside = steps.map((step) => names.get(step) ?? '').join(', ');
    const own = Object.keys(custom).length === 0 ? '' : `.customize(${literal(custom)})`;
    return `${above}    sequence(${literal(name)})${supervisionCode(supervision)}${securityCode({ security })}.steps(${inside})${own},\n`;
  });
  return [
    (comments.get(tree.at?.line ?? 0) ?? []).map((line) => `${line}\n`).join(''),
    `import { ${used.join(', ')} } from 'skein/tree';\n\n`,
    constants.join('\n'),
    `\nexport default workflow(${literal(tree.name)})${supervisionCode(tree.supervision)}${budgetCode(tree.budget)}${securityCode(tree)}${declaredCode(tree)}${inputsCode(tree)}\n`,
    `  .add(\n${sequences.join('')}  );\n`,
    `\n/** What \`skein run\` takes for it: the model and the tools of the configuration. */\nexport const runtime = ${literal(runtimeOf(given))};\n`,
  ].join('');
}

/** Names the constant of each agent and goal, in an order in which used steps come first. */
function namesOf(tree: TreeWorkflow): ReadonlyMap<TreeStep, string> {
  const steps = [...walkTree(tree)].filter((node) => node.kind !== 'workflow' && node.kind !== 'sequence');
  const ordered = [...steps.filter(({ kind }) => kind === 'agent'), ...steps.filter(({ kind }) => kind !== 'agent')];
  const taken = new Set<string>();
  const names = new Map<TreeStep, string>();
  for (const step of ordered) {
    if (names.has(step)) continue;
    const base = `${step.kind === 'agent' ? 'agent' : 'goal'}_${step.name.replaceAll(/[^A-Za-z0-9_]/g, '_')}`;
    let name = base;
    for (let count = 2; taken.has(name); count += 1) name = `${base}_${count}`;
    taken.add(name);
    names.set(step, name);
  }
  return names;
}

function stepCode(step: TreeStep, names: ReadonlyMap<TreeStep, string>): string {
  const outputs = step.outputs.length === 0 ? '' : `.withOutputs(${step.outputs.map(literal).join(', ')})`;
  const customized = step.override === undefined ? '' : `.customize(${literal(runtimeOf(step.override))})`;
  const own = `${customized}${budgetCode(step.budget)}${securityCode(step)}${endorseCode(step)}`;
  if (step.kind === 'agent') return `${agentCode(step)}${outputs}${own}`;
  const using = step.using.map((one) => names.get(one) ?? '');
  const team = using.length === 0 ? '' : `.using(${using.join(', ')})`;
  return `${workCode(step)}${team}${outputs}${supervisionCode(step.supervision)}${own}`;
}

function agentCode({ name, prompt }: TreeAgent): string {
  return `agent(${literal(name)}, ${textCode(prompt)})`;
}

function workCode(work: TreeGoal | TreeConvergence): string {
  const start = `${literal(work.name)}, ${textCode(work.description)}`;
  if (work.kind === 'goal') return `goal(${start})`;
  const variable = work.withinVar === undefined ? '' : `.withinVar(${literal(work.withinVar)})`;
  return `convergence(${start}, ${work.within})${variable}`;
}

function supervisionCode(mode: keyof typeof SUPERVISION | undefined): string {
  return mode === undefined ? '' : SUPERVISION[mode];
}

function budgetCode(budget: TreeStep['budget']): string {
  return budget === undefined ? '' : `.budget(${literal(budget)})`;
}

function endorseCode({ endorse }: TreeStep): string {
  return endorse === undefined ? '' : `.endorse(${literal(endorse)})`;
}

function securityCode({ security }: { readonly security?: TreeWorkflow['security'] | undefined }): string {
  if (security === undefined) return '';
  const { mode, ...more } = security;
  return `.security(${literal(Object.keys(more).length === 0 ? mode : security)})`;
}

function declaredCode(tree: TreeWorkflow): string {
  return DECLARED.map((key) => {
    const entries = tree[key];
    return entries === undefined ? '' : `\n  .${key}(${entries.map((one) => literal(one)).join(', ')})`;
  }).join('');
}

function inputsCode({ inputs }: TreeWorkflow): string {
  const each = inputs.map(({ name, default: preset }) =>
    literal(preset === undefined ? name : { name, default: preset }),
  );
  return each.length === 0 ? '' : `\n  .input(${each.join(', ')})`;
}

/** Converts an override to the option names of `skein/tree`. */
function runtimeOf({ mcpServers, permissions, ...rest }: TreeOverride): Readonly<Record<string, unknown>> {
  return {
    ...rest,
    ...present({ mcp: mcpServers, policy: permissions }),
  };
}

/** Writes a text as code. Line breaks are kept. */
function textCode(text: string): string {
  if (!text.includes('\n') || text.includes('\r')) return literal(text);
  return `\`${text.replaceAll(/[\\`]|\$(?=\{)/g, String.raw`\$&`)}\``;
}

/** Writes a value as code: JSON, except for quotes around names that need none. */
function literal(value: unknown): string {
  if (typeof value === 'string') return stringCode(value);
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  const fields = entries.map(([key, one]) => `${/^[A-Za-z_]\w*$/.test(key) ? key : stringCode(key)}: ${literal(one)}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

function stringCode(text: string): string {
  const inside = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replaceAll("'", String.raw`\'`);
  return `'${inside.replaceAll('\u2028', String.raw`\u2028`).replaceAll('\u2029', String.raw`\u2029`)}'`;
}

/** Returns the comments directly above each line of an Agentfile, as comments of code. */
function commentsOf(text: string): ReadonlyMap<number, readonly string[]> {
  const comments = new Map<number, readonly string[]>();
  let above: string[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    const comment = /^[ \t]*#[ \t]?(.*?)\r?$/.exec(line);
    if (comment !== null) above.push(`// ${comment[1] ?? ''}`.trimEnd());
    else if (line.trim() !== '' && above.length > 0) {
      comments.set(at + 1, above);
      above = [];
    }
  }
  return comments;
}
