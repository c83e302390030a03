import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { definePlan } from '../../src/index.js';
import type { ArgumentKind, BuiltInTool } from '../../src/plan/built-in-tools.js';
import { BUILT_IN, BUILT_IN_TOOLS, takes } from '../../src/plan/built-in-tools.js';
import { permissionCheck } from '../../src/agent/permissions/permissions.js';
import { powersOf } from '../../src/plan/powers.js';
import { selectTools } from '../../src/plan/tool-names.js';
import type { JsonObject } from '../../src/base/json.js';
import { folder, io, session } from './support/session.js';

/** What is true of all tools that are built in, also of those that come. What fails here names what was forgotten. */

const DOCS = readFileSync(join(import.meta.dirname, '../../docs/tools.md'), 'utf8');

/** Cells of the row of a table of the docs whose first cell is the tool. */
function row(heading: string, tool: string): readonly string[] | undefined {
  const table = DOCS.slice(DOCS.indexOf(heading)).split('\n\n');
  const line = table
    .join('\n')
    .split('\n')
    .find((one) => one.startsWith(`| \`${tool}\``));
  return line?.split('|').map((cell) => cell.trim());
}

function inTicks(cell = ''): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name).toSorted();
}

function argumentsOf(kind: ArgumentKind): readonly (readonly [BuiltInTool, string])[] {
  return BUILT_IN_TOOLS.flatMap((tool) =>
    Object.entries(BUILT_IN[tool].arguments).flatMap(([name, one]) =>
      one.kind === kind ? [[tool, name] as const] : [],
    ),
  );
}

const verdict = (rule: string, tool: BuiltInTool, input: JsonObject) =>
  permissionCheck(
    { deny: [rule] },
    { agent: 'root', cwd: '/project' },
  )({ name: tool, input, tool: { effect: 'once' } });

describe.each(BUILT_IN_TOOLS)('the built-in tool %s', (tool) => {
  it('has a row in docs/tools.md with its other names', () => {
    const { aliases, headings } = BUILT_IN[tool];
    const alone = headings.filter((name) => selectTools([name], []).builtIn.size === 1);
    expect(inTicks(row('### Searching and other names', tool)?.[2])).toEqual([...aliases, ...alone].toSorted());
  });

  it('requires and renames only arguments that it has', () => {
    const { arguments: all, required } = BUILT_IN[tool];
    expect(Object.keys(all)).toEqual(expect.arrayContaining([...required]));
    const others = Object.values(all).flatMap(({ also = [] }) => also);
    expect(new Set([...others, ...Object.keys(all)]).size).toBe(others.length + Object.keys(all).length);
  });

  it('shares no alias with another tool', () => {
    for (const name of BUILT_IN[tool].aliases) expect([...selectTools([name], []).builtIn]).toEqual([[name, tool]]);
  });
});

describe('the kind of an argument', () => {
  it.each(argumentsOf('address'))('address: %s:%s is denied in any spelling', (tool, name) => {
    const input = { [name]: 'HTTPS://Internal.Example:443/a/../secret' };
    expect(verdict(`${tool}:${name}=https://internal.example/secret`, tool, input).kind).toBe('deny');
    expect(verdict(`${tool}:${name}=https://other.example/*`, tool, input).kind).toBe('ask');
  });

  it.each(argumentsOf('path'))('path: %s:%s is denied in any spelling', (tool, name) => {
    for (const path of ['secret/key', './secret/../secret/key', '/project/secret/key']) {
      expect(verdict(`${tool}:${name}=secret/*`, tool, { [name]: path }).kind).toBe('deny');
    }
  });

  it.each(argumentsOf('command'))('command: %s:%s is denied in any spelling', (tool, name) => {
    const isList = BUILT_IN[tool].arguments[name]?.schema['type'] === 'array';
    const input = { [name]: isList ? ['/bin/rm', '-r', 'x'] : "/bin/'rm'  -r x" };
    for (const rule of ['cmd', name]) expect(verdict(`${tool}:${rule}=rm *`, tool, input).kind).toBe('deny');
  });

  it.each(BUILT_IN_TOOLS.filter((tool) => takes(tool, 'address') || takes(tool, 'command')))(
    '%s is told as a power, and stands still in a run without models',
    async (tool) => {
      const node = { id: 'a', kind: 'agent', agent: { name: 'a', tools: [tool] }, prompt: 'go' } as const;
      const kinds = powersOf(definePlan({ name: 'p', nodes: [node] }).plan).map(({ kind }) => kind);
      expect(kinds).toEqual([
        ...(takes(tool, 'command') ? ['starts'] : []),
        ...(takes(tool, 'address') ? ['reaches'] : []),
      ]);
      const mock = {
        calls: () => Promise.resolve([]),
        result: () => Promise.resolve(undefined),
        isReal: () => Promise.resolve(false),
      };
      const { tool: opened } = await session({ tools: [tool] }, { cwd: await folder(), mock });
      expect(await opened(tool).execute({}, io())).toContain('not run');
    },
  );
});
