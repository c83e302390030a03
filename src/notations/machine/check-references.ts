import { didYouMean, meantOrKnown } from '../../base/suggest.js';
import { quoteShort } from '../../lang/value-text.js';
import type { PlacedPack } from './pack.js';

/** Checks the references between parts of a pack: tools, agents, states, skills, compositions. */
export function checkReferences(placed: PlacedPack): void {
  checkTools(placed);
  checkAgents(placed);
  checkSkills(placed);
  checkCompositionNames(placed);
  noteWhatIsKept(placed);
}

function checkTools({ pack: { tools = {}, prompts }, findings, at }: PlacedPack): void {
  const names = new Set(Object.entries(tools).flatMap(([key, { name }]) => [key, name]));
  for (const name of names) {
    if (!/^(?:workflow|skill)__/.test(name)) continue;
    const message = `tools: the name ${quoteShort(name)} is reserved`;
    findings.error(
      'reserved-tool',
      message,
      at('tools', name),
      'names that begin with workflow__ or skill__ are those of the runtime',
    );
  }
  for (const [prompt, { tools: listed = [] }] of Object.entries(prompts)) {
    for (const [index, tool] of listed.entries()) {
      if (names.has(tool)) continue;
      const message = `prompts[${JSON.stringify(prompt)}].tools: ${quoteShort(tool)} is not a tool of the pack`;
      const hint = didYouMean(tool, names) ?? 'a tool server or your program must provide it';
      findings.warning('unknown-tool', message, at('prompts', prompt, 'tools', String(index)), hint);
    }
  }
}

function checkAgents({ pack: { agents, prompts, workflow }, findings, at }: PlacedPack): void {
  if (agents === undefined) return;
  if (!Object.hasOwn(prompts, agents.entry)) {
    const message = `agents.entry ${quoteShort(agents.entry)} does not reference a valid prompt`;
    findings.error(
      'unknown-prompt',
      message,
      at('agents', 'entry'),
      meantOrKnown(agents.entry, Object.keys(prompts), 'prompts'),
    );
  } else if (!Object.hasOwn(agents.members, agents.entry)) {
    const message = `agents.entry ${quoteShort(agents.entry)} is not one of the members`;
    findings.error(
      'unknown-agent',
      message,
      at('agents', 'entry'),
      meantOrKnown(agents.entry, Object.keys(agents.members), 'members'),
    );
  }
  for (const [name, { state }] of Object.entries(agents.members)) {
    const place = `agents.members[${JSON.stringify(name)}]`;
    if (!Object.hasOwn(prompts, name)) {
      const message = `${place} does not reference a valid prompt`;
      findings.error(
        'unknown-prompt',
        message,
        at('agents', 'members', name),
        meantOrKnown(name, Object.keys(prompts), 'prompts'),
      );
    }
    if (state === undefined || Object.hasOwn(workflow?.states ?? {}, state)) continue;
    const message =
      workflow === undefined
        ? `${place}.state ${quoteShort(state)} needs a workflow`
        : `${place}.state ${quoteShort(state)} does not exist in states`;
    const hint = meantOrKnown(state, Object.keys(workflow?.states ?? {}), 'states');
    findings.error('unknown-state', message, at('agents', 'members', name, 'state'), hint);
  }
}

function checkSkills({ pack: { skills = [] }, findings, at }: PlacedPack): void {
  for (const [index, skill] of skills.entries()) {
    const path = typeof skill === 'string' ? skill : skill.path;
    if (path === undefined) continue;
    const place = at('skills', String(index));
    if (path.startsWith('@')) {
      const message = `skills[${index}]: ${quoteShort(path)} names a package, which is not read`;
      findings.error('skill-package', message, place, 'put the skill into the folder of the pack and give its path');
    } else if (/^(?:[/\\]|[A-Za-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)/.test(path)) {
      const message = `skills[${index}]: ${quoteShort(path)} leads out of the folder of the pack`;
      findings.error('skill-outside', message, place, 'give a path beneath the folder of the pack');
    }
  }
}

function checkCompositionNames({ pack: { workflow, compositions = {} }, findings, at }: PlacedPack): void {
  for (const [name, { composition = '' }] of Object.entries(workflow?.states ?? {})) {
    if (composition === '' || Object.hasOwn(compositions, composition)) continue;
    const message = `workflow.states[${JSON.stringify(name)}].composition ${quoteShort(composition)} does not exist in compositions`;
    const hint = meantOrKnown(composition, Object.keys(compositions), 'compositions');
    findings.error('unknown-composition', message, at('workflow', 'states', name, 'composition'), hint);
  }
}

/** Warns once about parts that never run. */
function noteWhatIsKept({ pack: { evals = [], prompts }, findings, at }: PlacedPack): void {
  const all = Object.entries(prompts).filter(([, prompt]) => (prompt.evals ?? []).length > 0);
  if (evals.length === 0 && all.length === 0) return;
  const [first] = all;
  const place = evals.length > 0 || first === undefined ? at('evals') : at('prompts', first[0], 'evals');
  findings.warning('kept-only', 'evals are kept and not run', place, 'other programs run them');
}
