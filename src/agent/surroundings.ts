import { resolve } from 'node:path';
import type { AgentSpec } from '../plan/agent-spec.js';

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
  return { date: new Date(now).toISOString().slice(0, 10), cwd: resolve(cwd), platform, arch };
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
