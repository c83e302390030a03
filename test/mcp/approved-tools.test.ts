import { expect, it } from 'vitest';
import { folder, groupRuns, session, until } from '../tools/support/session.js';
import { pidFile, toolServer } from './support.js';

async function gated(approve: readonly string[], tools: readonly string[] = ['orders', 'shell']) {
  const mcpServers = { orders: toolServer('tools=echo,parts') };
  const { source } = await session({ mcpServers, tools, approve }, { cwd: await folder() });
  return source.tools.filter((tool) => tool.approve === true).map((tool) => tool.name);
}

it.each([
  [['orders/echo'], ['mcp_orders_echo']],
  [['mcp_orders_parts'], ['mcp_orders_parts']],
  [['orders/*'], ['mcp_orders_echo', 'mcp_orders_parts']],
  [['*'], ['shell', 'mcp_orders_echo', 'mcp_orders_parts']],
])('approve: %j gates %j', async (approve, expected) => {
  expect([...(await gated(approve))].toSorted()).toEqual(expected.toSorted());
});

it('a name that the server does not offer fails, and the server is ended', async () => {
  const { path, pid } = await pidFile();
  const mcpServers = { orders: toolServer('tools=echo', `pids=${path}`) };
  const opening = session({ mcpServers, tools: ['orders'], approve: ['orders/ecko'] }, { cwd: await folder() });
  await expect(opening).rejects.toMatchObject({
    code: 'SKEIN_DEFINITION',
    message: 'agent tester: approve names orders/ecko, which its MCP servers do not offer',
  });
  const group = await pid();
  await until(async () => !(await groupRuns(group)));
});

it('servers that are not used are not asked', async () => {
  expect(await gated(['orders/ecko', 'shell'], ['shell'])).toEqual(['shell']);
});
