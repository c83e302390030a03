import { sha256 } from '../base/hash.js';
import { isoTime } from '../base/clock.js';
import { resolve } from 'node:path';
import type { AgentSpec, SkillText } from '../plan/agent-spec.js';

/** Where and when a step began; recorded with it, so that a replay elsewhere and later finds the same. */
export interface Surroundings {
  /** `YYYY-MM-DD`, UTC. */
  readonly date: string;
  readonly cwd: string;
  readonly platform: string;
  readonly arch: string;
}

/** The surroundings of now, for agents that depend on them; undefined for others. */
export function surroundingsOf(
  spec: Pick<AgentSpec, 'about' | 'permissions'>,
  now: number,
  cwd: string,
): Surroundings | undefined {
  if ((spec.about ?? []).length === 0 && spec.permissions === undefined) return undefined;
  const { platform, arch } = process;
  return { date: isoTime(now).slice(0, 10), cwd: resolve(cwd), platform, arch };
}

/** What the system prompt says of the surroundings; nothing when the agent need not know. */
export function describeSurroundings(about: AgentSpec['about'], found: Surroundings | undefined): readonly string[] {
  if (found === undefined) return [];
  const { date, cwd, platform, arch } = found;
  const lines = {
    date: `Today's date: ${date} (UTC)`,
    environment: `Working directory: ${cwd}\nOperating system: ${platform}\nArchitecture: ${arch}`,
  };
  return (['date', 'environment'] as const).filter((one) => about?.includes(one) === true).map((one) => lines[one]);
}

/** What {@link newMark} makes, and the marks of material that is judged, for readers that must not depend on them. */
export const MARK_PATTERN = /(skill|data)-[0-9a-f]{32}/g;

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

/**
 * A mark that no text of the skills can hold: it is a digest of them. Of the same skills it is the same in each step and run, so that prompts begin alike and a
 * provider takes them from its cache.
 */
export function skillMark(skills: readonly SkillText[]): string {
  return `skill-${sha256(JSON.stringify(skills)).slice(0, 32)}`;
}

/** The whole system prompt: the agent's instructions, then what is added to them, blank lines between. */
export function systemPrompt(
  instructions: string,
  skills: readonly SkillText[],
  mark: (skills: readonly SkillText[]) => string,
  additions: readonly string[],
): string {
  return [instructions, skillBlock(skills, mark), ...additions].filter((part) => part.trim() !== '').join('\n\n');
}

/** Skill texts between marks, so that a text can't pretend to end its block. */
function skillBlock(skills: readonly SkillText[], markFor: (skills: readonly SkillText[]) => string): string {
  if (skills.length === 0) return '';
  const mark = markFor(skills);
  const blocks = skills.map(
    (skill) => `<${mark} name=${JSON.stringify(skill.name)}>\n${skill.text.trim()}\n</${mark}>`,
  );
  return `Skills that you can use. Each stands between <${mark}> and </${mark}>.\n\n${blocks.join('\n\n')}`;
}
