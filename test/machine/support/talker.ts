import { appendFileSync } from 'node:fs';
import { openPack } from '../../../src/machine.js';
import { openSqliteStore } from '../../../src/sqlite.js';

/** What a process is to do: says something in a conversation of a store, or brings the last turn to its end. */
export interface Talk {
  readonly store: string;
  readonly thread: string;
  readonly pack: object;
  readonly model: string;
  readonly env: Readonly<Record<string, string>>;
  /** Takes a line for each call of the tool `look`. */
  readonly calls: string;
  /** Absent: the last turn is brought to its end. */
  readonly message?: string;
}

const talk = JSON.parse(process.argv[2] ?? '') as Talk;
const store = await openSqliteStore(talk.store);
const conversation = await openPack(talk.pack, {
  store,
  thread: talk.thread,
  models: { env: talk.env, override: talk.model },
  tools: {
    look: ({ what }: { what: string }): string => {
      appendFileSync(talk.calls, `${what}\n`);
      return `seen ${what}`;
    },
  },
});
const turn = talk.message === undefined ? await conversation.resume() : await conversation.send(talk.message);
const context = conversation.context();
process.stdout.write(JSON.stringify({ turn, context, messages: conversation.messages }));
await conversation.close();
