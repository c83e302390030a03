import { describe, expect, it } from 'vitest';
import { DOORS, outcome } from './doors.js';

describe('an option that does not exist is refused', () => {
  it.each(Object.entries(DOORS))('%s', async (_, [options, call]) => {
    const error = await outcome(() => call({ ...options, aprove: true }));
    expect(error).toMatchObject({ code: expect.stringMatching(/^SKEIN_(?:USAGE|DEFINITION)$/) as string });
    expect((error as Error).message).toContain('aprove');
  });
});
