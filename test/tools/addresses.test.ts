import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPublicAddress, sameAddress } from '../../src/agent/tools/addresses.js';

describe('same addresses', () => {
  test.each([
    ['1.2.3.4', '::ffff:1.2.3.4'],
    ['::ffff:102:304', '1.2.3.4'],
    ['::ffff:127.0.0.1', '::ffff:7f00:1'],
    ['64:ff9b::10.0.0.1', '64:ff9b::a00:1'],
    ['2001:DB8:0001::2:3', '2001:db8:1:0:0:0:2:3'],
    ['fe80::1%eth0', 'fe80::1'],
    ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304'],
  ])('%s is %s', (one, other) => {
    expect(sameAddress(one, other)).toBe(true);
    expect(sameAddress(other, one)).toBe(true);
  });

  test.each([
    ['1.2.3.4', '1.2.3.5'],
    ['1.2.3.4', '::1.2.3.4'],
    ['::1', '::2'],
    ['0127.0.0.1', '127.0.0.1'],
    ['0x7f.1', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['127.1', '127.0.0.1'],
    ['', ''],
    ['localhost', 'localhost'],
  ])('%s is not %s', (one, other) => {
    expect(sameAddress(one, other)).toBe(false);
    expect(sameAddress(other, one)).toBe(false);
  });

  test('are found whatever they are written like', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        // The URL parser writes addresses in one canonical form.
        const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
        expect(sameAddress(address, canonical)).toBe(true);
        expect(isPublicAddress(address)).toBe(isPublicAddress(canonical));
      }),
    );
  });
});

describe('public addresses', () => {
  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '100.128.0.1',
    '172.15.0.1',
    '172.32.0.1',
    '192.167.1.1',
    '223.255.255.1',
    '2606:4700::1111',
    '2a00:1450::1',
    '::ffff:8.8.8.8',
  ])('%s is one', (address) => expect(isPublicAddress(address)).toBe(true));

  test.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '10.255.255.255',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.0.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.1.1.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:a9fe:a9fe',
    '::ffff:0:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%lo',
    'fec0::1',
    'ff02::1',
    'example.org',
    '',
  ])('%s is none', (address) => expect(isPublicAddress(address)).toBe(false));

  test('no private IPv4 address gets public by being written as IPv6', () => {
    fc.assert(
      fc.property(fc.tuple(fc.constantFrom(10, 127, 0, 224), fc.nat(255), fc.nat(255), fc.nat(255)), ([a, b, c, d]) => {
        const v4 = `${a}.${b}.${c}.${d}`;
        for (const form of [v4, `::ffff:${v4}`, `::${v4}`, `64:ff9b::${v4}`, `::ffff:0:${v4}`])
          expect(isPublicAddress(form)).toBe(false);
        expect(sameAddress(v4, `::ffff:${v4}`)).toBe(true);
      }),
    );
  });
});
