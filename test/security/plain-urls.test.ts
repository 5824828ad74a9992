import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { serverAccess } from '#scripts/cli/events/server-access.ts'
import { appRouter } from '#services/admin/app-router.ts'
import { ROUTES } from '#services/api/routes.ts'
import { FIELDS } from '#shared/config/fields.ts'
import { returnUrl } from '#shared/contracts/http/invoice-create.ts'
import { parsePlainUrl, readPlainUrl } from '#shared/contracts/http/plain-url.ts'
import { createEgressGuard } from '#shared/runtime/http/egress-guard.ts'
import { endpointFaults } from '#shared/usecases/endpoints/manage-endpoints.ts'
import { definitionOf, schemasWithin } from '#test/support/schema-walk.ts'
import { textFields } from '#test/support/text-fields.ts'

type Takes = (text: string) => boolean | Promise<boolean>
type Procedures = Readonly<Record<string, { readonly _def: { readonly inputs: readonly z.ZodType[] } }>>

const urlGuard = createEgressGuard({ allowLocalhost: false, resolve: async () => ['93.184.215.14'] })
const takesEndpoint: Takes = async (url) =>
  (await endpointFaults({ urlGuard }, 'live', { url, mode: 'live' })).length === 0
const parses =
  (schema: z.ZodType, wrap: (text: string) => unknown = (text) => text): Takes =>
  (text) =>
    schema.safeParse(wrap(text)).success
const procedures = appRouter._def.procedures as unknown as Procedures
const contact = procedures['workspace.update']?._def.inputs
  .flatMap((input) => schemasWithin(input))
  .find(({ path, schema }) => path === 'change.supportContact' && definitionOf(schema).type === 'string')?.schema

/** Every field that takes a URL from outside, by what reads it. */
const FIELDS_OF_URLS: Readonly<Record<string, Takes>> = {
  'success_url, cancel_url': parses(returnUrl('live')),
  'success_url, cancel_url of test mode': parses(returnUrl('test')),
  'webhook endpoint': takesEndpoint,
  'webhook call': async (url) => (await urlGuard.check(url, { testOnly: false })).ok,
  'support contact': parses(contact as z.ZodType),
  PAYMESH_PUBLIC_API_URL: parses(FIELDS.PAYMESH_PUBLIC_API_URL.schema),
  PAYMESH_PUBLIC_CHECKOUT_URL: parses(FIELDS.PAYMESH_PUBLIC_CHECKOUT_URL.schema),
  PAYMESH_PUBLIC_ADMIN_URL: parses(FIELDS.PAYMESH_PUBLIC_ADMIN_URL.schema),
  PAYMESH_OTEL_URL: parses(FIELDS.PAYMESH_OTEL_URL.schema),
  PAYMESH_NETWORKS: parses(FIELDS.PAYMESH_NETWORKS.schema, (url) =>
    JSON.stringify({ live: { base: { rpcUrls: [url] } } }),
  ),
  PAYMESH_RATE_SOURCES: parses(FIELDS.PAYMESH_RATE_SOURCES.schema, (url) => JSON.stringify({ kraken: url })),
  '--server': (url) => {
    try {
      serverAccess({ server: url, data: '/nowhere' }, { PAYMESH_API_KEY: 'key' })
      return true
    } catch {
      return false
    }
  },
}

/** Settings whose URL has another scheme and names credentials or several hosts. */
const OTHER_SCHEMES: readonly string[] = ['MONGO_URL', 'REDIS_URL', 'PAYMESH_SMTP_URL']

/** Fields of inputs that hold a URL, and which row above reads them. */
const COVERED: Readonly<Record<string, string>> = {
  success_url: 'success_url, cancel_url',
  cancel_url: 'success_url, cancel_url',
  url: 'webhook endpoint',
  'endpoint.url': 'webhook endpoint',
}

const REPAIRED = [
  ...['https:evil.example', 'https:/evil.example', 'https:///evil.example', 'HTTPS://evil.example', '//evil.example'],
  ...[
    'https://good.example\\.evil.example/',
    'https://evil.example/\\@good',
    'https:\\\\evil.example',
    'https://a\\b/',
  ],
  ...[
    ' https://x.example',
    'https://x.example ',
    'https://x.example/a b',
    'https://x.example/\u00a0',
    '\ufeffhttps://x.example',
  ],
  ...[
    'https://x.exa\tmple',
    'https://x.example/\n',
    'https://x.example/\r\nSet-Cookie:a=b',
    'https://x.example/\u0000',
  ],
  ...['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069', '\u200e', '\u200f'].map(
    (mark) => `https://x.example/${mark}gnp`,
  ),
  ...['\u200b', '\u200c', '\u200d', '\u2060', '\u00ad', '\u061c', '\u180e', '\ufeff', '\u2028', '\u2029', '\u0085'].map(
    (mark) => `https://x.exam${mark}ple/`,
  ),
  ...[
    'https://x.example/\ud800',
    'https://münchen.example/',
    'https://пример.example/',
    'https://ｘ.example/',
    'https://x。example/',
  ],
  ...[
    'https://x.example/ü',
    'https://x.example/?q=ü',
    'https://x.example/a/../b',
    'https://x.example/%2e%2e/b',
    'https://x.example/"',
  ],
  ...[
    'https://%78.example/',
    'https://0x7f.1/',
    'https://2130706433/',
    'https://1.1/',
    'https://x.example:0443/',
    'https://x.example:/',
  ],
  ...[
    '',
    'x',
    'https://',
    'https://x y/',
    'javascript:alert(1)',
    'data:text/html,x',
    'blob:https://x/1',
    'mailto:a@b.example',
  ],
  ...[`https://x.example/${'a'.repeat(2_048)}`, 'http:/x.example', 'http:x.example', 'https://[::ffff:127.0.0.1]/'],
]

describe('a field that takes a URL', () => {
  const table = Object.entries(FIELDS_OF_URLS)

  // Guarantee: no text is stored or called that a reader and a parser understand differently.
  test.each(table)('refuses what a parser would repair: %s', async (name, takes) => {
    const taken: string[] = []
    for (const text of REPAIRED) if (await takes(text)) taken.push(text)
    // A setting may be absent, and white space around a contact is dropped before it is read.
    const allowed =
      name === 'PAYMESH_OTEL_URL'
        ? ['']
        : name === 'support contact'
          ? REPAIRED.filter((text) => text.trim() !== text && parsePlainUrl(text.trim()) !== null)
          : []
    expect(taken.filter((text) => !allowed.includes(text))).toEqual([])
  })

  test.each(table)('takes a plain one: %s', async (_, takes) => {
    for (const text of [
      'https://shop.example',
      'https://Shop.example/thanks?order=1#a',
      'https://xn--mnchen-3ya.example/',
      'https://x.example:8443/%C3%BC',
    ])
      expect([text, await takes(text)]).toEqual([text, true])
  })

  test('is in the table', () => {
    const inputs = [
      ...ROUTES.flatMap(({ body }) => (body === undefined ? [] : [body.schema])),
      ...Object.values(procedures).flatMap(({ _def }) => _def.inputs),
    ]
    const named = [...new Set(inputs.flatMap((input) => textFields(input)))].filter((field) => /ur[li]$/i.test(field))
    expect(named.filter((field) => !(field in COVERED))).toEqual([])
    expect(Object.values(COVERED).every((row) => row in FIELDS_OF_URLS)).toBe(true)
    const settings = Object.keys(FIELDS).filter((name) => name.endsWith('_URL') && !OTHER_SCHEMES.includes(name))
    expect(settings.filter((name) => !(name in FIELDS_OF_URLS))).toEqual([])
  })
})

describe('the refusal of a URL', () => {
  test.each([
    ['https:evil.example', 'must be written as https://evil.example/'],
    ['https://münchen.example/x', 'must be written as https://xn--mnchen-3ya.example/x'],
    ['https://x.example/ü', 'must be written as https://x.example/%C3%BC'],
    [
      'https://x.example/\u202egnp',
      'must be an absolute URL without white space, control characters, invisible characters or backslashes',
    ],
    ['x.example', 'must be an absolute URL'],
    [`https://x.example/${'ü'.repeat(100)}`, 'must be written as browsers write it'],
  ])('of %s says how to write it', (text, fault) => {
    expect(readPlainUrl(text).fault).toBe(fault)
  })
})
