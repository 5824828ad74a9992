import type { z } from 'zod'
import { type AcceptableRisk, FIELDS } from './fields.ts'
import { withoutNodeUrls } from './network-settings.ts'
import {
  callsNodes,
  type SettingName as FieldKey,
  mayLack,
  type ProcessName,
  readsSetting,
} from './process-settings.ts'

/**
 * The configuration of a process, parsed and checked once at its start. A value whose setting is not declared for
 * the process (`process-settings.ts`) throws `SettingNotDeclared` when it is read.
 */
export type Config = ReturnType<typeof shape>

/** One fault of the environment. `example` is an acceptable value. */
export interface ConfigFault {
  readonly key: string
  readonly problem: string
  readonly example: string | null
}

/** The environment is invalid; `faults` holds every fault, and the message prints them all. */
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

/** Code of a process read a setting that is not declared for it. */
class SettingNotDeclared extends Error {
  override readonly name = 'SettingNotDeclared'

  constructor(setting: FieldKey) {
    super(`${setting} is not declared for this process in process-settings.ts`)
  }
}

type Values = { readonly [K in keyof typeof FIELDS]: z.output<(typeof FIELDS)[K]['schema']> }

/**
 * Reads the configuration of a process from environment variables: the settings declared for it, or all of them for the runner
 * that has every service in one process. Empty values count as absent. Throws one `ConfigError` that lists every fault: missing
 * and malformed values, unknown `PAYMESH_*` keys, and violated relations. Settings of other processes are
 * ignored. Values of secrets never appear in the error.
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>, process?: ProcessName): Config {
  const faults: ConfigFault[] = unknownKeys(env)
  const values: Partial<Record<FieldKey, unknown>> = {}
  const keys = (Object.keys(FIELDS) as FieldKey[]).filter((key) => process === undefined || readsSetting(process, key))
  for (const key of keys)
    values[key] = mayLack(process, key) && !env[key]?.trim() ? null : readField(key, env[key], faults)
  if (faults.length === 0) faults.push(...relationFaults(values as Partial<Values>))
  if (faults.length > 0) throw new ConfigError(faults)
  const { PAYMESH_NETWORKS: networks } = values as Partial<Values>
  const callsNone = process !== undefined && !callsNodes(process)
  if (networks !== undefined && callsNone) values.PAYMESH_NETWORKS = withoutNodeUrls(networks)
  return shape(values as Partial<Values>)
}

/** Variable for merchants' programs, including the commands `listen` and `trigger`; no process of an installation reads it. */
export const MERCHANT_KEY = 'PAYMESH_API_KEY'

function unknownKeys(env: Readonly<Record<string, string | undefined>>): ConfigFault[] {
  return Object.keys(env)
    .filter((key) => key.startsWith('PAYMESH_') && !Object.hasOwn(FIELDS, key) && key !== MERCHANT_KEY)
    .sort()
    .map((key) => ({ key, problem: 'is not a Paymesh setting', example: null }))
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

/** Required relations between the settings of this process; a setting that it does not read is undefined. */
function relationFaults(values: Partial<Values>): ConfigFault[] {
  const faults: ConfigFault[] = []
  const pepper = values.PAYMESH_KEY_PEPPER
  if (pepper !== undefined && masterKeysOf(values).some(([, key]) => Buffer.from(key).equals(pepper))) {
    faults.push({ key: 'PAYMESH_KEY_PEPPER', problem: 'must differ from PAYMESH_MASTER_KEY', example: null })
  }
  if (typeof values.PAYMESH_SMTP_URL === 'string' && values.PAYMESH_MAIL_FROM === null) {
    const { example } = FIELDS.PAYMESH_MAIL_FROM
    faults.push({ key: 'PAYMESH_MAIL_FROM', problem: 'must be set when PAYMESH_SMTP_URL is', example })
  }
  if (values.PAYMESH_ENV === 'production') faults.push(...productionFaults(values))
  return faults
}

function masterKeysOf({ PAYMESH_MASTER_KEY: key, PAYMESH_MASTER_KEYS_OLD: old = [] }: Partial<Values>) {
  return [
    ...(key === undefined ? [] : [['PAYMESH_MASTER_KEY', key] as const]),
    ...old.map((one) => ['PAYMESH_MASTER_KEYS_OLD', one] as const),
  ]
}

/** Settings that are convenient in development and dangerous in production; each is refused unless its risk is accepted by name. */
function productionFaults(values: Partial<Values>): ConfigFault[] {
  const refuse = (risk: AcceptableRisk, key: FieldKey, problem: string): ConfigFault[] =>
    values.PAYMESH_ACCEPTED_RISKS?.includes(risk) === true
      ? []
      : [{ key, problem: `${problem}; or accept it with PAYMESH_ACCEPTED_RISKS=${risk}`, example: null }]
  const pepper = values.PAYMESH_KEY_PEPPER
  const keys = [...masterKeysOf(values), ...(pepper === undefined ? [] : [['PAYMESH_KEY_PEPPER', pepper] as const])]
  const urls = ['PAYMESH_PUBLIC_API_URL', 'PAYMESH_PUBLIC_CHECKOUT_URL', 'PAYMESH_PUBLIC_ADMIN_URL'] as const
  return [
    ...keys.flatMap(([key, bytes]) =>
      isKnownKey(bytes) ? refuse('known-keys', key, 'must be random (`openssl rand -base64 32`)') : [],
    ),
    ...urls.flatMap((key) =>
      values[key]?.startsWith('https://') === false
        ? refuse('http-urls', key, 'must be an https:// URL in production')
        : [],
    ),
    ...(values.PAYMESH_ALLOW_LOCALHOST_WEBHOOKS === true
      ? refuse('localhost-webhooks', 'PAYMESH_ALLOW_LOCALHOST_WEBHOOKS', 'must be false in production')
      : []),
    ...(values.PAYMESH_WALLET_DELAY_HOURS === 0
      ? refuse('no-wallet-delay', 'PAYMESH_WALLET_DELAY_HOURS', 'must be at least 1 in production')
      : []),
  ]
}

/** 32 random bytes have about 30 different values; one in 10^40 keys has fewer than 8. The examples are public text. */
function isKnownKey(bytes: Uint8Array): boolean {
  if (new Set(bytes).size < 8) return true
  const text = Buffer.from(bytes).toString('base64')
  return [FIELDS.PAYMESH_MASTER_KEY, FIELDS.PAYMESH_KEY_PEPPER].some(({ example }) => example === text)
}

/** Every value is read on demand, so that an undeclared one cannot be read at all. */
function shape(values: Partial<Values>) {
  /** Whether the setting is declared for this process and its value can be read. */
  const reads = (key: FieldKey): boolean => Object.hasOwn(values, key)
  function read<K extends FieldKey>(key: K): Values[K] {
    if (!reads(key)) throw new SettingNotDeclared(key)
    return values[key] as Values[K]
  }
  const single = lazily({
    env: () => read('PAYMESH_ENV'),
    logLevel: () => read('PAYMESH_LOG_LEVEL'),
    /** Trusted proxies in front of the REST API and the pages that add to `X-Forwarded-For`; 0 = none. */
    trustedProxies: () => read('PAYMESH_TRUSTED_PROXIES'),
    /** Folder with the built pages; null = not built. */
    pagesDir: () => read('PAYMESH_PAGES_DIR'),
    networks: () => read('PAYMESH_NETWORKS'),
    /** Networks this process scans; null = every network with a node. */
    chains: () => read('CHAINS'),
  })
  return Object.assign(single, sectionsOf(read), { reads })
}

type Reader = <K extends FieldKey>(key: K) => Values[K]

function sectionsOf(read: Reader) {
  return {
    stores: lazily({
      mongoUrl: () => read('MONGO_URL'),
      mongoDatabase: () => read('PAYMESH_MONGO_DATABASE'),
      /** Null only for the command line of an installation that has no Redis. */
      redisUrl: (): string | null => read('REDIS_URL'),
      /** Prefix of every key, without a trailing separator. */
      redisPrefix: () => read('PAYMESH_REDIS_PREFIX'),
      /** Folder of the records of what was issued; null = none. */
      marksDir: () => read('PAYMESH_MARKS_DIR'),
    }),
    /** 32 bytes each. The first master key seals; the others only decrypt. */
    secrets: lazily({
      masterKey: () => [read('PAYMESH_MASTER_KEY'), ...read('PAYMESH_MASTER_KEYS_OLD')] as const,
      keyPepper: () => read('PAYMESH_KEY_PEPPER'),
    }),
    api: lazily({
      host: () => read('PAYMESH_API_HOST'),
      port: () => read('PAYMESH_API_PORT'),
      /** Without a path and a trailing slash. */
      publicUrl: () => read('PAYMESH_PUBLIC_API_URL'),
    }),
    checkout: lazily({
      /** Without a trailing slash. */
      baseUrl: () => read('PAYMESH_PUBLIC_CHECKOUT_URL'),
      port: () => read('PAYMESH_CHECKOUT_PORT'),
    }),
    /** `publicUrl` has no trailing slash. */
    admin: lazily({ publicUrl: () => read('PAYMESH_PUBLIC_ADMIN_URL'), port: () => read('PAYMESH_ADMIN_PORT') }),
    /** How long a new live wallet waits before payers receive its addresses, milliseconds. */
    wallets: lazily({ delayMs: () => read('PAYMESH_WALLET_DELAY_HOURS') * 3_600_000 }),
    /** Base URL by source name, without a trailing slash; absent sources keep their public URL. */
    rates: lazily({ sourceUrls: () => read('PAYMESH_RATE_SOURCES') }),
    webhooks: lazily({
      allowLocalhost: () => read('PAYMESH_ALLOW_LOCALHOST_WEBHOOKS'),
      concurrency: () => read('PAYMESH_WEBHOOK_CONCURRENCY'),
      /** Requests to one endpoint in flight at most. */
      endpointInFlightMax: () => read('PAYMESH_WEBHOOK_IN_FLIGHT_MAX'),
    }),
    mail: lazily({
      /** May contain credentials; null = there is no mail server. */
      smtpUrl: () => read('PAYMESH_SMTP_URL'),
      /** Set whenever a server is. */
      from: () => read('PAYMESH_MAIL_FROM'),
      /** Used in development only. */
      mailboxPort: () => read('PAYMESH_MAILBOX_PORT'),
    }),
    /** 0 = any free port. */
    metrics: lazily({ port: () => read('PAYMESH_METRICS_PORT') }),
    traces: lazily({
      /** Base URL of the tracing collector; null where nothing is traced. */
      url: () => read('PAYMESH_OTEL_URL'),
      headers: (): Readonly<Record<string, string>> => read('OTEL_EXPORTER_OTLP_HEADERS') ?? {},
      sampler: () => read('OTEL_TRACES_SAMPLER'),
      /** Of the traces of a ratio sampler, 0 to 1. */
      share: () => read('OTEL_TRACES_SAMPLER_ARG'),
    }),
  }
}

/** An object with the properties of `reads`; each read of a property calls its function. */
function lazily<T extends object>(reads: { readonly [K in keyof T]: () => T[K] }): Readonly<T> {
  const target = {}
  for (const [name, get] of Object.entries(reads))
    Object.defineProperty(target, name, { get: get as () => unknown, enumerable: true })
  return target as T
}
