import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { FIELDS } from './fields.ts'
import { type ProcessName, readsSetting, SECRET_SETTINGS, SETTINGS_OF, type SettingName } from './process-settings.ts'
import { type Config, parseConfig } from './schema.ts'

const NAMES = Object.keys(SETTINGS_OF) as ProcessName[]
const SETTINGS = Object.keys(FIELDS) as SettingName[]
const KEYS = ['PAYMESH_MASTER_KEY', 'PAYMESH_MASTER_KEYS_OLD', 'PAYMESH_KEY_PEPPER'] as const

/** Where the value of each setting is read; a new setting does not compile until it has its place here. */
const READ: Readonly<Record<Exclude<SettingName, 'PAYMESH_ACCEPTED_RISKS'>, (config: Config) => unknown>> = {
  PAYMESH_ENV: ({ env }) => env,
  PAYMESH_LOG_LEVEL: ({ logLevel }) => logLevel,
  MONGO_URL: ({ stores }) => stores.mongoUrl,
  PAYMESH_MONGO_DATABASE: ({ stores }) => stores.mongoDatabase,
  REDIS_URL: ({ stores }) => stores.redisUrl,
  PAYMESH_REDIS_PREFIX: ({ stores }) => stores.redisPrefix,
  PAYMESH_MARKS_DIR: ({ stores }) => stores.marksDir,
  PAYMESH_MASTER_KEY: ({ secrets }) => secrets.masterKey,
  PAYMESH_MASTER_KEYS_OLD: ({ secrets }) => secrets.masterKey,
  PAYMESH_KEY_PEPPER: ({ secrets }) => secrets.keyPepper,
  PAYMESH_API_HOST: ({ api }) => api.host,
  PAYMESH_API_PORT: ({ api }) => api.port,
  PAYMESH_PUBLIC_API_URL: ({ api }) => api.publicUrl,
  PAYMESH_PUBLIC_CHECKOUT_URL: ({ checkout }) => checkout.baseUrl,
  PAYMESH_CHECKOUT_PORT: ({ checkout }) => checkout.port,
  PAYMESH_PUBLIC_ADMIN_URL: ({ admin }) => admin.publicUrl,
  PAYMESH_ADMIN_PORT: ({ admin }) => admin.port,
  PAYMESH_TRUSTED_PROXIES: ({ trustedProxies }) => trustedProxies,
  PAYMESH_WALLET_DELAY_HOURS: ({ wallets }) => wallets.delayMs,
  PAYMESH_PAGES_DIR: ({ pagesDir }) => pagesDir,
  PAYMESH_NETWORKS: ({ networks }) => networks,
  CHAINS: ({ chains }) => chains,
  PAYMESH_RATE_SOURCES: ({ rates }) => rates.sourceUrls,
  PAYMESH_ALLOW_LOCALHOST_WEBHOOKS: ({ webhooks }) => webhooks.allowLocalhost,
  PAYMESH_WEBHOOK_CONCURRENCY: ({ webhooks }) => webhooks.concurrency,
  PAYMESH_WEBHOOK_IN_FLIGHT_MAX: ({ webhooks }) => webhooks.endpointInFlightMax,
  PAYMESH_SMTP_URL: ({ mail }) => mail.smtpUrl,
  PAYMESH_MAIL_FROM: ({ mail }) => mail.from,
  PAYMESH_MAILBOX_PORT: ({ mail }) => mail.mailboxPort,
  PAYMESH_OTEL_URL: ({ traces }) => traces.url,
  OTEL_EXPORTER_OTLP_HEADERS: ({ traces }) => traces.headers,
  OTEL_TRACES_SAMPLER: ({ traces }) => traces.sampler,
  OTEL_TRACES_SAMPLER_ARG: ({ traces }) => traces.share,
  PAYMESH_METRICS_PORT: ({ metrics }) => metrics.port,
}

/** The example of every setting that `name` declares, with keys that production takes. */
function declaredBy(name: ProcessName): Record<string, string> {
  const declared = SETTINGS.filter((setting) => readsSetting(name, setting))
  const random = KEYS.filter((key) => readsSetting(name, key)).map((key) => [key, randomBytes(32).toString('base64')])
  return { ...Object.fromEntries(declared.map((key) => [key, FIELDS[key].example])), ...Object.fromEntries(random) }
}

// Guarantee: each process holds these secrets and no other.
it('declares the secrets of each process', () => {
  const secrets = (name: ProcessName) => SECRET_SETTINGS.filter((setting) => readsSetting(name, setting))
  const stores = ['MONGO_URL', 'REDIS_URL']
  const traces = 'OTEL_EXPORTER_OTLP_HEADERS'
  const masterKeys = ['PAYMESH_MASTER_KEY', 'PAYMESH_MASTER_KEYS_OLD']
  expect(Object.fromEntries(NAMES.map((name) => [name, secrets(name)]))).toEqual({
    checkout: [...stores, 'PAYMESH_NETWORKS', traces],
    scanner: [...stores, 'PAYMESH_NETWORKS', traces],
    rates: [...stores, traces],
    webhooks: [...stores, ...masterKeys, traces],
    maintenance: [...stores, ...masterKeys, traces],
    mailer: [...stores, ...masterKeys, 'PAYMESH_SMTP_URL', traces],
    invoices: [...stores, ...masterKeys, 'PAYMESH_NETWORKS', traces],
    admin: [...stores, ...masterKeys, 'PAYMESH_KEY_PEPPER', 'PAYMESH_NETWORKS', traces],
    api: [...stores, ...masterKeys, 'PAYMESH_KEY_PEPPER', 'PAYMESH_NETWORKS', traces],
    serve: ['MONGO_URL', ...masterKeys, 'PAYMESH_KEY_PEPPER', 'PAYMESH_NETWORKS', 'PAYMESH_SMTP_URL', traces],
    cli: [...stores, ...masterKeys, 'PAYMESH_KEY_PEPPER', 'PAYMESH_NETWORKS'],
    migrate: ['MONGO_URL'],
    backup: [...stores, ...masterKeys],
  })
})

it('has a reader for every setting, and the command line runs where admin or api does', () => {
  expect(SETTINGS.filter((setting) => !NAMES.some((name) => readsSetting(name, setting)))).toEqual([])
  for (const place of ['admin', 'api'] as const) {
    expect(SETTINGS_OF.cli.filter((setting) => !readsSetting(place, setting))).toEqual([])
  }
  const unknownToServe = SETTINGS_OF.cli.filter((setting) => !readsSetting('serve', setting))
  expect(unknownToServe).toEqual(['REDIS_URL', 'PAYMESH_REDIS_PREFIX'])
})

describe.each(NAMES)('%s', (name) => {
  it('is configured by its own settings alone', () => {
    const config = parseConfig({ ...declaredBy(name), PAYMESH_ALLOW_LOCALHOST_WEBHOOKS: 'false' }, name)
    expect(config.env).toBe('production')
  })

  // Guarantee: code that reads another process's setting fails at once, also where the variable is in the environment.
  it('cannot read the setting of another process, whatever its environment holds', () => {
    const everything = Object.fromEntries(SETTINGS.map((key) => [key, FIELDS[key].example]))
    const config = parseConfig({ ...everything, PAYMESH_ENV: 'development' }, name)
    for (const [setting, read] of Object.entries(READ) as [SettingName, (config: Config) => unknown][]) {
      if (readsSetting(name, setting)) expect(read(config), setting).not.toBeUndefined()
      else expect(() => read(config), setting).toThrow('is not declared for this process')
    }
  })

  it('does not stumble over the settings of others, be they as wrong as they may', () => {
    const wrong = SETTINGS.filter((setting) => !readsSetting(name, setting)).map((setting) => [setting, 'nonsense'])
    expect(() => parseConfig({ ...Object.fromEntries(wrong), ...declaredBy(name) }, name)).not.toThrow()
  })
})

// Guarantee: a process that calls no node keeps no URL of one, and with it no access token.
it.each(['api', 'invoices'] as const)('leaves the URLs of nodes out of the configuration of %s', (name) => {
  const networks = { live: { ethereum: { rpcUrls: ['https://node.example.com/v3/an-access-token'] } } }
  const env = { ...declaredBy(name), PAYMESH_NETWORKS: JSON.stringify(networks) }
  expect(JSON.stringify(parseConfig(env, name).networks)).not.toContain('access-token')
  expect(parseConfig(env, name).networks.live.ethereum).toMatchObject({ rpcUrls: [], confirmations: null })
  expect(
    parseConfig({ ...declaredBy('admin'), ...env, PAYMESH_ENV: 'development' }).networks.live.ethereum?.rpcUrls,
  ).toEqual(networks.live.ethereum.rpcUrls)
})

it('refuses a pepper that is a master key, and a known key, only where the process has them', () => {
  const key = randomBytes(32).toString('base64')
  const same = { ...declaredBy('api'), PAYMESH_MASTER_KEY: key, PAYMESH_KEY_PEPPER: key }
  expect(() => parseConfig(same, 'api')).toThrow('must differ from PAYMESH_MASTER_KEY')
  expect(() => parseConfig({ ...same, ...declaredBy('webhooks'), PAYMESH_KEY_PEPPER: key }, 'webhooks')).not.toThrow()
  const known = { ...declaredBy('webhooks'), PAYMESH_MASTER_KEY: Buffer.alloc(32).toString('base64') }
  expect(() => parseConfig(known, 'webhooks')).toThrow('PAYMESH_MASTER_KEY: must be random')
  expect(() => parseConfig({ ...known, ...declaredBy('checkout') }, 'checkout')).not.toThrow()
})

// Guarantee: an installation that moves between the two forms keeps its settings: one process reads what all of them read together.
it('gives the one process every setting of the many, but those of Redis', () => {
  const many = NAMES.filter((name) => !['serve', 'cli', 'migrate'].includes(name))
  const all = SETTINGS.filter((setting) => many.some((name) => readsSetting(name, setting)))
  expect(all.filter((setting) => !readsSetting('serve', setting))).toEqual(['REDIS_URL', 'PAYMESH_REDIS_PREFIX'])
  expect(SETTINGS_OF.serve.filter((setting) => !all.includes(setting))).toEqual([])
})
