import { FIELDS } from './fields.ts'

/** Name of a setting. */
export type SettingName = keyof typeof FIELDS

/** Settings whose value grants access: keys, and URLs that may contain a password or an access token. */
export const SECRET_SETTINGS = [
  'MONGO_URL',
  'REDIS_URL',
  'PAYMESH_MASTER_KEY',
  'PAYMESH_MASTER_KEYS_OLD',
  'PAYMESH_KEY_PEPPER',
  'PAYMESH_NETWORKS',
  'PAYMESH_SMTP_URL',
  'OTEL_EXPORTER_OTLP_HEADERS',
] as const satisfies readonly SettingName[]

const DATABASE = [
  'PAYMESH_ENV',
  'PAYMESH_ACCEPTED_RISKS',
  'PAYMESH_LOG_LEVEL',
  'MONGO_URL',
  'PAYMESH_MONGO_DATABASE',
] as const
const STORES = [...DATABASE, 'REDIS_URL', 'PAYMESH_REDIS_PREFIX'] as const
const TRACES = [
  'PAYMESH_OTEL_URL',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
] as const
/** Every process has both stores, a health port on the configured host, and traces. */
const SERVICE = [...STORES, 'PAYMESH_API_HOST', 'PAYMESH_METRICS_PORT', ...TRACES] as const
/** A process without Redis: no other process runs beside it. */
const ALONE = [...DATABASE, 'PAYMESH_API_HOST', 'PAYMESH_METRICS_PORT', ...TRACES] as const
const MASTER_KEYS = ['PAYMESH_MASTER_KEY', 'PAYMESH_MASTER_KEYS_OLD'] as const

/**
 * The settings that each process reads, by its name in the Procfile, and those of the command line and of `paymesh migrate`.
 * A process neither parses nor keeps any other setting, and deployment files pass only these.
 */
export const SETTINGS_OF = {
  // Decrypts sealed links of mails.
  mailer: [...SERVICE, ...MASTER_KEYS, 'PAYMESH_SMTP_URL', 'PAYMESH_MAIL_FROM', 'PAYMESH_MAILBOX_PORT'],
  // Decrypts signing secrets. Events carry links to the checkout.
  webhooks: [
    ...SERVICE,
    ...MASTER_KEYS,
    'PAYMESH_PUBLIC_CHECKOUT_URL',
    'PAYMESH_WEBHOOK_CONCURRENCY',
    'PAYMESH_WEBHOOK_IN_FLIGHT_MAX',
    'PAYMESH_ALLOW_LOCALHOST_WEBHOOKS',
  ],
  // Signs the audit chain.
  maintenance: [...SERVICE, ...MASTER_KEYS, 'PAYMESH_MARKS_DIR'],
  // Decrypts extended public keys and derives addresses from them.
  invoices: [...SERVICE, ...MASTER_KEYS, 'PAYMESH_MARKS_DIR', 'PAYMESH_NETWORKS'],
  rates: [...SERVICE, 'PAYMESH_RATE_SOURCES'],
  scanner: [...SERVICE, 'PAYMESH_MARKS_DIR', 'PAYMESH_NETWORKS', 'CHAINS'],
  // Queries nodes about the transaction that a payer enters. It neither decrypts nor seals anything.
  checkout: [
    ...SERVICE,
    'PAYMESH_MARKS_DIR',
    'PAYMESH_NETWORKS',
    'PAYMESH_CHECKOUT_PORT',
    'PAYMESH_TRUSTED_PROXIES',
    'PAYMESH_PAGES_DIR',
  ],
  // Seals secrets of endpoints and wallets, makes API keys and refund links, checks nodes.
  admin: [
    ...SERVICE,
    ...MASTER_KEYS,
    'PAYMESH_MARKS_DIR',
    'PAYMESH_KEY_PEPPER',
    'PAYMESH_NETWORKS',
    'PAYMESH_ADMIN_PORT',
    'PAYMESH_PUBLIC_ADMIN_URL',
    'PAYMESH_PUBLIC_CHECKOUT_URL',
    'PAYMESH_TRUSTED_PROXIES',
    'PAYMESH_PAGES_DIR',
    'PAYMESH_WALLET_DELAY_HOURS',
    'PAYMESH_ALLOW_LOCALHOST_WEBHOOKS',
  ],
  // Verifies API keys, seals secrets of endpoints and stored responses.
  api: [
    ...SERVICE,
    ...MASTER_KEYS,
    'PAYMESH_MARKS_DIR',
    'PAYMESH_KEY_PEPPER',
    'PAYMESH_NETWORKS',
    'PAYMESH_API_PORT',
    'PAYMESH_PUBLIC_API_URL',
    'PAYMESH_PUBLIC_CHECKOUT_URL',
    'PAYMESH_TRUSTED_PROXIES',
    'PAYMESH_PAGES_DIR',
    'PAYMESH_ALLOW_LOCALHOST_WEBHOOKS',
  ],
  // Runs all of the above in one process, with wake-ups in memory.
  serve: [
    ...ALONE,
    ...MASTER_KEYS,
    'PAYMESH_MARKS_DIR',
    'PAYMESH_KEY_PEPPER',
    'PAYMESH_NETWORKS',
    'CHAINS',
    'PAYMESH_API_PORT',
    'PAYMESH_CHECKOUT_PORT',
    'PAYMESH_ADMIN_PORT',
    'PAYMESH_PUBLIC_API_URL',
    'PAYMESH_PUBLIC_CHECKOUT_URL',
    'PAYMESH_PUBLIC_ADMIN_URL',
    'PAYMESH_TRUSTED_PROXIES',
    'PAYMESH_PAGES_DIR',
    'PAYMESH_WALLET_DELAY_HOURS',
    'PAYMESH_WEBHOOK_CONCURRENCY',
    'PAYMESH_WEBHOOK_IN_FLIGHT_MAX',
    'PAYMESH_ALLOW_LOCALHOST_WEBHOOKS',
    'PAYMESH_RATE_SOURCES',
    'PAYMESH_SMTP_URL',
    'PAYMESH_MAIL_FROM',
    'PAYMESH_MAILBOX_PORT',
  ],
  // Runs in containers of `admin`, `api` and `serve`, so it reads only settings that they have.
  cli: [
    ...STORES,
    ...MASTER_KEYS,
    'PAYMESH_MARKS_DIR',
    'PAYMESH_KEY_PEPPER',
    'PAYMESH_NETWORKS',
    'PAYMESH_PUBLIC_CHECKOUT_URL',
    'PAYMESH_ALLOW_LOCALHOST_WEBHOOKS',
  ],
  migrate: DATABASE,
  // Back-ups and restores: opens sealed values to check that an archive can be restored, and keys to derive the next addresses; reads what was issued.
  backup: [...STORES, ...MASTER_KEYS, 'PAYMESH_MARKS_DIR'],
} as const satisfies Record<string, readonly SettingName[]>

/** Processes that read the list of networks from `PAYMESH_NETWORKS`, and never call a node. */
const CALLS_NO_NODE: readonly string[] = ['invoices', 'api']

/** Whether a process calls nodes; otherwise node URLs are dropped when settings are parsed. */
export const callsNodes = (process: ProcessName): boolean => !CALLS_NO_NODE.includes(process)

/** Settings that are required elsewhere and that this process, or a tool that reads all settings, works without: beside `serve` there is no Redis. */
export const mayLack = (process: ProcessName | undefined, setting: SettingName): boolean =>
  (process === 'cli' || process === 'backup' || process === undefined) && setting === 'REDIS_URL'

/** A process of this installation, by the name for which its settings are declared. */
export type ProcessName = keyof typeof SETTINGS_OF

/** Whether that process reads that setting. */
export const readsSetting = (process: ProcessName, setting: SettingName): boolean =>
  (SETTINGS_OF[process] as readonly SettingName[]).includes(setting)

/** Whether settings are declared for a process of that name. */
export const isProcessName = (name: string): name is ProcessName => Object.hasOwn(SETTINGS_OF, name)

/** Whether a variable of the environment is a setting. */
export const isSettingName = (name: string): name is SettingName => Object.hasOwn(FIELDS, name)
