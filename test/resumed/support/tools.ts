import { tool } from 'skein/graph';
import { placeOf } from '../../../src/plan/tool-use.js';
import { numberOf } from './drawing.js';
import type { World } from './world.js';

const WHAT = { type: 'object', properties: { q: { type: 'string' } } } as const;

/** The tools of a program in code: one may be called once only, one reads and fails now and then, one asks a person first. */
export function toolsOf(its: World) {
  const made = (key: string): void => its.did(`effect ${key}`);
  return {
    one: tool({
      name: 'one',
      description: 'Does it once.',
      inputSchema: WHAT,
      effect: 'once',
      trust: 'trusted',
      execute: async ({ q }, io) => {
        made(placeOf(io));
        await its.delay();
        return `one ${String(q)}`;
      },
    }),
    look: tool({
      name: 'look',
      description: 'Looks.',
      inputSchema: WHAT,
      effect: 'read',
      trust: 'trusted',
      execute: async ({ q }) => {
        await its.delay();
        if (numberOf(String(q)) % 7 === 0) throw new Error(`no ${String(q)}`);
        return { saw: q };
      },
    }),
    ask: tool({
      name: 'ask',
      description: 'Asks, then does it once.',
      inputSchema: WHAT,
      effect: 'once',
      trust: 'trusted',
      execute: async ({ q }, io) => {
        const said = await io.ask({ text: `May ${String(q)}?`, choices: ['yes', 'no'] });
        made(placeOf(io));
        await its.delay();
        return `${said} ${String(q)}`;
      },
    }),
  };
}
