import type { Question } from '../../../src/engine/ports/durable.js';
import { isApproval } from '../../../src/agent/loop/approval.js';
import type { ToolCall } from '../../../src/agent/model.js';
import type { Tool } from '../../../src/agent/tool.js';
import { createAsker } from '../../../src/cli/run/questions.js';
import type { View } from '../../../src/cli/view/view.js';
import type { CustomGuard } from '../../../src/guard/custom-guard.js';
import type { Security } from '../../../src/plan/security.js';
import type { GuardRules } from '../../../src/guard/decide.js';
import type { SandboxUse } from '../../../src/plan/agent-spec.js';
import type { BuiltInTool } from '../../../src/plan/built-in-tools.js';
import { BUILT_IN } from '../../../src/plan/built-in-tools.js';
import { Given, typedAnswer } from '../../../src/running.js';
import type { CountedRun, Judge, Said } from '../../agent/support/counted-agent.js';
import { countedRun } from '../../agent/support/counted-agent.js';

/** What tools were called, in truth. */
export interface Recorder {
  readonly made: { readonly name: string; readonly input: string }[];
  /** A tool of the server `kit`. */
  readonly server: (tool: string, more: { readonly readOnly: boolean; readonly gives?: string }) => Tool;
  /** A built-in tool that does nothing but note its calls. */
  readonly builtIn: (tool: BuiltInTool, gives?: string, more?: Partial<Tool>) => Tool;
}

/** Tools that note what is called, and do nothing. */
export function recorder(): Recorder {
  const made: Recorder['made'] = [];
  const note = (name: string, input: unknown): number => made.push({ name, input: JSON.stringify(input) });
  return {
    made,
    server: (tool, { readOnly, gives = `${tool} done` }) => ({
      name: `mcp_kit_${tool}`,
      description: tool,
      inputSchema: { type: 'object' },
      effect: 'once',
      trust: 'untrusted',
      origin: { server: 'kit', tool, ...(readOnly ? { readOnly } : {}) },
      execute: (input) => (note(`kit/${tool}`, input), gives),
    }),
    builtIn: (tool, gives = `${tool} done`, more = {}) => ({
      name: tool,
      description: tool,
      inputSchema: { type: 'object' },
      effect: BUILT_IN[tool].effect,
      trust: BUILT_IN[tool].trust,
      execute: (input) => (note(tool, input), gives),
      ...more,
    }),
  };
}

/** A call as a model writes it. */
export function calls(...list: readonly (readonly [name: string, input: object])[]): Said {
  return { calls: list.map(([name, input]) => [name, JSON.stringify(input)] as const) };
}

/** Nobody at a terminal, and `--yes` given. */
const asker = createAsker({
  view: {} as View,
  readLine: typedAnswer,
  isRecorded: () => true,
  yes: true,
  isApproval,
  given: Given,
});
const yesFlag = async (question: Question, address: string): Promise<unknown> => {
  const answer = await asker(question, address, new AbortController().signal, () => []);
  return answer instanceof Given ? answer.value : answer;
};

/** Runs an agent with these tools, all granted, and each of its turns told. Questions of the guard are counted. */
export async function guardedRun(options: {
  readonly said: readonly Said[];
  readonly tools: readonly Tool[];
  readonly named: readonly string[];
  readonly rules?: GuardRules;
  readonly sandbox?: SandboxUse | undefined;
  readonly security?: Security | undefined;
  readonly guards?: readonly CustomGuard[];
  /** What a model says that looks at a call. */
  readonly judge?: Judge | undefined;
  readonly deny?: readonly string[];
  /** What a person says to the guard; undefined: nobody is there. */
  readonly person?: (calls: readonly ToolCall['name'][]) => 'allow' | 'deny' | undefined;
}): Promise<{ readonly run: CountedRun; readonly questions: readonly Question[] }> {
  const { said, tools, named, rules, sandbox, person, deny } = options;
  const { security, guards, judge } = options;
  const questions: Question[] = [];
  const run = await countedRun({
    said: [...said, { text: 'Done.' }],
    tools,
    security,
    guards,
    judge,
    ...(rules === undefined ? {} : { rules }),
    spec: {
      tools: [...named, 'kit/*', 'shell', 'write_file', 'fetch'],
      mcpServers: { kit: { command: 'kit' } },
      permissions: { allow: ['*'], ...(deny === undefined ? {} : { deny }) },
      maxTurns: 200,
      maxToolCalls: 500,
      ...(sandbox === undefined ? {} : { sandbox }),
    },
    answer: (question, name) => {
      if (!name.includes('guard#')) return yesFlag(question, `review@${name}`);
      questions.push(question);
      return person?.(callsIn(question).map(({ tool }) => tool)) ?? yesFlag(question, `review@${name}`);
    },
  });
  return { run, questions };
}

/** The calls that a question of the guard shows. */
export function callsIn({ evidence }: Question): readonly { readonly tool: string; readonly why?: string }[] {
  const shown = evidence as { readonly calls?: readonly { readonly tool: string }[]; readonly tool: string };
  return shown.calls ?? [shown];
}
