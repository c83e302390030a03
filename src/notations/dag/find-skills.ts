import { basename, dirname, join } from 'node:path';
import type { SkillText } from '../../plan/agent-spec.js';
import { quoteShort } from '../../lang/value-text.js';
import { absolutePath, reportUnread, type ReadResult } from '../../text/files.js';
import type { Findings } from '../../text/findings.js';
import { openFrontMatter } from '../../text/front-matter.js';
import type { SourceScalar } from '../../text/nodes.js';
import { allSteps, type Definition, type StepDef } from './definition.js';
import type { Workspace } from '../opened-file.js';

const SKILL_FILE = 'SKILL.md';

/**
 * Finds the skills of each step: those of the workflow, then its own. A skill is a file, or a folder with a `SKILL.md`. It is searched for
 * relative to the workflow file, then in the step's `extra_dirs`, then in `.github/skills` and `.claude/skills` of the working directory.
 *
 * Problem codes: `file-missing` and the other codes of files.
 */
export async function findSkills(
  definition: Definition,
  workspace: Workspace,
  findings: Findings,
): Promise<ReadonlyMap<string, readonly SkillText[]>> {
  const result = new Map<string, readonly SkillText[]>();
  for (const step of allSteps(definition.steps)) {
    const skills = new Map<string, SkillText>();
    for (const wanted of [...definition.skills, ...step.skills]) {
      const found = await findSkill(wanted, step, workspace, findings);
      if (found !== undefined) skills.set(found.path, found.skill);
    }
    result.set(step.id, [...skills.values()]);
  }
  return result;
}

interface FoundSkill {
  readonly path: string;
  readonly skill: SkillText;
}

async function findSkill(
  wanted: SourceScalar,
  step: StepDef,
  workspace: Workspace,
  findings: Findings,
): Promise<FoundSkill | undefined> {
  const { cwd, home, base } = workspace;
  const roots = [
    base,
    ...step.extraDirs.map((dir) => absolutePath(dir.text, cwd, home)),
    join(cwd, '.github', 'skills'),
    join(cwd, '.claude', 'skills'),
  ];
  for (const root of roots) {
    const found = await readSkill(absolutePath(wanted.text, root, home), workspace);
    if (found.result.ok) return finishSkill(found.path, found.result.text, workspace, findings);
    if (found.result.failure !== 'missing') {
      reportUnread(found.result, `the skill ${workspace.shown(found.path)}`, wanted.at, findings);
      return undefined;
    }
  }
  const hint = `looked next to the workflow file, in extra_dirs, .github/skills and .claude/skills`;
  findings.error('file-missing', `there is no skill ${quoteShort(wanted.text)}`, wanted.at, hint);
  return undefined;
}

async function readSkill(
  path: string,
  workspace: Workspace,
): Promise<{ readonly path: string; readonly result: ReadResult }> {
  const result = await workspace.read(path);
  if (result.ok || result.failure !== 'directory') return { path, result };
  const inside = join(path, SKILL_FILE);
  return { path: inside, result: await workspace.read(inside) };
}

function finishSkill(path: string, text: string, workspace: Workspace, findings: Findings): FoundSkill {
  workspace.use(path, text);
  const { fields, body } = openFrontMatter(text, workspace.shown(path), findings);
  const file = basename(path);
  const fallback = file === SKILL_FILE ? basename(dirname(path)) : file.replace(/\.md$/, '');
  return { path, skill: { name: fields?.text('name') ?? fallback, text: body } };
}
