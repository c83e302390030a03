import type { Command } from 'commander';
import type { ProviderReport } from '../../agent/index.js';
import { isAtLeast } from '../../base/text.js';
import { EXIT } from '../failures.js';
import { gitOutput } from '../run/last-commit.js';
import { OUTSIDE_OF_SANDBOX } from '../run/workflow-powers.js';
import { sqliteHere } from '../run/open-store.js';
import { openedPolicies } from '../run/project.js';
import { jsonText, printable } from '../view/printable.js';
import { printResult } from '../view/streams.js';
import { styleFor, wantsColor, type Style } from '../view/style.js';
import { versionNumber } from '../own-package.js';
import { messageOf } from '../../base/thrown.js';

type Diagnosis = Awaited<ReturnType<typeof diagnose>>;

const NEEDED = '20.19.0';

/** `skein doctor`. */
export function define(command: Command, done: (code: number) => void): void {
  command
    .option('--json', 'print one JSON document')
    .option('--no-color', 'no colours')
    .action(async (options: { readonly json?: boolean; readonly color: boolean }) => {
      const diagnosis = await diagnose(options.color);
      const style = styleFor(process.stdout, options.color);
      printResult(options.json === true ? jsonText(diagnosis) : lines(diagnosis, style).join('\n'));
      done(diagnosis.node.ok ? EXIT.ok : EXIT.usage);
    });
}

/** Checks what this machine provides. */
async function diagnose(color: boolean) {
  const [{ BUILT_IN_TOOLS, READ_ONLY_TOOLS }, { describeProviders, describeSandbox }] = await Promise.all([
    import('../../plan.js'),
    import('../../agent/index.js'),
  ]);
  const [providers, gitVersion, found, sandbox] = await Promise.all([
    describeProviders(process.env),
    gitOutput(process.cwd(), ['--version']),
    sqliteHere(),
    describeSandbox(),
  ]);
  const version = process.versions.node;
  return {
    skein: versionNumber(),
    node: { version, needed: NEEDED, ok: isAtLeast(version, NEEDED) },
    // The SQLite that records runs, or why it can't be used.
    sqlite: 'driver' in found ? found : { problem: `${found.message}: ${found.hint ?? ''}` },
    git: gitVersion?.trim().replace(/^git version /, ''),
    // The sandbox for programs of workflows that require one, or how to get one on this machine.
    sandbox,
    terminal: {
      stdin: process.stdin.isTTY,
      stdout: process.stdout.isTTY,
      stderr: process.stderr.isTTY,
      colors: wantsColor(process.stderr, process.env, color),
    },
    providers,
    // What agents may do in this folder, whatever their files declare.
    policies: await policiesHere(),
    // The tools that an agent has without a list, and those it must name.
    tools: { always: READ_ONLY_TOOLS, named: BUILT_IN_TOOLS.filter((tool) => !READ_ONLY_TOOLS.includes(tool)) },
  };
}

/** The policies in effect, or what is wrong with them. */
async function policiesHere() {
  try {
    return { files: (await openedPolicies(undefined, process.cwd())).map(({ file }) => file) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

function lines(
  { skein, node, sqlite, git, sandbox, terminal, providers, tools, policies }: Diagnosis,
  style: Style,
): readonly string[] {
  const mark = (ok: boolean): string => (ok ? style.good(style.signs.done) : style.warn(style.signs.skipped));
  const width = Math.max(...providers.map((provider) => provider.id.length));
  const usable = providers.filter((provider) => provider.usable);
  return [
    `skein ${skein}`,
    `${mark(node.ok)} Node ${node.version}${node.ok ? '' : `, ${node.needed} or later is needed`}`,
    'problem' in sqlite
      ? `${mark(false)} runs can't be recorded: ${sqlite.problem}`
      : `${mark(true)} SQLite ${sqlite.version} by ${sqlite.driver}`,
    `${mark(git !== undefined)} git ${git ?? 'is not installed; skein demo then uses a diff that comes with it'}`,
    ...('problem' in sandbox
      ? [`${mark(false)} sandbox for programs: none; ${sandbox.problem}`, `  not promised: ${OUTSIDE_OF_SANDBOX}`]
      : [`${mark(true)} sandbox for programs: ${sandbox.by}, where a workflow asks for it; ${OUTSIDE_OF_SANDBOX}`]),
    `${mark(terminal.stdin && terminal.stderr)} terminal: ${terminalText(terminal)}`,
    'problem' in policies
      ? `${mark(false)} ${printable(policies.problem)}`
      : `${mark(true)} policies: ${policies.files.length === 0 ? 'none' : printable(policies.files.join(', '))}`,
    '',
    'providers:',
    ...providers.map((provider) => `${mark(provider.usable)} ${provider.id.padEnd(width)}  ${providerText(provider)}`),
    '',
    `tools of every agent: ${tools.always.join(', ')}; of agents that name them: ${tools.named.join(', ')}`,
    'tool calls that a person must allow are asked about on a terminal; elsewhere they pause the run, unless --yes allows them',
    'tool servers (MCP): programs on this machine, and addresses that speak streamable HTTP',
    '',
    usable.length === 0
      ? 'no provider is usable here yet; everything works without one: skein run FILE --mock, skein demo'
      : `usable: ${usable.map((provider) => provider.id).join(', ')}; and without any: skein run FILE --mock`,
  ];
}

function terminalText({ stdin, stderr, colors }: Diagnosis['terminal']): string {
  if (!stdin || !stderr) return 'no, so a question pauses the run and progress is plain lines';
  return colors ? 'yes, with colours' : 'yes, without colours';
}

function providerText({ usable, key, baseUrl, models, hint }: ProviderReport): string {
  const parts = [
    usable ? 'usable' : `not usable: ${hint ?? ''}`,
    key?.set === true ? `${key.variable} is set` : '',
    usable && baseUrl !== undefined ? baseUrl : '',
    models === undefined ? '' : `models: ${models.length === 0 ? 'none' : models.slice(0, 5).join(', ')}`,
  ];
  return printable(parts.filter((part) => part !== '').join('; '));
}
