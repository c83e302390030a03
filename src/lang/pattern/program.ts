import { PatternError, parseRegex, type CharTest, type RegexNode } from './parse.js';

/** A program for the matcher. After an instruction follows the next one, or the one that it names; after `fork`, both. */
export type Instruction =
  | { readonly op: 'char'; readonly set: CharTest }
  | { readonly op: 'fork'; to: number }
  | { readonly op: 'jump'; to: number }
  | { readonly op: 'at'; readonly where: 'start' | 'end' | 'edge' | 'inside' }
  | { readonly op: 'ahead'; readonly not: boolean; readonly program: readonly Instruction[] }
  | { readonly op: 'match' };

const MAX_PROGRAM = 5_000;

/**
 * Compiles a regular expression. Supports what can be matched in bounded time: characters, classes, `.`, `\d \w \s \b \p{...}`
 * and their opposites, `^ $`, groups, `|`, `* + ? {m,n}` (lazy forms mean the same here), lookahead. Lookbehind and backreferences
 * are refused with a message.
 *
 * @throws PatternError for anything else, and for expressions that unfold to more than 5,000 steps
 */
export function compileRegex(source: string): readonly Instruction[] {
  const program = new Program();
  emit(parseRegex(source), program);
  program.steps.push({ op: 'match' });
  return program.steps;
}

class Program {
  readonly steps: Instruction[] = [];
  private left = 5 * MAX_PROGRAM;

  /** Counts visits to nodes, because empty groups add no step. */
  visit(): void {
    this.left -= 1;
    if (this.left < 0 || this.steps.length > MAX_PROGRAM) {
      throw new PatternError('the pattern is too large when its repetitions are written out');
    }
  }
}

function emit(node: RegexNode, program: Program): void {
  program.visit();
  switch (node.kind) {
    case 'char':
      program.steps.push({ op: 'char', set: node.set });
      return;
    case 'at':
      program.steps.push({ op: 'at', where: node.where });
      return;
    case 'ahead': {
      const start = program.steps.length;
      emit(node.item, program);
      const inner = program.steps.splice(start).map((step) => moved(step, -start));
      program.steps.push({ op: 'ahead', not: node.not, program: [...inner, { op: 'match' }] });
      return;
    }
    case 'list':
      for (const item of node.items) emit(item, program);
      return;
    case 'choice':
      emitChoice(node.options, program);
      return;
    case 'repeat':
      emitRepeat(node, program);
  }
}

function emitChoice(options: readonly RegexNode[], program: Program): void {
  const ends: { to: number }[] = [];
  for (const [i, option] of options.entries()) {
    if (i === options.length - 1) {
      emit(option, program);
      continue;
    }
    const fork: Instruction = { op: 'fork', to: 0 };
    program.steps.push(fork);
    emit(option, program);
    const end: Instruction = { op: 'jump', to: 0 };
    program.steps.push(end);
    ends.push(end);
    fork.to = program.steps.length;
  }
  for (const end of ends) end.to = program.steps.length;
}

function emitRepeat(node: { item: RegexNode; least: number; most: number }, program: Program): void {
  for (let i = 0; i < node.least; i++) emit(node.item, program);
  if (node.most === Infinity) {
    const fork: Instruction = { op: 'fork', to: 0 };
    const back = program.steps.length;
    program.steps.push(fork);
    emit(node.item, program);
    program.steps.push({ op: 'jump', to: back });
    fork.to = program.steps.length;
    return;
  }
  const forks: { to: number }[] = [];
  for (let i = node.least; i < node.most; i++) {
    const fork: Instruction = { op: 'fork', to: 0 };
    program.steps.push(fork);
    forks.push(fork);
    emit(node.item, program);
  }
  for (const fork of forks) fork.to = program.steps.length;
}

function moved(step: Instruction, by: number): Instruction {
  return step.op === 'fork' || step.op === 'jump' ? { ...step, to: step.to + by } : step;
}
