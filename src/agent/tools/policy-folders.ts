import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { NarrowPolicy } from '../../plan/policy.js';
import { isInside, realOf } from '../../text/files.js';

/** Why a path is outside the folders of a policy; undefined if none objects. `~` is the user's home, `$WORKSPACE` the working directory. */
export function leavesPolicy(home: string, only: readonly (readonly string[])[]): (path: string) => string | undefined {
  const lists = only.map((folders) =>
    folders.map((folder) =>
      realOf(resolve(home, folder.replace(/^\$WORKSPACE(?=$|[/\\])/, home).replace(/^~(?=$|[/\\])/, homedir()))),
    ),
  );
  return (path) =>
    lists.every((folders) => folders.some((folder) => isInside(folder, realOf(path))))
      ? undefined
      : `is outside of the folders that a policy allows: ${only.flat().join(', ')}`;
}

/** The same for a path that a workflow names itself. */
export function folderRefusal(policies: readonly NarrowPolicy[], home: string, path: string): string | undefined {
  const lists = policies.flatMap(({ folders }) => (folders === undefined ? [] : [folders]));
  const why = leavesPolicy(home, lists)(path);
  return why === undefined ? undefined : `it ${why}`;
}
