import { freezeData } from '../../base/json.js';
import type { Template, TemplateRef } from '../../lang/values.js';
import { escapeXml } from '../../lang/xml-block.js';
import { piecesOf } from './references.js';

/** Bytes that the outputs of prior goals may take in a prompt, and as many the iterations of a convergence; the oldest are left out first. */
const PRIOR_BYTES = 100_000;

/** The line by which a model says that there is nothing left to improve. */
export const CONVERGED = 'CONVERGED';

/** What a goal without agents begins with. */
export const GOAL_SYSTEM = 'You are a helpful assistant executing a goal.';

/** What the one begins with who puts the answers of several together. */
export const SYNTHESIS_SYSTEM = 'You are synthesizing the answers of several agents.';

/** Names and where their values are. */
export type Visible = ReadonlyMap<string, string>;

/** A text of the author as it is inserted: names are values of the state. In markup the text and each value are escaped. */
export function textTemplate(text: string, visible: Visible, escape?: 'xml'): Template {
  return piecesOf(text).map((piece): string | TemplateRef => {
    if (typeof piece === 'string') return escape === undefined ? piece : escapeXml(piece);
    const channel = visible.get(piece.name) ?? piece.name;
    const ref = { channel, written: `$${piece.name}`, expected: true as const };
    return escape === undefined ? ref : { ...ref, escape };
  });
}

/** What goals before this one gave. */
export const PRIOR_GOALS: Template = freezeData([
  { outputs: 'prior', xml: { tag: 'prior-goals', each: 'goal' }, budget: PRIOR_BYTES },
]);

/** What is to be done. */
export function goalBlock(name: string, description: string, visible: Visible): Template {
  return [`<goal name="${escapeXml(name)}">\n`, ...textTemplate(description, visible, 'xml'), '\n</goal>'];
}

/** What the iterations before this one gave: the list in a channel. */
export function historyBlock(channel: string): Template {
  return [{ items: { channel }, xml: { tag: 'convergence-history', each: 'iteration' }, budget: PRIOR_BYTES }];
}

/** How a refinement ends; who is not asked for the marker only refines. */
export function refinement(isAskedForMarker: boolean): string {
  const refine = 'Refine the previous iteration, if there is one.';
  const marker = `When you are satisfied and nothing is left to improve, answer with ${CONVERGED} on a line of its own.`;
  return isAskedForMarker ? `${refine} ${marker}` : refine;
}

/** Asks for fields; nothing where there are none. */
export function fieldsRequest(fields: readonly string[]): Template {
  if (fields.length === 0) return [];
  return [`\n\nAnswer with one JSON object that has exactly these fields: ${fields.join(', ')}.`];
}

/** The answer of one of several agents. */
export interface AgentAnswer {
  readonly name: string;
  readonly channel: string;
}

/** Asks to put the answers of several agents together, in declared order. */
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

/** A template with texts that follow one another as one piece. */
export function joinedTexts(template: Template): Template {
  const pieces: Template[number][] = [];
  for (const piece of template) {
    const last = pieces.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') pieces[pieces.length - 1] = last + piece;
    else if (piece !== '') pieces.push(piece);
  }
  return pieces;
}
