import type { Declarations } from './declarations.js';

/** What a policy says of one tool. */
export interface ToolPolicy {
  /** `false`: it may not be called. */
  readonly enabled?: boolean;
  /** Its command, path or address must match one of these. */
  readonly allow?: readonly string[];
  /** ... and none of these, which win. */
  readonly deny?: readonly string[];
  /** How long a call may take, in milliseconds. */
  readonly timeoutMs?: number;
}

/** What a policy says of the tools of servers. */
export interface ServersPolicy {
  /** `false`: no server is started or reached. */
  readonly enabled?: boolean;
  /** Only tools that some rule allows may be called. */
  readonly defaultDeny?: boolean;
}

/** How much a policy believes what a server gives. */
export interface ServerTrust {
  readonly level?: 'trusted' | 'vetted' | 'untrusted';
  /** It may be told to everybody. */
  readonly public?: boolean;
}

/** What a policy keeps agents from. */
export interface NarrowPolicy {
  /** As it is shown. */
  readonly file: string;
  /** What no rule allows may not be called. */
  readonly defaultDeny?: boolean;
  /** Rules in the form of permissions: `shell:cmd=git *`, `mcp:github:get_*`. They count where `defaultDeny` holds. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** File tools work in these folders alone. Relative to the working directory. */
  readonly folders?: readonly string[];
  /** Tools and servers reach these hosts alone. */
  readonly domains?: readonly string[];
  readonly tools?: Readonly<Record<string, ToolPolicy>>;
  readonly mcp?: ServersPolicy;
}

/**
 * What somebody beside the workflow says of the calls of its agents. What goes beyond keeping them from something counts in a policy from outside of the
 * project alone.
 */
export interface Policy extends NarrowPolicy, Declarations {
  /** It comes from outside of the project, from who runs the workflow. */
  readonly widens?: true;
  /** The project is a stranger's, or everybody may read it. */
  readonly project?: 'untrusted' | 'public';
  readonly servers?: Readonly<Record<string, ServerTrust>>;
}
