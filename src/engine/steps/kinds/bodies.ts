import type { NodeKind } from '../../../plan/plan.js';
import type { Body } from '../step.js';
import { askBody } from './ask.js';
import { callBody, noTicket } from './call.js';
import { executorBody } from './executor.js';
import { loopBody } from './loop.js';
import { mapBody } from './map.js';
import { taskBody } from './task.js';
import { waitBody } from './wait.js';

const BODIES: Readonly<Record<NodeKind, Body>> = {
  task: taskBody,
  agent: executorBody,
  call: callBody,
  map: mapBody,
  loop: loopBody,
  ask: askBody,
  wait: waitBody,
  // Nothing: the node is a place for routes.
  pass: { start: (step) => step.succeed(undefined), take: noTicket },
};

/** The body of a node kind. */
export function bodyOf(kind: NodeKind): Body {
  return BODIES[kind];
}
