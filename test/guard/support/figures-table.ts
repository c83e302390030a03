import type { Reporter, TestModule } from 'vitest/node';
import { printTable } from '../../../bench/measure.js';

/** Prints what the tests of safety found, as one table, when all have ended. */
export default class FiguresTable implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const figures = modules
      .toSorted((a, b) => a.moduleId.localeCompare(b.moduleId))
      .flatMap((module) => [...module.children.allTests()].flatMap((test) => test.meta().figures ?? []));
    const cell = (count: number | undefined): string => (count === undefined ? '' : String(count));
    printTable(
      'Safety outside the model',
      ['what', 'n', 'forbidden', 'asked', 'blocked', 'goal'],
      figures.map(({ what, n, forbidden, asked, blocked, goal }) => [
        what,
        String(n),
        cell(forbidden),
        cell(asked),
        cell(blocked),
        goal,
      ]),
    );
  }
}
