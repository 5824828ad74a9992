/*
 * URLs that must never lead to a connection: every spelling of an address that is not public, names that lead to one, and
 * URLs that say one thing and mean another. `{port}` stands for the port of a canary on this machine. Blocks are those of
 * the IANA special-purpose registries (RFC 6890), which name the RFC of each; spellings are those that inet_aton(3),
 * getaddrinfo(3) and the WHATWG URL standard know, and those that guards elsewhere were caught with.
 */

/** One hostile URL. */
export interface HostileUrl {
  readonly url: string
  /** What its name resolves to at each look-up, the last for ever; empty for a name that is never looked up. */
  readonly lookUps: readonly (readonly string[])[]
}

/** A public address that nobody calls in a test (TEST-NET is not public, so it is a real one of example.com). */
const PUBLIC = '93.184.215.14'
const PUBLIC_V6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c'

/** First, a middle and the last address. */
const BLOCKS_V4 = [
  ...[
    '0.0.0.0 0.1.2.3 0.255.255.255',
    '10.0.0.0 10.20.30.40 10.255.255.255',
    '100.64.0.0 100.100.100.200 100.127.255.255',
  ],
  ...['127.0.0.0 127.8.8.8 127.255.255.255', '169.254.0.0 169.254.169.254 169.254.255.255'],
  ...['172.16.0.0 172.20.1.1 172.31.255.255', '192.0.0.0 192.0.0.192 192.0.0.255', '192.0.2.0 192.0.2.9 192.0.2.255'],
  ...['192.31.196.0 192.31.196.9 192.31.196.255', '192.52.193.0 192.52.193.9 192.52.193.255'],
  ...['192.88.99.0 192.88.99.9 192.88.99.255', '192.168.0.0 192.168.1.1 192.168.255.255'],
  ...['192.175.48.0 192.175.48.9 192.175.48.255', '198.18.0.0 198.18.9.9 198.19.255.255'],
  ...['198.51.100.0 198.51.100.7 198.51.100.255', '203.0.113.0 203.0.113.7 203.0.113.255'],
  ...['224.0.0.0 232.1.1.1 239.255.255.255', '240.0.0.0 248.1.1.1 255.255.255.255', '168.63.129.16'],
].flatMap((block) => block.split(' '))

const BLOCKS_V6 = [
  ...[':: ::1 ::2', '::ffff:0:0 ::ffff:7f00:1 ::ffff:ffff:ffff', '64:ff9b:: 64:ff9b::a00:1 64:ff9b::ffff:ffff'],
  ...['64:ff9b:1:: 64:ff9b:1::a00:1 64:ff9b:1:ffff:ffff:ffff:ffff:ffff', '100:: 100::1 100::ffff:ffff:ffff:ffff'],
  ...[
    '2001:: 2001:0:7f00:1:: 2001:0:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001:2:: 2001:2::1 2001:2:0:ffff:ffff:ffff:ffff:ffff',
  ],
  ...['2001:10:: 2001:1f:ffff::1 2001:20::1', '2001:db8:: 2001:db8::1 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ...['2002:: 2002:7f00:1:: 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2620:4f:8000:: 2620:4f:8000::1 3ffe::1'],
  ...[
    '3fff:: 3fff:1::1 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff',
    '5f00:: 5f00::1 5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  ],
  ...[
    'fc00:: fd00:ec2::254 fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    'fe80:: fe80::1 febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  ],
  ...[
    'fec0:: fec0::1 feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    'ff00:: ff02::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  ],
  ...['4000::1 1fff:ffff::1 8000::1'],
].flatMap((block) => block.split(' '))

/** What an attacker wants to reach. */
const TARGETS = [
  ...[
    '127.0.0.1',
    '127.1.2.3',
    '0.0.0.0',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.100.100.200',
  ],
  ...['192.0.0.192', '168.63.129.16', '198.18.0.1', '224.0.0.1'],
]

const bytesOf = (address: string) => address.split('.').map(Number)
const wholeOf = (address: string) => bytesOf(address).reduce((sum, byte) => sum * 256 + byte, 0)
const hex = (value: number, digits = 1) => value.toString(16).padStart(digits, '0')
const fullWidth = (text: string) => text.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))
const percent = (text: string) => text.replace(/\d/g, (digit) => `%3${digit}`)

/** Other ways to write an IPv4 address. */
const SPELLINGS: readonly ((address: string) => string)[] = [
  (address) => String(wholeOf(address)),
  (address) => `0x${hex(wholeOf(address))}`,
  (address) => `0X${hex(wholeOf(address)).toUpperCase()}`,
  (address) => `0${wholeOf(address).toString(8)}`,
  (address) =>
    bytesOf(address)
      .map((byte) => `0x${hex(byte, 2)}`)
      .join('.'),
  (address) =>
    bytesOf(address)
      .map((byte) => `0${byte.toString(8).padStart(3, '0')}`)
      .join('.'),
  (address) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytesOf(address)
    return `${a}.0x${hex(b)}.0${((c << 8) + d).toString(8)}`
  },
  (address) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytesOf(address)
    return `${a}.${(b << 16) + (c << 8) + d}`
  },
  (address) => `${address}.`,
  fullWidth,
  (address) => address.replaceAll('.', '。'),
  (address) => address.replaceAll('.', '｡'),
  (address) => address.replaceAll('.', '．'),
  percent,
  (address) => address.replaceAll('.', '%2e'),
]

/** Ways to hide an IPv4 address in IPv6. */
const WRAPPINGS: readonly ((address: string) => string)[] = [
  (address) => `::ffff:${address}`,
  (address) => `::FFFF:${halves(address)}`,
  (address) => `0:0:0:0:0:ffff:${halves(address)}`,
  (address) => `::${address}`,
  (address) => `::ffff:0:${address}`,
  (address) => `64:ff9b::${address}`,
  (address) => `64:ff9b:1::${halves(address)}`,
  (address) => `2002:${halves(address)}::1`,
  (address) => `2001:0:${halves(address)}::`,
  // Teredo hides the client's address with all bits flipped (RFC 4380 §4).
  (address) =>
    `2001:0:5db8:d70e::${hex(0xffff - (wholeOf(address) >>> 16))}:${hex(0xffff - (wholeOf(address) & 0xffff))}`,
  // ISATAP under a link-local prefix (RFC 5214).
  (address) => `fe80::5efe:${address}`,
]

function halves(address: string): string {
  const whole = wholeOf(address)
  return `${hex(Math.floor(whole / 65_536))}:${hex(whole % 65_536)}`
}

/** Names that are local by definition, in every disguise that a URL parser takes off. */
const LOCAL_NAMES = [
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    'LocalHost.',
    'a.localhost',
    'a.b.localhost.',
    'loc%61lhost',
    'ｌｏｃａｌｈｏｓｔ',
  ],
  ...['ⓛocalhost', 'localhost。', 'localhost.localdomain', 'printer.local', 'printer.local.', 'PRINTER.LOCAL'],
  ...['metadata.google.internal', 'metadata.google.internal.', 'kubernetes.default.svc.cluster.local', 'x.internal'],
  ...[
    'router.home.arpa',
    'intranet',
    'db',
    'redis',
    'metadata',
    'kubernetes',
    'ip6-localhost',
    '0',
    '0x',
    'lo\u00adcalhost',
  ],
]

/** Names in the public DNS that lead inside. */
const LEADING_INSIDE: readonly (readonly [string, readonly string[]])[] = [
  ['127.0.0.1.nip.example', ['127.0.0.1']],
  ['7f000001.nip.example', ['127.0.0.1']],
  ['localtest.example', ['127.0.0.1', '::1']],
  ['six.example', ['::1']],
  ['mapped.example', ['::ffff:127.0.0.1']],
  ['mixed.example', [PUBLIC, '127.0.0.1']],
  ['mixed-first.example', ['127.0.0.1', PUBLIC]],
  ['mixed-six.example', [PUBLIC, '::1']],
  ['mixed-many.example', [PUBLIC, PUBLIC_V6, PUBLIC, '10.0.0.1']],
  ['metadata.example', ['169.254.169.254']],
  ['metadata-six.example', ['fd00:ec2::254']],
  ['nat64.example', ['64:ff9b::7f00:1']],
  ['sixtofour.example', ['2002:7f00:1::']],
  ['zero.example', ['0.0.0.0']],
  ['broadcast.example', ['255.255.255.255']],
  ['zone.example', ['fe80::1%lo']],
  ['trailing-dot.example.', ['127.0.0.1']],
  ['UPPER.EXAMPLE', ['127.0.0.1']],
  ['bücher.example', ['127.0.0.1']],
  ['xn--bcher-kva.test.example', ['10.0.0.1']],
  ['a-text.example', ['localhost']],
  ['short.example', ['127.1']],
  ['number.example', ['2130706433']],
  ['octal.example', ['0177.0.0.1']],
]

/** URLs that a person or another parser reads differently from ours. */
const CONFUSING = [
  ...[
    'https://1.1.1.1@127.0.0.1:{port}/',
    'https://example.com:443@127.0.0.1:{port}/',
    'https://u:p@127.0.0.1:{port}/',
  ],
  ...[
    'https://127.0.0.1:{port}\\@example.com/',
    'https:\\\\127.0.0.1:{port}\\',
    'https:127.0.0.1:{port}',
    'https:/127.0.0.1:{port}/',
  ],
  ...[
    'https:///127.0.0.1:{port}/',
    'https:////127.0.0.1:{port}/',
    'ht\ntps://127.0.0.1:{port}/',
    'https://127.0.\t0.1:{port}/',
  ],
  ...[' https://127.0.0.1:{port}/ ', '\u0000https://127.0.0.1:{port}/', 'https://127.0.0.1:{port}#.example.com'],
  ...[
    'https://127.0.0.1:{port}?.example.com',
    'https://[::1]:{port}#@example.com',
    'https://127.0.0.1%00.example.com:{port}/',
  ],
  ...[
    'https://127.0.0.1 .example.com:{port}/',
    'https://example.com%2f@127.0.0.1:{port}/',
    'https://[::1%25lo]:{port}/',
  ],
  ...['https://[::ffff:127.0.0.1%25lo]:{port}/', 'https://[127.0.0.1]:{port}/', 'https://[::1', 'https://::1:{port}/'],
  ...[
    'http://127.0.0.1:{port}/',
    'http://[::1]:{port}/',
    'http://127.1:{port}/',
    'http://0:{port}/',
    'http://a.localhost:{port}/',
  ],
  ...[
    'http://localhost.example.com:{port}/',
    'http://example.com/',
    'ws://127.0.0.1:{port}/',
    'wss://127.0.0.1:{port}/',
  ],
  ...[
    'ftp://127.0.0.1:{port}/',
    'gopher://127.0.0.1:{port}/_GET',
    'file:///etc/passwd',
    'dict://127.0.0.1:{port}/',
    'data:text/plain,x',
  ],
  ...[
    'javascript:1',
    'blob:https://127.0.0.1:{port}/x',
    'unix:/var/run/docker.sock',
    'jar:https://127.0.0.1:{port}/!/',
  ],
  ...[
    'https://127.0.0.1:22/',
    'https://93.184.215.14:25/',
    'https://93.184.215.14:0/',
    'https://93.184.215.14:6e3/',
    '//127.0.0.1:{port}/',
  ],
]

/** Names whose answer changes between the check at creation and the connection, or between attempts. */
const SCRIPTS: readonly (readonly (readonly string[])[])[] = [
  ...[
    '127.0.0.1',
    '::1',
    '10.0.0.1',
    '169.254.169.254',
    '0.0.0.0',
    '::ffff:127.0.0.1',
    '64:ff9b::7f00:1',
    'fd00:ec2::254',
  ].map((inside) => [[PUBLIC], [inside]]),
  ...['127.0.0.1', '::1', '192.168.1.1', '100.100.100.200', '::ffff:7f00:1', 'fe80::1'].map((inside) => [
    [PUBLIC],
    [PUBLIC, inside],
  ]),
  ...['127.0.0.1', '::1', '172.16.0.1', '2002:7f00:1::'].map((inside) => [[PUBLIC_V6], [inside, PUBLIC_V6]]),
  [[PUBLIC], [], ['127.0.0.1']],
  [[], ['127.0.0.1']],
  [[], [], ['::1']],
  [[PUBLIC], ['127.0.0.1', '127.0.0.2', '127.0.0.3']],
  [
    [PUBLIC, PUBLIC_V6],
    ['127.0.0.1', PUBLIC, '::1', PUBLIC_V6],
  ],
  [[PUBLIC], ['not an address'], ['127.0.0.1']],
  [[PUBLIC], ['']],
  [[PUBLIC], ['127.0.0.1.']],
]

const literal = (host: string): HostileUrl => ({ url: `https://${host}:{port}/hook`, lookUps: [] })

/** Every hostile URL but those that rebind. */
export const HOSTILE_URLS: readonly HostileUrl[] = [
  ...BLOCKS_V4.map(literal),
  ...BLOCKS_V6.map((address) => literal(`[${address}]`)),
  ...TARGETS.flatMap((target) => SPELLINGS.map((spell) => literal(spell(target)))),
  ...TARGETS.flatMap((target) => WRAPPINGS.map((wrap) => literal(`[${wrap(target)}]`))),
  ...LOCAL_NAMES.map(literal),
  ...LEADING_INSIDE.map(([name, addresses]) => ({ url: `https://${name}:{port}/hook`, lookUps: [addresses] })),
  ...CONFUSING.map((url) => ({ url, lookUps: [] })),
]

/** Names that rebind. The first look-up is that of the check at creation. */
export const REBINDING_URLS: readonly HostileUrl[] = SCRIPTS.map((lookUps, index) => ({
  url: `https://rebind-${index}.example.com:{port}/hook`,
  lookUps,
}))
