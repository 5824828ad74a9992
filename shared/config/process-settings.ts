import { FIELDS } from './fields.ts'

/** Name of a setting. */
export type SettingName = keyof typeof FIELDS

/** Settings whose value opens something: keys, and URLs that may hold a password or an access token. */
export const SECRET_SETTINGS = [
  'MONGO_URL',
  'REDIS_URL',
  'PAYMESH_MASTER_KEY',
  'PAYMESH_MASTER_KEYS_OLD',
  'PAYMESH_KEY_PEPPER',
  'PAYMESH_NETWORKS',
  'PAYMESH_SMTP_URL',
] as const satisfies readonly SettingName[]

const DATABASE = [
  'PAYMESH_ENV',
  'PAYMESH_ACCEPTED_RISKS',
  'PAYMESH_LOG_LEVEL',
  'MONGO_URL',
  'PAYMESH_MONGO_DATABASE',
] as const
const STORES = [...DATABASE, 'REDIS_URL', 'PAYMESH_REDIS_PREFIX'] as const
/** Every process has both stores, a health port on the configured host, and traces. */
const SERVICE = [...STORES, 'PAYMESH_API_HOST', 'PAYMESH_METRICS_PORT', 'PAYMESH_OTEL_URL'] as const
const MASTER_KEYS = ['PAYMESH_MASTER_KEY', 'PAYMESH_MASTER_KEYS_OLD'] as const

/**
 * The settings that each process reads, by its name in the Procfile, and those of the command line and of `paymesh migrate`.
 * A process neither parses nor keeps any other setting, and deployment files hand over these only.
 */
export const SETTINGS_OF = {
  // Opens sealed links of mails.
  mailer: [...SERVICE, ...MASTER_KEYS, 'PAYMESH_SMTP_URL', 'PAYMESH_MAIL_FROM', 'PAYMESH_MAILBOX_PORT'],
  // Opens signing secrets.
  webhooks: [...SERVICE, ...MASTER_KEYS, 'PAYMESH_WEBHOOK_CONCURRENCY', 'PAYMESH_ALLOW_LOCALHOST_WEBHOOKS'],
  outbox: [...SERVICE, 'PAYMESH_PUBLIC_CHECKOUT_URL'],
  // Signs the audit chain.
  maintenance: [...SERVICE, ...MASTER_KEYS],
  // Opens extended public keys and derives addresses from them.
  invoices: [...SERVICE, ...MASTER_KEYS, 'PAYMESH_NETWORKS'],
  rates: [...SERVICE, 'PAYMESH_RATE_SOURCES'],
  scanner: [...SERVICE, 'PAYMESH_NETWORKS', 'CHAINS'],
  // Asks nodes about the transaction that a payer names. It neither opens nor seals anything.
  checkout: [...SERVICE, 'PAYMESH_NETWORKS', 'PAYMESH_CHECKOUT_PORT', 'PAYMESH_TRUSTED_PROXIES', 'PAYMESH_PAGES_DIR'],
  // Seals secrets of endpoints and wallets, makes API keys and links of refunds, looks at nodes.
  admin: [
    ...SERVICE,
    ...MASTER_KEYS,
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
  // Recognises API keys, seals secrets of endpoints and stored answers.
  api: [
    ...SERVICE,
    ...MASTER_KEYS,
    'PAYMESH_KEY_PEPPER',
    'PAYMESH_NETWORKS',
    'PAYMESH_API_PORT',
    'PAYMESH_PUBLIC_API_URL',
    'PAYMESH_PUBLIC_CHECKOUT_URL',
    'PAYMESH_TRUSTED_PROXIES',
    'PAYMESH_PAGES_DIR',
    'PAYMESH_ALLOW_LOCALHOST_WEBHOOKS',
  ],
  // Runs in containers of `admin` and `api`, hence reads nothing that either is not given.
  cli: [...STORES, ...MASTER_KEYS, 'PAYMESH_KEY_PEPPER', 'PAYMESH_NETWORKS', 'PAYMESH_PUBLIC_CHECKOUT_URL'],
  migrate: DATABASE,
} as const satisfies Record<string, readonly SettingName[]>

/** Processes that read from `PAYMESH_NETWORKS` which networks there are, and never call a node. */
const CALLS_NO_NODE: readonly string[] = ['invoices', 'api']

/** Whether that process calls nodes; where it does not, the URLs of nodes are dropped when settings are parsed. */
export const callsNodes = (process: ProcessName): boolean => !CALLS_NO_NODE.includes(process)

/** A process of this installation, by the name under which its settings are declared. */
export type ProcessName = keyof typeof SETTINGS_OF

/** Whether that process reads that setting. */
export const readsSetting = (process: ProcessName, setting: SettingName): boolean =>
  (SETTINGS_OF[process] as readonly SettingName[]).includes(setting)

/** Whether settings are declared for a process of that name. */
export const isProcessName = (name: string): name is ProcessName => Object.hasOwn(SETTINGS_OF, name)

/** Whether a variable of the environment is a setting. */
export const isSettingName = (name: string): name is SettingName => Object.hasOwn(FIELDS, name)
