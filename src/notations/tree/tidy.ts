import { present } from '../../base/json.js';
import type { TreeSequence, TreeStep, TreeWork, TreeWorkflow } from './definition.js';

/** Trims all names and texts of a tree, before it is checked and compiled. */
export function tidyTree(tree: TreeWorkflow): TreeWorkflow {
  return {
    ...tree,
    name: tree.name.trim(),
    inputs: tree.inputs.map((input) => ({ ...input, name: input.name.trim() })),
    sequences: tree.sequences.map(tidySequence),
    ...tidySecurity(tree),
  };
}

function tidySequence(sequence: TreeSequence): TreeSequence {
  return {
    ...sequence,
    name: sequence.name.trim(),
    steps: sequence.steps.map(tidyStep),
    ...tidySecurity(sequence),
  };
}

function tidySecurity({ security }: Pick<TreeWorkflow, 'security'>): Pick<TreeWorkflow, 'security'> {
  if (security === undefined) return {};
  const { scope, model, mode } = security;
  return { security: present({ mode, scope: scope?.trim() || undefined, model: model?.trim() || undefined }) };
}

/** Trims all names and texts of a step. */
export function tidyStep(step: TreeStep): TreeStep {
  switch (step.kind) {
    case 'goal':
      return { ...step, ...tidyWork(step) };
    case 'convergence': {
      const { withinVar, ...rest } = step;
      const named = withinVar?.trim() ?? '';
      return { ...rest, ...tidyWork(step), ...(named === '' ? {} : { withinVar: named }) };
    }
    case 'agent': {
      const { task, ...rest } = step;
      const told = task?.trim() ?? '';
      return {
        ...rest,
        name: step.name.trim(),
        prompt: step.prompt.trim(),
        outputs: trimmed(step.outputs),
        ...tidySecurity(step),
        ...(told === '' ? {} : { task: told }),
      };
    }
  }
}

function tidyWork(work: TreeWork): Pick<TreeWork, 'name' | 'description' | 'using' | 'outputs' | 'security'> {
  return {
    name: work.name.trim(),
    description: work.description.trim(),
    using: work.using.map(tidyStep),
    outputs: trimmed(work.outputs),
    ...tidySecurity(work),
  };
}

function trimmed(texts: readonly string[]): readonly string[] {
  return texts.map((text) => text.trim());
}
