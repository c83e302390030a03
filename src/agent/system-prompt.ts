import { sha256 } from '../base/hash.js';
import { isoTime } from '../base/clock.js';
import { resolve } from 'node:path';
import type { AgentSpec, SkillText } from '../plan/agent-spec.js';

/** Where and when a step began; recorded with it, so that a replay elsewhere or later uses the same. */
export interface Surroundings {
  /** `YYYY-MM-DD`, UTC. */
  readonly date: string;
  readonly cwd: string;
  readonly platform: string;
  readonly arch: string;
}

/** Returns the current surroundings, for agents that depend on them; undefined for others. */
export function surroundingsOf(
  spec: Pick<AgentSpec, 'about' | 'permissions'>,
  now: number,
  cwd: string,
): Surroundings | undefined {
  if ((spec.about ?? []).length === 0 && spec.permissions === undefined) return undefined;
  const { platform, arch } = process;
  return { date: isoTime(now).slice(0, 10), cwd: resolve(cwd), platform, arch };
}

/** Returns the system prompt's text about the surroundings; empty if the agent does not need them. */
export function describeSurroundings(about: AgentSpec['about'], found: Surroundings | undefined): readonly string[] {
  if (found === undefined) return [];
  const { date, cwd, platform, arch } = found;
  const lines = {
    date: `Today's date: ${date} (UTC)`,
    environment: `Working directory: ${cwd}\nOperating system: ${platform}\nArchitecture: ${arch}`,
  };
  return (['date', 'environment'] as const).filter((one) => about?.includes(one) === true).map((one) => lines[one]);
}

/** Matches the marks of {@link newMark} and of judged material, for readers that must not depend on them. */
export const MARK_PATTERN = /(skill|data)-[0-9a-f]{32}/g;

/**
 * Returns a mark that the author of a text cannot guess.
 *
 * @param random returns numbers in [0, 1), from the step
 */
export function newMark(random: () => number): string {
  const part = (): string =>
    Math.floor(random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
  return `skill-${part()}${part()}${part()}${part()}`;
}

/** Returns a mark that no text of a skill contains: a digest of all skills, so that equal prompts are found in a cache. */
export function skillMark(skills: readonly SkillText[]): string {
  return `skill-${sha256(JSON.stringify(skills)).slice(0, 32)}`;
}

/** The whole system prompt: the agent's instructions, then the additions, separated by blank lines. */
export function systemPrompt(
  instructions: string,
  skills: readonly SkillText[],
  mark: (skills: readonly SkillText[]) => string,
  additions: readonly string[],
): string {
  return [instructions, skillBlock(skills, mark), ...additions].filter((part) => part.trim() !== '').join('\n\n');
}

/** Skill texts between marks, so that a text cannot fake the end of its block. */
function skillBlock(skills: readonly SkillText[], markFor: (skills: readonly SkillText[]) => string): string {
  if (skills.length === 0) return '';
  const mark = markFor(skills);
  const blocks = skills.map(
    (skill) => `<${mark} name=${JSON.stringify(skill.name)}>\n${skill.text.trim()}\n</${mark}>`,
  );
  return `Skills that you can use. Each stands between <${mark}> and </${mark}>.\n\n${blocks.join('\n\n')}`;
}
