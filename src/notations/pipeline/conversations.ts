import type { AgentNode } from '../../plan/plan.js';
import { present } from '../../base/json.js';
import { checkName } from '../../text/names.js';
import type { Fields } from '../../text/shape.js';
import { allSteps } from './blocks.js';
import type { Block } from './blocks.js';
import type { AgentStep, ConversationDef } from './definition.js';
import { TALK } from './keys.js';

/** Channel of a conversation. */
function conversationChannel(name: string): string {
  return `conversations.${name}`;
}

/** Channels of the conversations in which a step of a block, or of a block in it, takes part. */
export function conversationsIn(block: Block): readonly string[] {
  const names = new Set<string>();
  for (const { step } of allSteps(block))
    if (step.type === 'agent' && step.conversation !== undefined) names.add(step.conversation.name);
  return [...names].map(conversationChannel);
}

/** The conversation of an agent step as part of its node. */
export function talking({ conversation }: AgentStep): Pick<AgentNode, 'conversation'> {
  if (conversation === undefined) return {};
  const { name, recent, afresh } = conversation;
  const channel = conversationChannel(name);
  return { conversation: { ...present({ channel, recent }), ...(afresh ? { afresh: true } : {}) } };
}

/** Reads the keys of a conversation. Problem codes: `no-effect`, and those of {@link checkName}. */
export function readConversation(fields: Fields): ConversationDef | undefined {
  const { recent, afresh = false } = fields.values(TALK);
  for (const key of ['recent', 'afresh']) {
    if (!fields.has(key) || fields.names('conversation')) continue;
    const message = `${key} of ${fields.name} has no effect without a conversation`;
    fields.warning('no-effect', key, message, 'add "conversation: NAME", or remove it');
  }
  const name = fields.scalar('conversation');
  if (name === undefined || name.value === null) return undefined;
  const isName = checkName(name.text, 'name of a conversation', name.at, fields.findings);
  return isName ? { name: name.text, recent, afresh } : undefined;
}
