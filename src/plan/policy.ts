import type { Declarations } from './declarations.js';

/** Rules of a policy for one tool. */
export interface ToolPolicy {
  /** `false` forbids all calls. */
  readonly enabled?: boolean;
  /** Its command, path or address must match one of these. */
  readonly allow?: readonly string[];
  /** Its command, path or address must match none of these, which take precedence. */
  readonly deny?: readonly string[];
  /** Time limit of a call, in milliseconds. */
  readonly timeoutMs?: number;
}

/** Rules of a policy for the tools of servers. */
export interface ServersPolicy {
  /** `false` starts and contacts no server. */
  readonly enabled?: boolean;
  /** Allows only tools that some rule allows. */
  readonly defaultDeny?: boolean;
}

/** How far a policy trusts a server's results. */
export interface ServerTrust {
  readonly level?: 'trusted' | 'vetted' | 'untrusted';
  /** Whether the results are public. */
  readonly public?: boolean;
}

/** The restrictions of a policy on agents. */
export interface NarrowPolicy {
  /** The file's name for display. */
  readonly file: string;
  /** Forbids calls that no rule allows. */
  readonly defaultDeny?: boolean;
  /** Rules in the form of permissions: `shell:cmd=git *`, `mcp:github:get_*`. They apply if `defaultDeny` is set. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** The only folders in which file tools work. Relative to the working directory. */
  readonly folders?: readonly string[];
  /** The only hosts that tools and servers may contact. */
  readonly domains?: readonly string[];
  readonly tools?: Readonly<Record<string, ToolPolicy>>;
  readonly mcp?: ServersPolicy;
}

/** Rules about agents' calls from outside the workflow. Rules that permit something only count in a policy from outside the project. */
export interface Policy extends NarrowPolicy, Declarations {
  /** Whether the policy comes from outside the project, from the person who runs the workflow. */
  readonly widens?: true;
  /** Whether the project is a stranger's, or public. */
  readonly project?: 'untrusted' | 'public';
  readonly servers?: Readonly<Record<string, ServerTrust>>;
}
