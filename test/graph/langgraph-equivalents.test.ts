import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../examples/support/run-example.js';
import { promisedOutput, runSnippet } from '../examples/support/run-snippet.js';

const PAGE = await readFile(join(ROOT, 'docs/coming-from-langgraph.md'), 'utf8');

/** A row of the table: what it is called there, and the section that shows what it is here. */
interface Row {
  readonly theirs: string;
  readonly section: string;
}

const LINES = PAGE.split('\n').filter((line) => line.startsWith('| ') && !/^\| (?:LangGraph\.js|-+) /.test(line));
const ROWS = LINES.map((line): Row => {
  const found = /^\| \[(.+?)\]\(#([\w-]+)\) +\|/.exec(line);
  if (found === null) throw new Error(`a row without a link to its snippet: ${line}`);
  return { theirs: found[1] ?? '', section: found[2] ?? '' };
});

/** The code of each section, by the anchor of its heading. */
const SNIPPETS = new Map(
  PAGE.split(/^### /m)
    .slice(1)
    .map((section) => {
      const [heading = '', ...rest] = section.split('\n');
      const code = /^```ts\n([\s\S]*?)^```$/m.exec(rest.join('\n'))?.[1] ?? '';
      return [heading.toLowerCase().replaceAll(' ', '-'), code] as const;
    }),
);

describe('what LangGraph.js has, and what it is here', () => {
  test.each(ROWS)('$theirs', async ({ section }) => {
    const snippet = SNIPPETS.get(section) ?? '';
    expect(snippet, `a snippet under the heading of #${section}`).not.toBe('');
    expect(promisedOutput(snippet), 'what it prints').not.toEqual([]);
    expect(await runSnippet(snippet)).toEqual(promisedOutput(snippet));
  });

  test('every row has a snippet of its own, and every snippet a row', () => {
    expect(ROWS.map(({ section }) => section)).toEqual([...SNIPPETS.keys()]);
    expect(new Set(ROWS.map(({ theirs }) => theirs)).size).toBe(ROWS.length);
  });

  test.each([
    'StateGraph',
    'StateSchema',
    'Annotation',
    'Overwrite',
    'MessagesAnnotation',
    'RemoveMessage',
    'addNode',
    'addSequence',
    'START, setEntryPoint',
    "addEdge(['a', 'b'], 'c')",
    'addConditionalEdges',
    'addConditionalEdges(START',
    'defer: true',
    'Command({ goto, update })',
    'Command.PARENT',
    'Send, each with a state of its own',
    'retryPolicy',
    'retryOn',
    'stepTimeout',
    'errorHandler',
    'setNodeDefaults',
    'recursionLimit',
    'RemainingSteps',
    'compile()',
    'invoke',
    'batch',
    'streamMode',
    "streamMode: 'values', 'updates'",
    "streamMode: 'messages'",
    "streamMode: 'debug'",
    "streamMode: 'custom'",
    'streamEvents',
    'config.signal',
    'requestDrain',
    'config.configurable, context',
    'MemorySaver',
    'SqliteSaver',
    'durability',
    'conversation',
    'thread_id',
    'getPreviousState',
    'entrypoint.final',
    'multitaskStrategy',
    'getState',
    'getStateHistory',
    'getState().next',
    'updateState',
    'bulkUpdateState',
    'time travel',
    'graph migrations',
    'cachePolicy',
    'functional API: entrypoint, task',
    'interrupt',
    'Command({ resume })',
    'interrupt in a tool',
    'interruptBefore',
    'subgraph',
    'shared keys',
    'private state',
    'output schema',
    'ToolNode',
    'createReactAgent',
    'responseFormat',
    'createSupervisor',
    'createSwarm',
    'asTool',
    'drawMermaid',
  ])('%s has a row', (name) => {
    expect(ROWS.some(({ theirs }) => theirs.replaceAll('`', '').includes(name))).toBe(true);
  });
});
