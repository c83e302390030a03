import type { ErrorData } from '../../base/errors.js';
import { CLEAN } from '../../guard/label.js';
import type { ChannelTable } from './channel-table.js';
import type { CompiledNode, CompiledPlan, Hop } from './compile.js';
import { conflictError, noSuchNode } from './explain.js';
import { JoinQueue, type Round } from './join.js';
import { covers, mergeVersions } from '../state/merge.js';
import type { Arrivals, Choice, Decided, Firing, Token } from './token.js';
import type { RunLabels } from '../state/run-labels.js';
import type { Version } from '../state/version.js';

/** Among so few hops, a linear search is faster than a set. */
const FEW = 8;

export interface FlowOwner {
  readonly channels: ChannelTable;
  readonly run: { readonly labels: RunLabels };
  fire(node: CompiledNode, firing: Firing): void;
  skip(node: CompiledNode, arrivals: Arrivals, origin: Decided, poison: boolean): void;
  /** Makes a node fail with this error instead of firing it. */
  refuse(node: CompiledNode, firing: Firing, error: ErrorData): void;
}

/**
 * The tokens of one scope (E1 to E4): tokens in joins, tokens released by joins, and ended branches.
 *
 * - C3 `ended` contains the versions of all ended branches: of steps that sent no live token, because there was no next node, or because
 * they were skipped or failed. The final state is their merge (S4). So tokens absorbed by `any` and `quorum` do not count.
 */
export class Flow {
  private waiting = 0;
  private ended: Version[] | undefined = undefined;
  /** Number of `ended`, from the first, that were seen by a version from which everything still to run descends. */
  private seen = 0;
  /** Joins by the place of their nodes. */
  private joins: (JoinQueue | undefined)[] | undefined = undefined;
  /** No token waits in a join before this place. */
  private filledFrom = 0;
  /** Label of everything that has decided where this scope continued. */
  control = CLEAN;

  constructor(
    private readonly owner: FlowOwner,
    private readonly compiled: CompiledPlan,
    private readonly inputs: Version,
  ) {}

  /** A branch ended with this version. Replaces earlier ends that the version covers. */
  branchEnded(version: Version): void {
    const { ended } = this;
    if (ended === undefined) {
      this.ended = [version];
      return;
    }
    for (let last = ended.at(-1); last !== undefined && covers(version, last); last = ended.at(-1)) ended.pop();
    if (ended.length < this.seen) this.seen = ended.length;
    ended.push(version);
  }

  /** Ends the branches that meet at a skipped node; returns everything that they carry. */
  endBranches(arrivals: Arrivals): ReadonlySet<Version> {
    const versions = new Set<Version>();
    for (const token of arrivals) {
      if (token === undefined) continue;
      if (token.kind === 'live') this.branchEnded(token.version);
      for (const version of carriedBy(token)) versions.add(version);
    }
    return versions;
  }

  /** Whether no token waits and `version`, the only one in progress, covers all that ended. Checks the last end first. */
  coveredBy(version: Version): boolean {
    if (this.waiting > 0) return false;
    const { ended } = this;
    if (ended === undefined) return true;
    for (let at = ended.length - 1; at >= this.seen; at--) {
      const one = ended[at];
      if (one !== undefined && !covers(version, one)) return false;
    }
    this.seen = ended.length;
    return true;
  }

  /** The merge of all that ended; for a failed run, also of what was still in progress. */
  mergeEnds(onTheWay: readonly Version[]): { version: Version; conflict: ErrorData | undefined } {
    const only = this.ended?.length === 1 ? this.ended[0] : undefined;
    if (only !== undefined && this.waiting === 0 && onTheWay.length === 0)
      return { version: only, conflict: undefined };
    const versions = [this.inputs, ...(this.ended ?? []), ...onTheWay];
    for (const join of this.joins ?? []) for (const token of join?.waiting() ?? []) versions.push(...carriedBy(token));
    const { version, conflict } = mergeVersions(versions, this.owner.channels.reducers, this.owner.run.labels);
    return { version, conflict: conflict === undefined ? undefined : this.explain(conflict.channel, conflict.writers) };
  }

  /** Adds a label of what decided where this scope continues. */
  decided(label: number): void {
    if (label !== this.control) this.control = this.owner.run.labels.join(this.control, label);
  }

  /** The firing of a node with a visit cap is influenced by everything that did, or did not, reach the node. */
  counted<T extends Firing>(firing: T): T {
    const influence = this.owner.run.labels.join(firing.influence, this.control);
    return influence === firing.influence ? firing : { ...firing, influence };
  }

  /** A step is done: sends its live token. `choice`: the choice of its routes. */
  send(node: CompiledNode, live: Token, choice: Choice | undefined): void {
    this.decided(live.influence);
    if (choice !== undefined) {
      this.sendChosen(node, live, choice);
      return;
    }
    if (node.hops.length === 0) this.branchEnded(live.version);
    for (const hop of node.hops) this.sendLive(hop, live);
  }

  /**
   * C2: if a route stays inside its own cycle, targets outside the cycle are not dead: they are undecided. Everywhere else a declared
   * target that was not chosen gets a dead token (E3).
   */
  private sendChosen(node: CompiledNode, live: Token, choice: Choice): void {
    const unknown = choice.others.find((name) => !this.compiled.index.has(name));
    if (unknown !== undefined) {
      this.owner.refuse(node, live, noSuchNode(node, unknown, this.compiled.nodes));
      return;
    }
    let reached = choice.others.length > 0;
    for (const name of choice.others) this.fireOther(name, live);
    const stays = choice.hops.some((hop) => !hop.leaves);
    const dead: Token = { ...live, kind: 'dead' };
    const chosen = choice.hops.length > FEW ? new Set(choice.hops) : choice.hops;
    for (const hop of node.hops) {
      const taken = hop.route < 0 || ('has' in chosen ? chosen.has(hop) : chosen.includes(hop));
      reached ||= taken;
      if (taken) this.sendLive(hop, live);
      else if (hop.slot >= 0 && !(stays && hop.leaves)) this.deliver(hop, dead);
    }
    if (!reached) this.branchEnded(live.version);
  }

  private sendLive(hop: Hop, live: Token): void {
    if (hop.slot >= 0) this.deliver(hop, live);
    else this.fireAlone(hop.to, live.version, around(live));
  }

  /** Fires a node directly, without a token on an in-edge (E3). */
  fireAlone(at: number, version: Version, { depth, round, influence }: Decided): void {
    const node = this.compiled.nodes[at];
    if (node !== undefined) this.owner.fire(node, { version, depth, round, influence });
  }

  /** Fires the handler of a node that failed or reached its cap. A handler before the node closes a cycle. */
  fireHandler(from: CompiledNode, to: number, firing: Firing): void {
    const node = this.compiled.nodes[to];
    if (node === undefined) return;
    const { version, depth, round, influence, failure } = firing;
    this.decided(influence);
    this.owner.fire(node, { version, depth, round: round + (node.place <= from.place ? 1 : 0), influence, failure });
  }

  /** Fires a node chosen by a route without declared targets: there is no edge, so it fires directly. */
  private fireOther(name: string, live: Token): void {
    this.fireAlone(this.compiled.index.get(name) ?? -1, live.version, around(live));
  }

  sendDead(node: CompiledNode, token: Token): void {
    this.decided(token.influence);
    for (const hop of node.hops) if (hop.slot >= 0) this.deliver(hop, token);
  }

  private deliver(hop: Hop, token: Token): void {
    const node = this.compiled.nodes[hop.to];
    if (node === undefined) return;
    if (node.join === 'each') {
      if (token.kind === 'live') this.owner.fire(node, node.slots === 1 ? token : cameAlong(hop.slot, token));
      return;
    }
    if (node.slots === 1 && node.join !== 'quorum') {
      if (token.kind === 'live') this.owner.fire(node, token);
      else this.letGo(node, { arrivals: [token], runs: node.join === 'settled' });
      return;
    }
    const joins = (this.joins ??= []);
    const join = (joins[node.place] ??= new JoinQueue(node.slots, node.join, node.need));
    if (node.place < this.filledFrom) this.filledFrom = node.place;
    this.waiting -= join.size;
    join.arrive(hop.slot, token);
    const round = join.take();
    this.waiting += join.size;
    if (round !== undefined) this.letGo(node, round);
  }

  /**
   * E4: releases the earliest partly filled join with what it has: the first in an order in which no edge leads backwards, since later
   * nodes may wait for it. Returns its node and the number of in-edges without a token.
   */
  release(): { node: CompiledNode; missing: number } | undefined {
    if (this.waiting === 0) return undefined;
    const place = this.firstFilled();
    const node = this.compiled.nodes[this.compiled.order[place] ?? -1];
    const join = this.joins?.[place];
    if (node === undefined || join === undefined) return undefined;
    this.waiting -= join.size;
    const round = join.release();
    this.waiting += join.size;
    if (round === undefined) return undefined;
    // Any earlier decision may be the reason for a missing token.
    this.letGo(node, round, this.control);
    return { node, missing: round.arrivals.filter((token) => token === undefined).length };
  }

  /** Place of the earliest join in which a token waits. */
  private firstFilled(): number {
    const joins = this.joins ?? [];
    let place = this.filledFrom;
    while (place < joins.length && (joins[place]?.size ?? 0) === 0) place += 1;
    this.filledFrom = place;
    return place;
  }

  private letGo(node: CompiledNode, round: Round, decided = CLEAN): void {
    const { arrivals } = round;
    let depth = 0;
    let closed = 0;
    let influence = decided;
    let poison = false;
    for (const token of arrivals) {
      if (token === undefined) continue;
      if (token.depth > depth) depth = token.depth;
      if (token.round > closed) closed = token.round;
      if (token.influence !== influence) influence = this.owner.run.labels.join(influence, token.influence);
      if (token.kind === 'poison') poison = true;
    }
    const origin = { depth, round: closed, influence };
    if (!round.runs || poison) this.owner.skip(node, arrivals, origin, poison);
    else this.merge(node, arrivals, origin);
  }

  private merge(node: CompiledNode, arrivals: Arrivals, { depth, round, influence }: Decided): void {
    const versions = this.versionsFor(node, arrivals);
    const { version, conflict } = mergeVersions(versions, this.owner.channels.reducers, this.owner.run.labels);
    if (conflict !== undefined) {
      for (const unmerged of versions) this.branchEnded(unmerged);
      this.owner.refuse(node, { version, depth, round, influence }, this.explain(conflict.channel, conflict.writers));
    } else {
      this.owner.fire(node, {
        version: versions.length === 0 ? this.inputs : version,
        depth,
        round,
        influence,
        arrivals,
      });
    }
  }

  /**
   * The versions that a join merges (S3). Dead tokens carry what ran before their path ended: a join that waits for all in-edges comes after
   * that, too. `any` and `quorum` do not wait for them, so what they see would depend on timing.
   */
  private versionsFor({ join }: CompiledNode, arrivals: Arrivals): Version[] {
    const versions: Version[] = [];
    const waitsForAll = join === 'all' || join === 'settled';
    for (const token of arrivals) {
      if (token === undefined) continue;
      if (token.kind === 'live' || waitsForAll) versions.push(...carriedBy(token));
    }
    return versions;
  }

  private explain(channel: number, writers: readonly [number, number]): ErrorData {
    const name = (at: number): string => this.compiled.nodes[at]?.id ?? 'the inputs';
    return conflictError(this.owner.channels.names[channel] ?? '', [name(writers[0]), name(writers[1])]);
  }
}

/** The firing of a node that handles in-edges one by one. */
function cameAlong(slot: number, token: Token): Firing {
  // Sparse, since there may be many other in-edges.
  const arrivals: (Token | undefined)[] = [];
  arrivals[slot] = token;
  const { version, depth, round, influence } = token;
  return { version, depth, round, influence, arrivals };
}

/** The origin of a token that closes a cycle. */
function around({ depth, round, influence }: Token): Decided {
  return { depth, round: round + 1, influence };
}

export function carriedBy(token: Token): readonly Version[] {
  return token.more === undefined ? [token.version] : [token.version, ...token.more];
}
