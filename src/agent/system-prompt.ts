import type { SkillText } from '../plan/agent-spec.js';

/** What {@link newMark} makes, for readers that must not depend on it. */
export const MARK_PATTERN = /skill-[0-9a-f]{32}/g;

/**
 * A mark that no author of a text can have guessed.
 *
 * @param random numbers in [0, 1), from the step
 */
export function newMark(random: () => number): string {
  const part = (): string =>
    Math.floor(random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
  return `skill-${part()}${part()}${part()}${part()}`;
}

/** The whole system prompt: the agent's instructions, then what is added to them, blank lines between. */
export function systemPrompt(
  instructions: string,
  skills: readonly SkillText[],
  random: () => number,
  additions: readonly string[],
): string {
  return [instructions, skillBlock(skills, random), ...additions].filter((part) => part.trim() !== '').join('\n\n');
}

/** Skill texts between marks, so that a text can't pretend to end its block. */
function skillBlock(skills: readonly SkillText[], random: () => number): string {
  if (skills.length === 0) return '';
  const mark = newMark(random);
  const blocks = skills.map(
    (skill) => `<${mark} name=${JSON.stringify(skill.name)}>\n${skill.text.trim()}\n</${mark}>`,
  );
  return `Skills that you can use. Each stands between <${mark}> and </${mark}>.\n\n${blocks.join('\n\n')}`;
}
