import { expect, test } from 'vitest';
import { agentSession } from '../../src/agent/session.js';
import type { ToolSource } from '../../src/agent/tool.js';
import { modelOf } from './support/counted-agent.js';
import { agentNode, fakeStep } from './support/step.js';

/** A session whose tools are opened by `open`. */
function sessionOf(open: () => Promise<ToolSource>) {
  const node = agentNode({ models: ['own/m'] });
  const models = { resolve: async () => [modelOf('own/m', [], [])] };
  return agentSession({ models, tools: { open }, spec: node.agent, step: fakeStep(node) });
}

test('what could not be opened is opened by a later effect; what was opened is not opened again', async () => {
  let tries = 0;
  const session = sessionOf(async () => {
    tries += 1;
    if (tries === 1) throw new Error('the server is not up yet');
    return { tools: [], close: async () => undefined };
  });
  const effect = new AbortController();
  await expect(session.open(effect)).rejects.toThrow('not up yet');
  const opened = await session.open(effect);
  await session.use(effect, opened);
  expect([opened.models.map(({ id }) => id), tries]).toEqual([['own/m'], 2]);
});

test('a session that is closed while it opens frees what comes, and refuses the effect', async () => {
  let arrive: ((source: ToolSource) => void) | undefined;
  let closed = 0;
  const coming = new Promise<ToolSource>((resolve) => {
    arrive = resolve;
  });
  const session = sessionOf(() => coming);
  const opening = session.open(new AbortController());
  await session.close();
  arrive?.({
    tools: [],
    close: async () => {
      closed += 1;
    },
  });
  await expect(opening).rejects.toMatchObject({ code: 'SKEIN_CANCELLED' });
  expect(closed).toBe(1);
});
