import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { FIELDS } from './fields.ts'
import { type ProcessName, SETTINGS_OF } from './process-settings.ts'
import { ConfigError, type ConfigFault, parseConfig } from './schema.ts'

const key = (byte: number) => createHash('sha256').update(`key ${byte}`).digest('base64')
const minimal = {
  MONGO_URL: 'mongodb://127.0.0.1:27017/?directConnection=true',
  REDIS_URL: 'redis://127.0.0.1:6379',
  PAYMESH_MASTER_KEY: key(1),
  PAYMESH_KEY_PEPPER: key(2),
  PAYMESH_PUBLIC_API_URL: 'https://pay.example.com',
  PAYMESH_PUBLIC_CHECKOUT_URL: 'https://checkout.example.com',
  PAYMESH_PUBLIC_ADMIN_URL: 'https://paymesh.example.com',
}

function faultsOf(env: Record<string, string>): readonly ConfigFault[] {
  try {
    parseConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
  return []
}

describe('parseConfig', () => {
  it('fills every default from the values that have none in production', () => {
    const config = parseConfig(minimal)
    expect(config).toMatchObject({
      env: 'production',
      logLevel: 'info',
      stores: { mongoDatabase: 'paymesh', redisPrefix: 'paymesh' },
      api: { host: '127.0.0.1', port: 4100 },
      networks: { live: {}, test: {} },
      chains: null,
      rates: { sourceUrls: {} },
      webhooks: { allowLocalhost: false },
    })
    expect(config.secrets.masterKey.map((key) => key.length)).toEqual([32])
  })

  it('lists every fault at once, with the key and an example', () => {
    const faults = faultsOf({
      PAYMESH_API_PORT: 'eighty',
      PAYMESH_NETWORKS: '{',
      PAYMESH_MASTER_KEY: 'c2hvcnQ=',
      CHAINS: 'mars',
    })
    expect(faults.map((fault) => fault.key).sort()).toEqual([
      'CHAINS',
      'MONGO_URL',
      'PAYMESH_API_PORT',
      'PAYMESH_KEY_PEPPER',
      'PAYMESH_MASTER_KEY',
      'PAYMESH_NETWORKS',
    ])
    expect(faults.every((fault) => fault.example !== null && fault.problem.length > 0)).toBe(true)
  })

  // Guarantee: a process that needs Redis does not start without it by mistake; only those that run without it do.
  it('requires Redis of every process that wakes others over it', () => {
    const { REDIS_URL: _, ...without } = minimal
    const names = Object.keys(SETTINGS_OF) as ProcessName[]
    const refused = names.filter((name) => {
      try {
        parseConfig({ ...without, PAYMESH_ENV: 'development' }, name)
        return false
      } catch (error) {
        return error instanceof ConfigError && error.faults.some(({ key }) => key === 'REDIS_URL')
      }
    })
    expect(names.filter((name) => !refused.includes(name)).sort()).toEqual(['backup', 'cli', 'migrate', 'serve'])
    expect(parseConfig({ ...without, PAYMESH_ENV: 'development' }, 'cli').stores.redisUrl).toBeNull()
  })

  it('refuses a PAYMESH_ key that does not exist, so that a typing error cannot pass as a default', () => {
    expect(faultsOf({ ...minimal, PAYMESH_API_PROT: '1' })).toEqual([
      { key: 'PAYMESH_API_PROT', problem: 'is not a Paymesh setting', example: null },
    ])
  })

  // Guards access: an installation must never come up with keys that somebody else could know.
  it('has no default for secrets in any environment and never prints them', () => {
    for (const env of ['production', 'test', 'development']) {
      const faults = faultsOf({ MONGO_URL: minimal.MONGO_URL, REDIS_URL: minimal.REDIS_URL, PAYMESH_ENV: env })
      expect(faults.map((fault) => fault.key)).toEqual(['PAYMESH_MASTER_KEY', 'PAYMESH_KEY_PEPPER'])
    }
    const secret = `${key(7).slice(0, 40)}`
    expect(JSON.stringify(faultsOf({ ...minimal, PAYMESH_MASTER_KEY: secret }))).not.toContain(secret)
    expect(faultsOf({ ...minimal, PAYMESH_KEY_PEPPER: minimal.PAYMESH_MASTER_KEY })[0]?.key).toBe('PAYMESH_KEY_PEPPER')
  })

  it('reads networks with what the registry gives left as null, and names the path of a fault', () => {
    const networks = JSON.stringify({ test: { ethereum: { rpcUrls: ['http://127.0.0.1:8545'], confirmations: 3 } } })
    expect(parseConfig({ ...minimal, PAYMESH_NETWORKS: networks }).networks).toEqual({
      live: {},
      test: {
        ethereum: {
          rpcUrls: ['http://127.0.0.1:8545'],
          chainId: null,
          confirmations: 3,
          contracts: {},
          genesis: null,
        },
      },
    })
    const bad = JSON.stringify({ test: { ethereum: { rpcUrls: [], speed: 1 } } })
    const problems = faultsOf({ ...minimal, PAYMESH_NETWORKS: bad }).map((fault) => fault.problem)
    expect(problems.some((problem) => problem.startsWith('test.ethereum'))).toBe(true)
  })

  // Guarantee: no setting makes a development chain's coins count as real money.
  it('lets test networks alone be a local chain', () => {
    const networks = (mode: string, genesis: string) =>
      JSON.stringify({ [mode]: { bitcoin: { rpcUrls: ['http://127.0.0.1:8332'], genesis } } })
    expect(parseConfig({ ...minimal, PAYMESH_NETWORKS: networks('test', 'any') }).networks.test.bitcoin).toMatchObject({
      genesis: 'any',
    })
    for (const [mode, genesis] of [
      ['live', 'any'],
      ['test', 'regtest'],
    ] as const) {
      const [fault] = faultsOf({ ...minimal, PAYMESH_NETWORKS: networks(mode, genesis) })
      expect(fault?.problem).toMatch(`${mode}.bitcoin.genesis`)
    }
  })

  it('takes empty values as absent and lists of chains in their order', () => {
    expect(parseConfig({ ...minimal, PAYMESH_API_PORT: ' ', CHAINS: '' })).toMatchObject({
      api: { port: 4100 },
      chains: null,
    })
    expect(parseConfig({ ...minimal, CHAINS: 'base, ethereum,base' }).chains).toEqual(['base', 'ethereum'])
  })

  it('accepts the example of every field', () => {
    const examples = Object.fromEntries(Object.entries(FIELDS).map(([name, { example }]) => [name, example]))
    expect(() => parseConfig({ ...examples, PAYMESH_ENV: 'development' })).not.toThrow()
  })

  // Guarantee: what is convenient in development does not reach production unseen.
  it.each([
    ['known-keys', { PAYMESH_MASTER_KEY: Buffer.alloc(32).toString('base64') }, ['PAYMESH_MASTER_KEY']],
    ['known-keys', { PAYMESH_KEY_PEPPER: FIELDS.PAYMESH_KEY_PEPPER.example }, ['PAYMESH_KEY_PEPPER']],
    ['known-keys', { PAYMESH_MASTER_KEYS_OLD: FIELDS.PAYMESH_MASTER_KEY.example }, ['PAYMESH_MASTER_KEYS_OLD']],
    [
      'http-urls',
      { PAYMESH_PUBLIC_API_URL: 'http://pay.example.com', PAYMESH_PUBLIC_ADMIN_URL: '' },
      ['PAYMESH_PUBLIC_API_URL', 'PAYMESH_PUBLIC_ADMIN_URL'],
    ],
    ['localhost-webhooks', { PAYMESH_ALLOW_LOCALHOST_WEBHOOKS: 'true' }, ['PAYMESH_ALLOW_LOCALHOST_WEBHOOKS']],
    ['no-wallet-delay', { PAYMESH_WALLET_DELAY_HOURS: '0' }, ['PAYMESH_WALLET_DELAY_HOURS']],
  ])('refuses %s in production unless they are accepted by name: %j', (risk, env, keys) => {
    const faults = faultsOf({ ...minimal, ...env })
    expect(faults.map((fault) => fault.key)).toEqual(keys)
    for (const { problem } of faults) expect(problem).toContain(`PAYMESH_ACCEPTED_RISKS=${risk}`)
    expect(faultsOf({ ...minimal, ...env, PAYMESH_ACCEPTED_RISKS: risk })).toEqual([])
    const others = ['known-keys', 'http-urls', 'localhost-webhooks', 'no-wallet-delay'].filter((one) => one !== risk)
    expect(faultsOf({ ...minimal, ...env, PAYMESH_ACCEPTED_RISKS: others.join(',') })).toHaveLength(keys.length)
    expect(faultsOf({ ...minimal, ...env, PAYMESH_ENV: 'development' })).toEqual([])
  })

  it('refuses a risk that does not exist', () => {
    expect(faultsOf({ ...minimal, PAYMESH_ACCEPTED_RISKS: 'everything' })[0]?.problem).toContain('known-keys')
  })
})

describe('quotas', () => {
  const withQuota = (quota: unknown, rpcUrls: readonly string[] = ['https://eth-mainnet.g.alchemy.com/v2/key']) =>
    JSON.stringify({ live: { ethereum: { rpcUrls, quota } } })

  it.each([
    { perMonth: 30_000_000, unit: 'alchemy' },
    { perMonth: 1, unit: 'calls' },
    { perMonth: 5, unit: 'quicknode', hosts: ['eth-mainnet.g.alchemy.com'] },
  ])('reads %j', (quota) => {
    const { networks } = parseConfig({ ...minimal, PAYMESH_NETWORKS: withQuota(quota) })
    expect(networks.live.ethereum?.quota).toEqual(quota)
  })

  it.each([
    [{ perMonth: 0, unit: 'alchemy' }, 'live.ethereum.quota.perMonth: must be at least 1'],
    [{ perMonth: 1.5, unit: 'alchemy' }, 'live.ethereum.quota.perMonth: must be a whole number of units'],
    [{ perMonth: 2e12, unit: 'alchemy' }, 'live.ethereum.quota.perMonth: must be at most 1000000000000'],
    [{ perMonth: 5, unit: 'dollars' }, 'live.ethereum.quota.unit: must be one of alchemy, quicknode, infura, calls'],
    [
      { perMonth: 5, unit: 'infura' },
      'live.ethereum.quota.unit: no URL is of infura: name the hosts that it bills in quota.hosts, or use unit calls',
    ],
    [{ perMonth: 5, unit: 'calls', hosts: [] }, 'live.ethereum.quota.hosts: needs at least one host'],
    [
      { perMonth: 5, unit: 'calls', hosts: ['geth:8545'] },
      'live.ethereum.quota.hosts: geth:8545 is no host of rpcUrls',
    ],
    [{ perMonth: 5, unit: 'calls', hosts: ['https://geth:8545/key'] }, 'must be a host such as rpc.example.com:8545'],
    [{ perMonth: 5, unit: 'calls', perDay: 1 }, 'live.ethereum.quota'],
  ])('refuses %j', (quota, problem) => {
    const [fault] = faultsOf({ ...minimal, PAYMESH_NETWORKS: withQuota(quota) })
    expect(fault?.problem).toContain(problem)
  })

  it('keeps quotas where the URLs are dropped', () => {
    const quota = { perMonth: 30_000_000, unit: 'alchemy' }
    const { networks } = parseConfig({ ...minimal, PAYMESH_NETWORKS: withQuota(quota) }, 'api')
    expect(networks.live.ethereum).toMatchObject({ rpcUrls: [], quota })
  })
})

describe('testnets', () => {
  const networks = (mode: 'live' | 'test', network: string, more: object) =>
    JSON.stringify({ [mode]: { [network]: { rpcUrls: ['http://node:38332'], ...more } } })
  const problemOf = (text: string) => faultsOf({ ...minimal, PAYMESH_NETWORKS: text })[0]?.problem

  it('are named where a network has several', () => {
    const config = parseConfig({ ...minimal, PAYMESH_NETWORKS: networks('test', 'bitcoin', { testnet: 'signet' }) })
    expect(config.networks.test.bitcoin?.testnet).toBe('signet')
  })

  it('are those of the network, in test mode, and no local chain', () => {
    expect(problemOf(networks('test', 'litecoin', { testnet: 'signet' }))).toBe(
      'test.litecoin.testnet: must be one of testnet',
    )
    expect(problemOf(networks('test', 'bitcoin', { testnet: 'testnet3' }))).toContain(
      'test.bitcoin.testnet: must be one of',
    )
    expect(problemOf(networks('live', 'bitcoin', { testnet: 'signet' }))).toBe(
      'live.bitcoin.testnet: can be set in test mode only',
    )
    expect(problemOf(networks('test', 'bitcoin', { testnet: 'signet', genesis: 'any' }))).toBe(
      'test.bitcoin.testnet: names a public testnet, genesis another chain: leave one of them out',
    )
  })
})
