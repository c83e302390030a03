import * as library from '@dagrejs/dagre';

/** What a node or edge is laid out by, and after that where it is. */
export interface Laid {
  readonly width?: number;
  readonly height?: number;
  /** Of the middle. */
  readonly x?: number;
  readonly y?: number;
  readonly labelpos?: 'c';
  /** Of an edge. */
  readonly points?: readonly { readonly x: number; readonly y: number }[];
}

/** What is used of a graph of dagre. */
export interface DagreGraph {
  setGraph(options: Readonly<Record<string, string | number>>): void;
  graph(): Laid;
  setNode(key: string, size: Laid): void;
  hasNode(key: string): boolean;
  node(key: string): Laid;
  setEdge(from: string, to: string, size: Laid, name: string): void;
  edge(from: string, to: string, name: string): Laid;
}

// The types of the package import each other in a way that the resolution of modules of Node does not follow.
const { Graph, layout } = library as unknown as {
  readonly Graph: new (options: { readonly multigraph: boolean }) => DagreGraph;
  readonly layout: (graph: DagreGraph, options: { readonly disableOptimalOrderHeuristic: boolean }) => void;
};

/**
 * A graph that holds several edges between two nodes.
 *
 * @example
 * const graph = emptyGraph();
 */
export function emptyGraph(): DagreGraph {
  return new Graph({ multigraph: true });
}

/**
 * Gives all nodes and edges of a graph their places. `inOrder`: boxes of a rank stand in the order in which a search from the roots finds them, and no
 * time is spent on fewer crossings.
 */
export function arrange(graph: DagreGraph, inOrder: boolean): void {
  layout(graph, { disableOptimalOrderHeuristic: inOrder });
}
