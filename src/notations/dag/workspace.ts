import { madeOnce } from '../../base/collections.js';
import type { SourceFile } from '../../plan/workflow.js';
import { readText, shownPath } from '../../text/files.js';
import type { ReadResult } from '../../text/files.js';
import { visibleText } from '../../text/findings.js';

/** The files around a workflow: where paths start, each file read once, and which ones the workflow is made of. */
export interface Workspace {
  /** The working directory, absolute. */
  readonly cwd: string;
  readonly home: string | undefined;
  /** The directory of the workflow file, absolute. */
  readonly base: string;
  /** A path as messages and positions show it. */
  shown(path: string): string;
  read(path: string): Promise<ReadResult>;
  /** Records that the workflow is made of this file too. */
  use(path: string, text: string): void;
  readonly used: readonly SourceFile[];
}

/** A workspace for one loading of a workflow. */
export function openWorkspace(places: Pick<Workspace, 'cwd' | 'home' | 'base'>): Workspace {
  const results = new Map<string, Promise<ReadResult>>();
  const used = new Map<string, SourceFile>();
  return {
    ...places,
    shown: (path) => visibleText(shownPath(path, places.cwd)),
    read: (path) => madeOnce(results, path, () => readText(path)),
    use: (path, text) => {
      used.set(path, { path, text });
    },
    get used() {
      return [...used.values()];
    },
  };
}
