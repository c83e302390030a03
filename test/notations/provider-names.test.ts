import { expect, test } from 'vitest';
import { PROVIDERS } from '../../src/agent/models/provider-catalog.js';
import { PROVIDER_NAMES } from '../../src/notations/provider-names.js';

test('files may name exactly the providers that can be called', () => {
  const callable = PROVIDERS.map(({ id }) => id).filter((id) => id !== 'mock' && id !== 'script');
  expect([...PROVIDER_NAMES].toSorted()).toEqual(callable.toSorted());
});
