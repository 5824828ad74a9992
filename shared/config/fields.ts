import { z } from 'zod'
import { parseMailAddress } from '#shared/contracts/mail-address.ts'
import { parseRedisUrl, RedisUrlError } from '#shared/contracts/redis-url.ts'
import { NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import { plainHttpUrl } from './http-url.ts'
import { networkSettingsSchema } from './network-settings.ts'
import { otlpHeaders, samplerShare, traceSampler } from './otel.ts'

/** One environment variable: what it means, how it is parsed, and an example that parses. */
export interface Field<T> {
  readonly description: string
  readonly example: string
  /** Text used when the variable is absent or empty; null makes it required. */
  readonly fallback: string | null
  readonly schema: z.ZodType<T, string>
}

function field<T>(
  description: string,
  example: string,
  fallback: string | null,
  schema: z.ZodType<T, string>,
): Field<T> {
  return { description, example, fallback, schema }
}

/** Risks that production refuses unless the setting accepts them by name. */
export const ACCEPTABLE_RISKS = ['known-keys', 'http-urls', 'localhost-webhooks', 'no-wallet-delay'] as const
export type AcceptableRisk = (typeof ACCEPTABLE_RISKS)[number]

const riskList = z.string().transform((text, context): readonly AcceptableRisk[] => {
  const names = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  const known = names.filter((part): part is AcceptableRisk => (ACCEPTABLE_RISKS as readonly string[]).includes(part))
  if (known.length < names.length) {
    context.addIssue({ code: 'custom', message: `must be a comma-separated list of ${ACCEPTABLE_RISKS.join(', ')}` })
  }
  return known
})

const EXAMPLE_KEY = 'dGhpcy1pcy1hbi1leGFtcGxlLWtleS1ub3QtYS1zZWM='

function json<T>(schema: z.ZodType<T>) {
  return z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text)
      } catch {
        context.addIssue({ code: 'custom', message: 'must be valid JSON' })
        return z.NEVER
      }
    })
    .pipe(schema)
}

function integer(min: number, max: number) {
  return z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`))
}

/** The order of the list is kept; duplicates collapse. */
const networkList = z.string().transform((text, context): readonly NetworkId[] => {
  const names = text.split(',').map((name) => name.trim())
  const known = names.filter((name): name is NetworkId => (NETWORK_IDS as readonly string[]).includes(name))
  if (known.length < names.length) {
    context.addIssue({ code: 'custom', message: `must be a comma-separated list of ${NETWORK_IDS.join(', ')}` })
  }
  return [...new Set(known)]
})

const withoutPadding = (base64: string): string => base64.replace(/={1,2}$/, '')

const key32 = z.string().transform((text, context): Uint8Array => {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== 32 || withoutPadding(bytes.toString('base64')) !== withoutPadding(text)) {
    context.addIssue({ code: 'custom', message: 'must be 32 bytes in base64 (`openssl rand -base64 32`)' })
  }
  return new Uint8Array(bytes)
})

/** Absent means none. */
const orNone = <T>(schema: z.ZodType<T, string>) => z.union([z.literal('').transform(() => null), schema])

const smtpUrl = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^smtps?:$/.test(new URL(text).protocol) && new URL(text).hostname !== '',
    'must be an smtp:// or smtps:// URL',
  )

const mailAddress = z.string().transform((text, context) => {
  const address = parseMailAddress(text)
  if (address === null) {
    context.addIssue({ code: 'custom', message: 'must be an e-mail address, alone or as Name <address>' })
    return z.NEVER
  }
  return address
})

const flag = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true')
const port = integer(0, 65_535)
const httpUrl = plainHttpUrl.transform((url) => url.replace(/\/$/, ''))
const name = z.string().regex(/^[a-zA-Z][\w-]{0,40}$/, 'must be a letter followed by up to 40 letters, digits, - or _')

/**
 * Every variable the server reads, in the order in which `.env.example` shows them. Network, rate-source and key
 * material are parsed here; relations between fields are checked in `schema.ts`.
 */
export const FIELDS = {
  PAYMESH_ENV: field(
    'What this installation is for. Production is the strictest; the development runner sets `development` by itself.',
    'production',
    'production',
    z.enum(['development', 'test', 'production'], 'must be development, test or production'),
  ),
  PAYMESH_ACCEPTED_RISKS: field(
    'Risks that you accept in production, comma-separated: known-keys (a key of one repeated byte or out of these examples), http-urls (public URLs without TLS), localhost-webhooks, no-wallet-delay. Every other risk is refused.',
    'no-wallet-delay',
    '',
    riskList,
  ),
  PAYMESH_LOG_LEVEL: field(
    'Least severe log line that is written.',
    'info',
    'info',
    z.enum(['debug', 'info', 'warn', 'error', 'silent'], 'must be debug, info, warn, error or silent'),
  ),
  MONGO_URL: field(
    'MongoDB replica set. `npm start` starts its own when this is not set.',
    'mongodb://mongo-0:27017,mongo-1:27017,mongo-2:27017/?replicaSet=rs0',
    null,
    z.string().regex(/^mongodb(\+srv)?:\/\//, 'must be a mongodb:// URL'),
  ),
  PAYMESH_MONGO_DATABASE: field('Database within MongoDB.', 'paymesh', 'paymesh', name),
  REDIS_URL: field(
    'Redis, append-only and with `noeviction`: `redis://user:password@host:6379/0`, `redis+sentinel://:password@host:26379,host:26379/mymaster` (with `?sentinelPassword=` where the Sentinels have one) or `redis+cluster://:password@host:6379,host:6379`; each with `rediss` instead of `redis` for TLS, then with `?tlsCAFile=` and `&tlsCertificateKeyFile=` where needed. Special characters of a password are percent-encoded. `paymesh serve` and `npm start` in one process use none; `npm start -- --processes` starts its own when this is not set.',
    'redis://redis:6379',
    null,
    z.string().superRefine((text, context) => {
      try {
        parseRedisUrl(text)
      } catch (error) {
        context.addIssue({ code: 'custom', message: error instanceof RedisUrlError ? error.message : 'cannot be read' })
      }
    }),
  ),
  PAYMESH_REDIS_PREFIX: field(
    'First part of every key in Redis, in braces there: `{paymesh}:…`, so that a cluster keeps them all on one node.',
    'paymesh',
    'paymesh',
    name,
  ),
  PAYMESH_MARKS_DIR: field(
    'Folder outside the database, on another volume, for small records of what was issued: with them no address is issued twice when the database comes back from an earlier time. Redis holds the same records where there is one.',
    '/var/lib/paymesh/marks',
    '',
    z.string().transform((text) => (text === '' ? null : text)),
  ),
  PAYMESH_MASTER_KEY: field(
    'Encrypts stored secrets and extended public keys: 32 random bytes in base64. Without it they cannot be decrypted.',
    EXAMPLE_KEY,
    null,
    key32,
  ),
  PAYMESH_MASTER_KEYS_OLD: field(
    'Former master keys, comma-separated: they still decrypt, but encrypt nothing new. For `paymesh master-key rotate`.',
    EXAMPLE_KEY,
    '',
    z.string().transform((text, context) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '')
        .flatMap((part) => {
          const parsed = key32.safeParse(part)
          if (parsed.success) return [parsed.data]
          context.addIssue({ code: 'custom', message: 'must be keys of 32 bytes in base64, with commas between them' })
          return []
        }),
    ),
  ),
  PAYMESH_KEY_PEPPER: field(
    'Keys the digests of API keys: 32 random bytes in base64, other than the master key. Changing it ends every API key.',
    'YW5vdGhlci1leGFtcGxlLWtleS1ub3QtYS1zZWNyZXQ=',
    null,
    key32,
  ),
  PAYMESH_API_HOST: field(
    'Address that every process listens on: REST API, checkout, dashboard, health and metrics.',
    '0.0.0.0',
    '127.0.0.1',
    z.string().min(1),
  ),
  PAYMESH_API_PORT: field('Port of the REST API; 0 takes a free one.', '4100', '4100', port),
  PAYMESH_PUBLIC_API_URL: field(
    'Public URL of the REST API, without /api/v1.',
    'https://pay.example.com',
    'http://127.0.0.1:4100',
    httpUrl,
  ),
  PAYMESH_PUBLIC_CHECKOUT_URL: field(
    'Public URL of the checkout; the base of every checkout_url.',
    'https://checkout.example.com',
    'http://127.0.0.1:4101',
    httpUrl,
  ),
  PAYMESH_CHECKOUT_PORT: field('Port of the checkout; 0 takes a free one.', '4101', '4101', port),
  PAYMESH_PUBLIC_ADMIN_URL: field(
    'Public URL of the dashboard. Only pages of this origin may change anything, and its cookies need https or localhost.',
    'https://paymesh.example.com',
    'http://127.0.0.1:4102',
    httpUrl,
  ),
  PAYMESH_ADMIN_PORT: field('Port of the dashboard and its interface; 0 takes a free one.', '4102', '4102', port),
  PAYMESH_TRUSTED_PROXIES: field(
    'Proxies in front of the REST API, the checkout and the dashboard that add to X-Forwarded-For. With 0 the header is not read, and all clients behind a proxy share one limit.',
    '1',
    '0',
    integer(0, 10),
  ),
  PAYMESH_WALLET_DELAY_HOURS: field(
    'Hours that a live wallet waits after it was added or enabled in the dashboard, while owners can still cancel it; 0 = none. `npm start` sets 0.',
    '24',
    '24',
    integer(0, 720),
  ),
  PAYMESH_PAGES_DIR: field(
    'Folder with the built pages, `checkout` and `dashboard` in it. `npm start` builds them and sets this by itself.',
    '/app/pages',
    '',
    z.string().transform((text) => (text === '' ? null : text)),
  ),
  PAYMESH_NETWORKS: field(
    'Nodes by mode and network, as JSON. Without a node, live payments on a network are not possible. `quota` limits the calls of a month, `source` reads every block (`full`, the default of own nodes) or only those that open invoices need (`thrifty`, the default of hosted EVM nodes), `testnet` names the public testnet of the nodes: docs/guide/operator.md.',
    '{"live":{"ethereum":{"rpcUrls":["http://geth:8545"]}},"test":{"ethereum":{"rpcUrls":["http://anvil:8545"],"chainId":31337,"confirmations":3}}}',
    '{}',
    json(networkSettingsSchema),
  ),
  CHAINS: field(
    'Networks that the scanner process watches, comma-separated; empty means every network that has a node.',
    'ethereum,base',
    '',
    z.union([z.literal('').transform(() => null), networkList]),
  ),
  PAYMESH_RATE_SOURCES: field(
    'Base URLs that replace those of rate sources, by source name, as JSON.',
    '{"kraken":"http://127.0.0.1:4180/kraken"}',
    '{}',
    json(z.record(z.string().min(1), httpUrl)),
  ),
  PAYMESH_ALLOW_LOCALHOST_WEBHOOKS: field(
    'Lets test webhook endpoints be http://localhost:<port>. For development.',
    'false',
    'false',
    flag,
  ),
  PAYMESH_WEBHOOK_CONCURRENCY: field(
    'Webhook endpoints that one process serves at the same time.',
    '32',
    '32',
    integer(1, 1_000),
  ),
  PAYMESH_WEBHOOK_IN_FLIGHT_MAX: field(
    'Requests that one webhook endpoint may have in flight at the same time. The number follows what the endpoint can take, up to this one; an endpoint may have its own, lower one.',
    '64',
    '64',
    integer(1, 64),
  ),
  PAYMESH_SMTP_URL: field(
    'Mail server, with credentials if needed: `smtp://` (STARTTLS where offered, required before credentials) or `smtps://`. Without one mails wait; in development they are shown in a local mailbox.',
    'smtps://user:password@smtp.example.com:465',
    '',
    orNone(smtpUrl),
  ),
  PAYMESH_MAIL_FROM: field(
    'Sender of every mail; needed with PAYMESH_SMTP_URL.',
    'Paymesh <paymesh@example.com>',
    '',
    orNone(mailAddress),
  ),
  PAYMESH_MAILBOX_PORT: field(
    'Port of the local mailbox page, which the mailer serves on 127.0.0.1 in development only; 0 takes a free one.',
    '4105',
    '4105',
    port,
  ),
  PAYMESH_OTEL_URL: field(
    'Tracing collector that speaks OTLP over HTTP; spans go to its path /v1/traces. Without one nothing is traced.',
    'http://otel-collector:4318',
    '',
    orNone(httpUrl),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: field(
    'Headers for that collector, as hosted ones need for their key: name=value pairs, separated by commas, values percent-encoded.',
    'api-key=change-me',
    '',
    orNone(otlpHeaders),
  ),
  OTEL_TRACES_SAMPLER: field(
    'Which traces are recorded, by OpenTelemetry’s names: always_on, always_off, traceidratio, and each with parentbased_ before it, where a caller’s `traceparent` decides on the request’s span in its trace.',
    'parentbased_traceidratio',
    'parentbased_always_on',
    traceSampler,
  ),
  OTEL_TRACES_SAMPLER_ARG: field('Share of the traces of a traceidratio sampler, 0 to 1.', '0.1', '1', samplerShare),
  PAYMESH_METRICS_PORT: field(
    'Port of /metrics, /livez, /readyz and /startupz; every process on one machine needs its own. 0 takes a free one.',
    '4110',
    '4110',
    port,
  ),
} satisfies Record<string, Field<unknown>>

/** Variables that only the development runner reads; they are documented, but not part of the configuration. */
export const RUNNER_FIELDS = {
  MONGOD_BINARY: {
    description: 'mongod that `npm start` and the tests run when MONGO_URL is not set.',
    example: '/usr/bin/mongod',
  },
  REDIS_SERVER_BINARY: {
    description: 'redis-server that `npm start` and the tests run when REDIS_URL is not set.',
    example: '/usr/bin/redis-server',
  },
} as const
