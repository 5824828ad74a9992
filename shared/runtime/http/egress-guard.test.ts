import { describe, expect, test, vi } from 'vitest'
import { isLoopbackAddress, isPublicAddress } from './egress-connector.ts'
import { createEgressGuard } from './egress-guard.ts'

const PUBLIC = ['93.184.215.14']
const guard = createEgressGuard({ allowLocalhost: false, resolve: async () => PUBLIC })

/** First, a middle and the last address of every block that is not public, and every way to hide one in IPv6. */
const NOT_PUBLIC = [
  ...['0.0.0.0', '0.1.2.3', '0.255.255.255', '10.0.0.0', '10.20.30.40', '10.255.255.255'],
  ...['100.64.0.0', '100.100.100.200', '100.127.255.255', '127.0.0.0', '127.0.0.1', '127.255.255.255'],
  ...['169.254.0.0', '169.254.169.254', '169.254.255.255', '172.16.0.0', '172.20.1.1', '172.31.255.255'],
  ...['192.0.0.0', '192.0.0.192', '192.0.0.255', '192.0.2.1', '192.88.99.1', '192.168.0.0', '192.168.255.255'],
  ...['198.18.0.0', '198.19.255.255', '198.51.100.7', '203.0.113.7', '224.0.0.1', '239.255.255.255'],
  ...['240.0.0.1', '255.255.255.255', '168.63.129.16', '192.31.196.1', '192.52.193.1', '192.175.48.1'],
  ...['::', '::1', '::7f00:1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1'],
  ...['::ffff:a9fe:a9fe', '::ffff:8.8.8.8', '::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::8.8.8.8'],
  ...['64:ff9b:1::1', '100::1', '2001::1', '2001:0:7f00:1::', '2001:2::1', '2001:10::1', '2001:20::1'],
  ...['2001:1ff:ffff::1', '2001:db8::1', '2002:7f00:1::', '2002:a9fe:a9fe::1', '2002:808:808::1', '3ffe::1'],
  ...['3fff::1', '2620:4f:8000::1', '5f00::1', 'fc00::1', 'fd00:ec2::254', 'fdff::1', 'fe80::1', 'fe80::1%eth0'],
  ...['fec0::1', 'ff02::1', 'ff0e::1', '4000::1', '1fff:ffff::1', '2606:4700::1111%1'],
  ...['', 'localhost', '1.2.3', '0x7f000001', '2130706433', '127.0.0.1:80', '[::1]', ' 8.8.8.8'],
]

describe('an address', () => {
  test.each(NOT_PUBLIC)('%j is not public', (address) => expect(isPublicAddress(address)).toBe(false))
  test.each(['1.1.1.1', '8.8.8.8', '93.184.215.14', '172.32.0.1', '100.63.255.255', '100.128.0.0', '223.255.255.255'])(
    '%s is public',
    (address) => expect(isPublicAddress(address)).toBe(true),
  )
  test.each([
    '2606:4700:4700::1111',
    '2a00:1450:4001:81b::200e',
    '2001:200::1',
    '2001:4860:4860::8888',
    '2400:cb00::1',
  ])('%s is public', (address) => expect(isPublicAddress(address)).toBe(true))
  test('of this machine is known', () => {
    expect(['127.0.0.1', '127.9.9.9', '::1'].every(isLoopbackAddress)).toBe(true)
    expect(['128.0.0.1', '::2', '10.0.0.1', '::1%lo', ''].some(isLoopbackAddress)).toBe(false)
  })
})

const HOSTILE_URLS: readonly (readonly [string, string])[] = [
  ...[
    ...['https://127.0.0.1', 'https://127.1', 'https://127.0.1', 'https://2130706433', 'https://0x7f000001'],
    ...['https://0x7f.0.0.1', 'https://0x7f.1', 'https://0177.0.0.1', 'https://017700000001', 'https://00000177.1'],
    ...[
      'https://127.0.0.1.',
      'https://%31%32%37.0.0.1',
      'https://１２７.０.０.１',
      'https://127。0。0。1',
      'https://0',
    ],
    ...[
      'https://①②⑦.⓪.⓪.①',
      'https://0.0.0.0',
      'https://0x0',
      'https://10.0.0.1',
      'https://167772161',
      'https://012.1',
    ],
    ...[
      'https://172.16.0.1',
      'https://172.31.255.255',
      'https://0xac100001',
      'https://192.168.1.1',
      'https://3232235777',
    ],
    ...[
      'https://0xc0.0xa8.1.1',
      'https://169.254.169.254',
      'https://2852039166',
      'https://0xa9fea9fe',
      'https://0xa9.0xfe.43518',
    ],
    ...['https://0251.0376.0251.0376', 'https://169.254.43518', 'https://100.100.100.200', 'https://100.64.0.1'],
    ...[
      'https://192.0.0.192',
      'https://168.63.129.16',
      'https://198.18.0.1',
      'https://224.0.0.1',
      'https://255.255.255.255',
    ],
    ...[
      'https://[::1]',
      'https://[::]',
      'https://[0:0:0:0:0:0:0:1]',
      'https://[::ffff:127.0.0.1]',
      'https://[::ffff:7f00:1]',
    ],
    ...[
      'https://[::127.0.0.1]',
      'https://[::7f00:1]',
      'https://[::ffff:169.254.169.254]',
      'https://[::ffff:a9fe:a9fe]',
    ],
    ...[
      'https://[64:ff9b::7f00:1]',
      'https://[64:ff9b::169.254.169.254]',
      'https://[2002:7f00:1::]',
      'https://[2002:a9fe:a9fe::]',
    ],
    ...[
      'https://[2001:0:7f00:1::]',
      'https://[fe80::1]',
      'https://[fc00::1]',
      'https://[fd00:ec2::254]',
      'https://[ff02::1]',
    ],
    ...[
      'https://[2001:db8::1]',
      'https://[::ffff:0:a9fe:a9fe]',
      'https://[100::1]',
      'https://[5f00::1]',
      'https://[3fff::1]',
    ],
    ...[
      'https://localhost',
      'https://LOCALHOST',
      'https://localhost.',
      'https://localhost:8443',
      'https://a.localhost',
    ],
    ...[
      'https://printer.local',
      'https://metadata.google.internal',
      'https://metadata.google.internal.',
      'https://x.home.arpa',
    ],
    ...[
      'https://intranet',
      'https://db',
      'https://ｌｏｃａｌｈｏｓｔ',
      'https://loc%61lhost',
      'https://localhost.localdomain',
    ],
  ].map((url) => [url, 'address_not_public or malformed'] as const),
  ...[
    ...['http://example.com', 'ftp://example.com', 'file:///etc/passwd', 'gopher://example.com', 'ws://example.com'],
    ...[
      'javascript:alert(1)',
      'data:text/plain,x',
      'http://127.0.0.1:8080',
      'http://[::1]:8080',
      'http://localhost.example.com',
    ],
  ].map((url) => [url, url.startsWith('http:') ? 'not_https' : 'not_https or malformed'] as const),
  ...[
    'https://example.com:80',
    'https://example.com:22',
    'https://example.com:0',
    'https://example.com:1023',
    'https://1.1.1.1:25',
  ].map((url) => [url, 'port_not_allowed'] as const),
  ...['https://u@example.com', 'https://u:p@example.com', 'https://:p@example.com', 'https://1.1.1.1@127.0.0.1'].map(
    (url) => [url, 'credentials'] as const,
  ),
  ...['http://localhost:3000', 'http://localhost', 'http://LOCALHOST.:3000/x', 'http://0/'].map(
    (url) => [url, url === 'http://0/' ? 'malformed' : 'localhost_not_allowed'] as const,
  ),
  ...[
    ...['https://münchen.example.com/hook', 'https:example.com', 'https:/example.com', 'https:///example.com'],
    ...['', 'example.com', '//example.com', 'https://', 'https://exa mple.com', 'https://[::1', 'https://1.2.3.256'],
    ...[
      'https://example.com:99999',
      'https://0x100000000',
      'https://[fe80::1%25eth0]',
      'https://example..',
      'https://.',
    ],
    ...[
      `https://example.com/${'a'.repeat(2_048)}`,
      'https://exa\u0000mple.com',
      'https://1.2.3.4.5',
      'https://a<b.com',
      'https:\\\\example.com',
      'https://example.com\\@127.0.0.1/',
      'https://example.com\\hook',
      'https://exam\tple.com',
      'https://example.com/\n',
      ' https://example.com',
    ],
  ].map((url) => [url, 'malformed'] as const),
]

describe('a hostile URL', () => {
  // Guarantee: no spelling of an address that is not public is ever accepted, whatever DNS would say.
  test.each(HOSTILE_URLS)('%j is refused (%s)', async (url, reason) => {
    const verdict = await guard.check(url, { testOnly: true })
    expect(verdict.ok).toBe(false)
    if (!verdict.ok) expect(reason.split(' or ')).toContain(verdict.reason)
  })

  test.each([
    ['http://localhost:0/', 'port_not_allowed'],
    ['http://localhost.:3000/', 'malformed'],
    ['http://localhost\\:3000/', 'malformed'],
    ['http:\\\\localhost:3000', 'malformed'],
  ])('%j is refused for test endpoints of a development server too (%s)', async (url, reason) => {
    const development = createEgressGuard({ allowLocalhost: true, resolve: async () => PUBLIC })
    expect(await development.check(url, { testOnly: true })).toEqual({ ok: false, reason })
  })

  test('there are at least a hundred of them', () => {
    expect(HOSTILE_URLS.length).toBeGreaterThanOrEqual(100)
  })
})

describe('an endpoint URL', () => {
  test.each([
    'https://example.com',
    'https://example.com./hook',
    'https://example.com:443/hook?a=1#frag',
    'https://example.com:8443/hook',
    'https://xn--mnchen-3ya.example.com/hook',
    'https://1.1.1.1/hook',
    'https://[2606:4700:4700::1111]:4443/hook',
  ])('%s is accepted', async (url) => {
    expect(await guard.check(url, { testOnly: false })).toEqual({ ok: true })
  })

  test('is refused when any of its addresses is not public', async () => {
    const resolve = vi.fn(async () => ['93.184.215.14', '10.0.0.1'])
    const mixed = createEgressGuard({ allowLocalhost: false, resolve })
    expect(await mixed.check('https://mixed.example.com./', { testOnly: false })).toEqual({
      ok: false,
      reason: 'address_not_public',
    })
    expect(resolve).toHaveBeenCalledWith('mixed.example.com')
  })

  test('is accepted when its name does not resolve at this moment', async () => {
    const silent = createEgressGuard({ allowLocalhost: false, resolve: () => Promise.reject(new Error('SERVFAIL')) })
    expect(await silent.check('https://new.example.com/', { testOnly: false })).toEqual({ ok: true })
  })

  test('on localhost needs the server setting and a test-only endpoint', async () => {
    const open = createEgressGuard({ allowLocalhost: true, resolve: async () => PUBLIC })
    expect(await open.check('http://localhost:3000/hook', { testOnly: true })).toEqual({ ok: true })
    const refused = { ok: false, reason: 'localhost_not_allowed' }
    expect(await open.check('http://localhost:3000/hook', { testOnly: false })).toEqual(refused)
    expect(await open.check('http://127.0.0.1:3000/hook', { testOnly: true })).toEqual({
      ok: false,
      reason: 'not_https',
    })
    expect(await open.check('http://a.localhost:3000/', { testOnly: true })).toEqual({ ok: false, reason: 'not_https' })
  })
})
