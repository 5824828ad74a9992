import type { z } from 'zod'
import type { MailAddress } from '#shared/contracts/mail-address.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import { type AcceptableRisk, FIELDS } from './fields.ts'
import type { NetworkSettings } from './network-settings.ts'

/** Everything a process may know about its surroundings, parsed and checked once at its start. */
export interface Config {
  readonly env: 'development' | 'test' | 'production'
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  readonly stores: {
    readonly mongoUrl: string
    readonly mongoDatabase: string
    readonly redisUrl: string
    /** First part of every key; without a separator at its end. */
    readonly redisPrefix: string
  }
  /** 32 bytes each. Of the master keys the first seals; the others only open what they sealed. */
  readonly secrets: {
    readonly masterKey: readonly [Uint8Array, ...Uint8Array[]]
    readonly keyPepper: Uint8Array
  }
  /** `publicUrl` has no path and no slash at its end. */
  readonly api: { readonly host: string; readonly port: number; readonly publicUrl: string }
  /** `baseUrl` has no slash at its end. */
  readonly checkout: { readonly baseUrl: string; readonly port: number }
  /** `publicUrl` has no slash at its end. */
  readonly admin: { readonly publicUrl: string; readonly port: number }
  /** Proxies in front of the REST API and the pages whose entries in `X-Forwarded-For` are believed; 0 = none. */
  readonly trustedProxies: number
  /** How long a live wallet that was added waits before payers are sent to it, milliseconds. */
  readonly wallets: { readonly delayMs: number }
  /** Folder with the built pages; null = they were not built. */
  readonly pagesDir: string | null
  readonly networks: NetworkSettings
  /** Networks this process scans; null = every network with a node. */
  readonly chains: readonly NetworkId[] | null
  /** Base URL by source name, without a slash at the end; sources that are absent keep their public URL. */
  readonly rates: { readonly sourceUrls: Readonly<Record<string, string>> }
  readonly webhooks: { readonly allowLocalhost: boolean; readonly concurrency: number }
  /**
   * `smtpUrl` may hold credentials; null = there is no mail server. `from` is there whenever a server is.
   * `mailboxPort` is used in development only.
   */
  readonly mail: { readonly smtpUrl: string | null; readonly from: MailAddress | null; readonly mailboxPort: number }
  /** Base URL of the tracing collector; null = none. */
  readonly otelUrl: string | null
  /** 0 = any free port. */
  readonly metrics: { readonly port: number }
}

/** One thing wrong with the environment. `example` is a value that would have been accepted. */
export interface ConfigFault {
  readonly key: string
  readonly problem: string
  readonly example: string | null
}

/** The environment cannot be used; `faults` holds everything that is wrong with it, and the message prints it all. */
export class ConfigError extends Error {
  readonly faults: readonly ConfigFault[]

  constructor(faults: readonly ConfigFault[]) {
    const lines = faults.map(
      ({ key, problem, example }) =>
        `  ${key}: ${problem}${example === null ? '' : `\n    for example ${key}=${example}`}`,
    )
    super(`The configuration has ${faults.length} fault${faults.length === 1 ? '' : 's'}:\n${lines.join('\n')}`)
    this.name = 'ConfigError'
    this.faults = faults
  }
}

type Values = { readonly [K in keyof typeof FIELDS]: z.output<(typeof FIELDS)[K]['schema']> }
type FieldKey = keyof typeof FIELDS

/**
 * Reads the configuration from environment variables. Empty values count as absent. Throws one `ConfigError` that
 * lists every fault: missing and malformed values, `PAYMESH_*` keys that do not exist, and relations that do not hold.
 * Values of secrets never appear in it.
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const faults: ConfigFault[] = unknownKeys(env)
  const values: Partial<Record<FieldKey, unknown>> = {}
  for (const key of Object.keys(FIELDS) as FieldKey[]) values[key] = readField(key, env[key], faults)
  if (faults.length === 0) faults.push(...relationFaults(values as Values))
  if (faults.length > 0) throw new ConfigError(faults)
  return shape(values as Values)
}

function unknownKeys(env: Readonly<Record<string, string | undefined>>): ConfigFault[] {
  return Object.keys(env)
    .filter((key) => key.startsWith('PAYMESH_') && !Object.hasOwn(FIELDS, key))
    .sort()
    .map((key) => ({ key, problem: 'is not a setting of Paymesh', example: null }))
}

function readField(key: FieldKey, raw: string | undefined, faults: ConfigFault[]): unknown {
  const { schema, fallback, example } = FIELDS[key]
  const text = raw === undefined || raw.trim() === '' ? fallback : raw.trim()
  if (text === null) {
    faults.push({ key, problem: 'is not set', example })
    return undefined
  }
  const result = schema.safeParse(text)
  if (result.success) return result.data
  for (const issue of result.error.issues) {
    const path = issue.path.length === 0 ? '' : `${issue.path.join('.')}: `
    faults.push({ key, problem: `${path}${issue.message}`, example })
  }
  return undefined
}

function relationFaults(values: Values): ConfigFault[] {
  const faults: ConfigFault[] = []
  const masterKeys = [values.PAYMESH_MASTER_KEY, ...values.PAYMESH_MASTER_KEYS_OLD]
  if (masterKeys.some((key) => Buffer.from(key).equals(values.PAYMESH_KEY_PEPPER))) {
    faults.push({ key: 'PAYMESH_KEY_PEPPER', problem: 'must differ from PAYMESH_MASTER_KEY', example: null })
  }
  if (values.PAYMESH_SMTP_URL !== null && values.PAYMESH_MAIL_FROM === null) {
    const { example } = FIELDS.PAYMESH_MAIL_FROM
    faults.push({ key: 'PAYMESH_MAIL_FROM', problem: 'must be set when PAYMESH_SMTP_URL is', example })
  }
  if (values.PAYMESH_ENV === 'production') faults.push(...productionFaults(values))
  return faults
}

/** What is convenient in development and dangerous in production; each is refused unless its risk is accepted by name. */
function productionFaults(values: Values): ConfigFault[] {
  const refuse = (risk: AcceptableRisk, key: FieldKey, problem: string): ConfigFault[] =>
    values.PAYMESH_ACCEPTED_RISKS.includes(risk)
      ? []
      : [{ key, problem: `${problem}; or accept it with PAYMESH_ACCEPTED_RISKS=${risk}`, example: null }]
  const keys = [
    ['PAYMESH_MASTER_KEY', values.PAYMESH_MASTER_KEY],
    ...values.PAYMESH_MASTER_KEYS_OLD.map((key) => ['PAYMESH_MASTER_KEYS_OLD', key] as const),
    ['PAYMESH_KEY_PEPPER', values.PAYMESH_KEY_PEPPER],
  ] as const
  const urls = ['PAYMESH_PUBLIC_API_URL', 'PAYMESH_PUBLIC_CHECKOUT_URL', 'PAYMESH_PUBLIC_ADMIN_URL'] as const
  return [
    ...keys.flatMap(([key, bytes]) =>
      isKnownKey(bytes) ? refuse('known-keys', key, 'must be random (`openssl rand -base64 32`)') : [],
    ),
    ...urls.flatMap((key) =>
      values[key].startsWith('https://') ? [] : refuse('http-urls', key, 'must be an https:// URL in production'),
    ),
    ...(values.PAYMESH_ALLOW_LOCALHOST_WEBHOOKS
      ? refuse('localhost-webhooks', 'PAYMESH_ALLOW_LOCALHOST_WEBHOOKS', 'must be false in production')
      : []),
    ...(values.PAYMESH_WALLET_DELAY_HOURS === 0
      ? refuse('no-wallet-delay', 'PAYMESH_WALLET_DELAY_HOURS', 'must be at least 1 in production')
      : []),
  ]
}

/** 32 random bytes have about 30 different values; one in 10^40 keys has fewer than 8. The examples are text and stand in public. */
function isKnownKey(bytes: Uint8Array): boolean {
  if (new Set(bytes).size < 8) return true
  const text = Buffer.from(bytes).toString('base64')
  return [FIELDS.PAYMESH_MASTER_KEY, FIELDS.PAYMESH_KEY_PEPPER].some(({ example }) => example === text)
}

function shape(values: Values): Config {
  return {
    env: values.PAYMESH_ENV,
    logLevel: values.PAYMESH_LOG_LEVEL,
    stores: {
      mongoUrl: values.MONGO_URL,
      mongoDatabase: values.PAYMESH_MONGO_DATABASE,
      redisUrl: values.REDIS_URL,
      redisPrefix: values.PAYMESH_REDIS_PREFIX,
    },
    secrets: {
      masterKey: [values.PAYMESH_MASTER_KEY, ...values.PAYMESH_MASTER_KEYS_OLD],
      keyPepper: values.PAYMESH_KEY_PEPPER,
    },
    api: { host: values.PAYMESH_API_HOST, port: values.PAYMESH_API_PORT, publicUrl: values.PAYMESH_PUBLIC_API_URL },
    checkout: { baseUrl: values.PAYMESH_PUBLIC_CHECKOUT_URL, port: values.PAYMESH_CHECKOUT_PORT },
    admin: { publicUrl: values.PAYMESH_PUBLIC_ADMIN_URL, port: values.PAYMESH_ADMIN_PORT },
    trustedProxies: values.PAYMESH_TRUSTED_PROXIES,
    wallets: { delayMs: values.PAYMESH_WALLET_DELAY_HOURS * 3_600_000 },
    pagesDir: values.PAYMESH_PAGES_DIR,
    networks: values.PAYMESH_NETWORKS,
    chains: values.CHAINS,
    rates: { sourceUrls: values.PAYMESH_RATE_SOURCES },
    webhooks: {
      allowLocalhost: values.PAYMESH_ALLOW_LOCALHOST_WEBHOOKS,
      concurrency: values.PAYMESH_WEBHOOK_CONCURRENCY,
    },
    mail: {
      smtpUrl: values.PAYMESH_SMTP_URL,
      from: values.PAYMESH_MAIL_FROM,
      mailboxPort: values.PAYMESH_MAILBOX_PORT,
    },
    otelUrl: values.PAYMESH_OTEL_URL,
    metrics: { port: values.PAYMESH_METRICS_PORT },
  }
}
