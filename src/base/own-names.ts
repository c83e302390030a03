/** Name of the folder that holds the store of runs of a project. */
export const STORE_FOLDER = '.skein';

/** Name of the folder of run folders, unless a workflow names another one. */
export const AUDIT_FOLDER = '.workflow-runs';

/** Name of the file by which Skein knows the run folders that it made. */
export const RUN_MARKER = '.skein-run';

/** Name of the file that keeps a folder out of git; written only into a folder that Skein made under its own name. */
export const IGNORE_FILE = '.gitignore';
