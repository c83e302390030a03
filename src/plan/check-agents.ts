import { matchPattern } from '../lang/schema-check.js';
import type { AnswerCheck } from './answer-check.js';
import { nameOf, type Scope } from './check-scope.js';
import { END, type AgentNode, type Choice, type Conversation, type Route } from './plan.js';

/** Tool names that all providers accept. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** The problem of a sandbox for a server that is reached at an address. */
export const NO_PROGRAM = {
  what: 'is reached at an address: a sandbox here cannot confine it',
  hint: 'remove sandbox, or start the server here: give its command instead of its address',
} as const;

/** Checks agents: `mcp-server`, `bad-check`, `bad-conversation`, `bad-choice`, `unknown-node`, `undeclared-target`. */
export function checkAgents(scope: Scope): void {
  scope.plan.nodes.forEach((node, at) => {
    if (node.kind !== 'agent') return;
    checkServers(scope, at, node);
    node.agent.checks?.forEach((check, place) => checkRule(scope, at, check, `agent.checks[${place}]`));
    if (node.conversation !== undefined) checkConversation(scope, at, node.conversation);
    if (node.choice !== undefined) checkChoice(scope, at, node, node.choice);
  });
}

function checkServers({ findings }: Scope, node: number, { agent: { name, mcpServers = {} } }: AgentNode): void {
  for (const [server, { url, sandbox }] of Object.entries(mcpServers)) {
    if (url === undefined || sandbox === undefined) continue;
    const what = `the MCP server ${JSON.stringify(server)} of the agent ${JSON.stringify(name)} ${NO_PROGRAM.what}`;
    findings.add('mcp-server', what, { node, path: `agent.mcpServers.${server}.sandbox`, hint: NO_PROGRAM.hint });
  }
}

/** A check without a rule would pass everything. */
function checkRule(scope: Scope, node: number, check: AnswerCheck, path: string): void {
  const fault = ruleFault(check);
  if (fault === undefined) return;
  const what = `the check ${check.kind} of ${nameOf(scope, node)} ${fault.what}`;
  scope.findings.add('bad-check', what, { node, path, hint: fault.hint });
}

function ruleFault(check: AnswerCheck): Fault | undefined {
  switch (check.kind) {
    case 'bannedWords':
      return check.words.some((word) => word.trim() !== '') ? undefined : { what: 'has no words', hint: 'add words' };
    case 'requiredFields':
      return check.fields.length > 0 ? undefined : { what: 'has no fields', hint: 'add names of fields' };
    case 'maxLength':
    case 'minLength':
      if (check.characters !== undefined || check.tokens !== undefined) return undefined;
      return { what: 'has no bound', hint: 'add characters or tokens' };
    case 'pattern':
      return patternFault(check.pattern);
    case 'maxSentences':
    case 'json':
    case 'code':
      return undefined;
  }
}

function patternFault(pattern: string): Fault | undefined {
  const verdict = matchPattern(pattern, '');
  if (!('fault' in verdict)) return undefined;
  return { what: `has a pattern that can't be used: ${verdict.fault}`, hint: 'write it as in JSON Schema' };
}

/** Only with `extend` does a step write just what it adds. */
function checkConversation(scope: Scope, node: number, { channel }: Conversation): void {
  if (scope.channels.get(channel)?.reducer === 'extend') return;
  const what = `${nameOf(scope, node)} has its conversation in ${JSON.stringify(channel)}, a channel without the reducer "extend"`;
  const hint = `declare it: channels: { '${channel}': 'extend' }, or reducers in the settings of a graph`;
  scope.findings.add('bad-conversation', what, { node, path: 'conversation.channel', hint });
}

function checkChoice(scope: Scope, at: number, node: AgentNode, choice: Choice | 'code'): void {
  const route = scope.plan.routes.find(({ from, choose }) => from === node.id && choose === 'result');
  const fault = (choice === 'code' ? undefined : toolFault(node, choice)) ?? routeFault(node, choice, route);
  const name = nameOf(scope, at);
  if (fault !== undefined)
    scope.findings.add('bad-choice', `the choice of ${name} ${fault.what}`, {
      node: at,
      path: 'choice',
      hint: fault.hint,
    });
  if (choice !== 'code') checkTargets(scope, at, choice, route);
}

interface Fault {
  readonly what: string;
  readonly hint: string;
}

function toolFault(node: AgentNode, { tool = 'choose', answers }: Choice): Fault | undefined {
  if (Object.keys(answers).length === 0)
    return { what: 'has no answers', hint: "such as answers: { publish: { to: 'publish' } }" };
  if (!TOOL_NAME.test(tool))
    return { what: `has a tool named ${JSON.stringify(tool)}`, hint: 'use letters, digits, "_" and "-", at most 64' };
  if (node.agent.functions?.some(({ name }) => name === tool) === true)
    return { what: `has a tool named like a function of the agent: "${tool}"`, hint: 'give it another name' };
  return undefined;
}

/** The choice of code can't be seen: only the route limits where it may lead. */
function routeFault(node: AgentNode, choice: Choice | 'code', route: Route | undefined): Fault | undefined {
  if (node.agent.output !== undefined)
    return {
      what: 'ends its step at a call, so that there is no answer with a schema',
      hint: 'take out the output of the agent, or choose by a route that reads it',
    };
  if (route === undefined)
    return { what: 'leads nowhere', hint: `add a route: { from: '${node.id}', choose: 'result', targets: [...] }` };
  if (choice === 'code' && route.targets === undefined)
    return { what: 'may lead anywhere', hint: `give the route after '${node.id}' its targets` };
  return undefined;
}

function checkTargets({ shape, findings }: Scope, node: number, { answers }: Choice, route: Route | undefined): void {
  for (const [answer, { to }] of Object.entries(answers)) {
    if (to === END) continue;
    const path = `choice.answers.${answer}.to`;
    const quoted = JSON.stringify(to);
    if (!shape.index.has(to))
      findings.add('unknown-node', `the answer "${answer}" leads to ${quoted}, which is not a node`, { node, path });
    else if (route?.targets?.includes(to) === false)
      findings.add('undeclared-target', `the answer "${answer}" leads to ${quoted}, which is not among the targets`, {
        node,
        path,
        hint: 'add it to targets of the route',
      });
  }
}
