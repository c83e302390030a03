import { freezeData } from '../../base/json.js';
import type { Template, TemplateRef } from '../../lang/values.js';
import { escapeXml } from '../../lang/xml-block.js';
import { piecesOf } from './references.js';
import { append } from '../written-references.js';

/** The maximum bytes in a prompt for outputs of prior goals, and for iterations of a convergence. The oldest are left out first. */
const PRIOR_BYTES = 100_000;

/** The line with which a model declares that nothing is left to improve. */
export const CONVERGED = 'CONVERGED';

export const GOAL_SYSTEM = 'You are a helpful assistant executing a goal.';

export const SYNTHESIS_SYSTEM = 'You are synthesizing the answers of several agents.';

/** Names and the channels of their values. */
export type Visible = ReadonlyMap<string, string>;

/** Converts an author's text to a template, in which names are values of the state. In markup, the text and each value are escaped. */
export function textTemplate(text: string, visible: Visible, escape?: 'xml'): Template {
  return piecesOf(text).map((piece): string | TemplateRef => {
    if (typeof piece === 'string') return escape === undefined ? piece : escapeXml(piece);
    const channel = visible.get(piece.name) ?? piece.name;
    const ref = { channel, written: `$${piece.name}`, expected: true as const };
    return escape === undefined ? ref : { ...ref, escape };
  });
}

export const PRIOR_GOALS: Template = freezeData([
  { outputs: 'prior', xml: { tag: 'prior-goals', each: 'goal' }, budget: PRIOR_BYTES },
]);

export function goalBlock(name: string, description: string, visible: Visible): Template {
  return [`<goal name="${escapeXml(name)}">\n`, ...textTemplate(description, visible, 'xml'), '\n</goal>'];
}

export function historyBlock(channel: string): Template {
  return [{ items: { channel }, xml: { tag: 'convergence-history', each: 'iteration' }, budget: PRIOR_BYTES }];
}

/** Returns the request to refine. Only a caller that needs the marker requests it. */
export function refinement(isAskedForMarker: boolean): string {
  const refine = 'Refine the previous iteration, if there is one.';
  const marker = `When you are satisfied and nothing is left to improve, answer with ${CONVERGED} on a line of its own.`;
  return isAskedForMarker ? `${refine} ${marker}` : refine;
}

/** Requests fields. Empty if there are none. */
export function fieldsRequest(fields: readonly string[]): Template {
  if (fields.length === 0) return [];
  return [`\n\nAnswer with one JSON object that has exactly these fields: ${fields.join(', ')}.`];
}

export interface AgentAnswer {
  readonly name: string;
  readonly channel: string;
}

/** Builds the prompt that merges the answers of several agents, in declared order. */
export function synthesisPrompt(answers: readonly AgentAnswer[], task: Template): Template {
  return [
    'Merge the answers of the agents below into one coherent answer to the goal. Be concise and leave out what is said twice.\n\n',
    ...answers.flatMap(({ name, channel }): Template => [
      `<agent name="${escapeXml(name)}">\n`,
      { channel, escape: 'xml' },
      '\n</agent>\n\n',
    ]),
    ...task,
  ];
}

/** Merges adjacent literal pieces of a template. */
export function joinedTexts(template: Template): Template {
  const pieces: Template[number][] = [];
  for (const piece of template) append(pieces, piece);
  return pieces;
}
