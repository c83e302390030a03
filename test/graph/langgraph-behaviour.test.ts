import { describe, expect, test } from 'vitest';
import { FEATURES } from './langgraph-behaviour/behaviour.js';
import type { Behaviour } from './langgraph-behaviour/behaviour.js';
import { CONVERSATIONS } from './langgraph-behaviour/conversations.js';
import { DURABILITY } from './langgraph-behaviour/durability.js';
import { EDITS } from './langgraph-behaviour/edits.js';
import { FAILURES } from './langgraph-behaviour/failures.js';
import { INTERRUPTS } from './langgraph-behaviour/interrupts.js';
import { JOINS } from './langgraph-behaviour/joins.js';
import { PARENTS } from './langgraph-behaviour/parents.js';
import { RETRIES } from './langgraph-behaviour/retries.js';
import { SENDS } from './langgraph-behaviour/sends.js';
import { STREAMS } from './langgraph-behaviour/streams.js';
import { STRUCTURE } from './langgraph-behaviour/structure.js';
import { SUBGRAPHS } from './langgraph-behaviour/subgraphs.js';
import { TASKS } from './langgraph-behaviour/tasks.js';
import { TOOLS } from './langgraph-behaviour/tools.js';

/** What LangGraph.js' own tests say of its features, with graphs, names and figures of our own. */
const TABLE: readonly Behaviour[] = [
  ...CONVERSATIONS,
  ...DURABILITY,
  ...EDITS,
  ...FAILURES,
  ...INTERRUPTS,
  ...JOINS,
  ...PARENTS,
  ...RETRIES,
  ...SENDS,
  ...STREAMS,
  ...STRUCTURE,
  ...SUBGRAPHS,
  ...TASKS,
  ...TOOLS,
];

const titleOf = ({ what, verdict, from }: Behaviour): string =>
  `${what}: ${verdict === 'same' ? 'same' : `differs: ${verdict.differs}`} (${from})`;

describe.each(FEATURES)('%s', (feature) => {
  const rows = TABLE.filter((row) => row.feature === feature);

  test('has rows', () => {
    expect(rows).not.toEqual([]);
  });

  test.each(rows.map((row) => [titleOf(row), row] as const))('%s', async (_title, row) => {
    expect(await row.run()).toEqual(row.gives);
  });
});

test('at least 40 published behaviours, each one once', () => {
  expect(TABLE.length).toBeGreaterThanOrEqual(40);
  expect(new Set(TABLE.map(({ what }) => what)).size).toBe(TABLE.length);
});
