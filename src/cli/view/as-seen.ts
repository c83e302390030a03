import { pathOf } from '../../base/address.js';
import type { SkeinEvent } from '../../events/event.js';

/**
 * An event as people see it: a step is the same one in all attempts, its own and those of the steps around it.
 *
 * @example
 * asSeen(event).path; // 'block/draft' for 'block~2/draft'
 */
export function asSeen(event: SkeinEvent): SkeinEvent {
  const { path, parent } = event;
  return path.includes('~') || parent.includes('~') ? { ...event, path: pathOf(path), parent: pathOf(parent) } : event;
}
