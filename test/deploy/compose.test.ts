import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { FIELDS } from '#shared/config/fields.ts'
import { isProcessName, isSettingName, readsSetting, SECRET_SETTINGS } from '#shared/config/process-settings.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { type Document, deployText, deployYaml, imageCommands } from './deploy-files.ts'
import { composeFaults } from './validate.ts'

const compose = deployYaml('compose', 'compose.yaml')
const services: Record<string, Document> = compose.services
const processes = [...imageCommands()]

/** Values of `env.example`, with what its owner has to fill in. */
function filledIn(): Record<string, string> {
  const lines = deployText('compose', 'env.example').split('\n')
  const pairs = lines.flatMap((line) => {
    const match = /^([A-Z_]+)=(.*)$/.exec(line)
    return match === null ? [] : [[match[1] ?? '', match[2] ?? ''] as const]
  })
  const key = (byte: number) => createHash('sha256').update(`key ${byte}`).digest('base64')
  const secrets = { PAYMESH_MASTER_KEY: key(1), PAYMESH_KEY_PEPPER: key(2), MONGO_PASSWORD: 'm', REDIS_PASSWORD: 'r' }
  return { ...Object.fromEntries(pairs), ...secrets }
}

/** What Compose makes of `${NAME:?…}` and `${NAME:-default}`. */
function interpolate(text: string, values: Record<string, string>): string {
  return text.replace(/\$\{([A-Z_]+)(?::([?-])([^}]*))?\}/g, (_whole, name: string, how: string, rest: string) => {
    const value = values[name]
    if (value) return value
    if (how === '?') throw new Error(`${name}: ${rest}`)
    return rest ?? ''
  })
}

it('is a Compose file', () => {
  expect(composeFaults()(compose)).toEqual([])
  expect(composeFaults()({ services: { api: { imagee: 'x' } } })).not.toEqual([])
})

describe.each(processes)('%s', (name, command) => {
  it('runs the line of the Procfile on the image, bounded in what it may do', () => {
    const service = services[name]
    expect(service?.command).toEqual(command)
    expect(service).toMatchObject({
      image: expect.stringContaining('paymesh'),
      user: '10001:10001',
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      stop_grace_period: '20s',
      depends_on: { migrate: { condition: 'service_completed_successfully' } },
    })
    expect(service?.ports).toBeUndefined()
  })
})

it('has no process that the Procfile does not know', () => {
  const ours = Object.keys(services).filter((name) => services[name]?.command?.includes('scripts/service.mjs'))
  expect(ours.sort()).toEqual(processes.map(([name]) => name).sort())
})

const ours = Object.keys(services).filter((name) =>
  /scripts\/(service|paymesh)\.mjs/.test(`${services[name]?.command}`),
)

/** The environment of a service as Compose gives it to the container. */
function environmentOf(name: string): Record<string, string> {
  const values = filledIn()
  const environment: Record<string, string> = services[name]?.environment
  return Object.fromEntries(Object.entries(environment).map(([key, text]) => [key, interpolate(text, values)]))
}

// Guarantee: whoever fills in env.example has a configuration that starts, in which each container has its own secrets and no other.
describe.each(ours)('the container %s', (name) => {
  if (!isProcessName(name)) throw new Error(`no settings are declared for ${name}`)

  it('is given settings that it reads, each of its secrets, and nothing else', () => {
    const given = Object.keys(environmentOf(name))
    expect(given.filter((key) => !isSettingName(key) || !readsSetting(name, key))).toEqual([])
    expect(SECRET_SETTINGS.filter((key) => readsSetting(name, key) && !given.includes(key))).toEqual([])
    expect(services[name]?.env_file).toBeUndefined()
    expect(services[name]?.secrets).toBeUndefined()
  })

  it('starts with them', () => {
    expect(parseConfig(environmentOf(name), name).env).toBe('production')
  })
})

it('runs the command line where the runbook says', () => {
  expect(parseConfig(environmentOf('api'), 'cli').networks.live.ethereum?.rpcUrls).toHaveLength(2)
})

it('hands the checkout no key, and the stores no setting of ours', () => {
  const all = filledIn()
  const given = JSON.stringify(environmentOf('checkout'))
  expect(given).toContain('redis://:')
  for (const key of ['PAYMESH_MASTER_KEY', 'PAYMESH_KEY_PEPPER']) {
    expect(given).not.toContain(key)
    expect(given).not.toContain(all[key])
  }
  const others = Object.keys(services).filter((name) => !ours.includes(name))
  const leaks = others.flatMap((name) =>
    Object.keys(services[name]?.environment ?? {}).filter((key) => key.startsWith('PAYMESH_')),
  )
  expect(leaks).toEqual([])
})

it('asks for everything that env.example names, and for nothing else', () => {
  const text = `${deployText('compose', 'compose.yaml')}${deployText('compose', 'Caddyfile').replaceAll('{$', '${')}`
  const demanded = new Set([...text.matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name = '']) => name))
  const named = new Set(Object.keys(filledIn()))
  expect([...demanded].filter((name) => !named.has(name))).toEqual([])
  const used = new Set([...text.matchAll(/\$\{([A-Z_]+)/g)].map(([, name = '']) => name))
  expect([...named].filter((name) => !used.has(name))).toEqual([])
})

// Guarantee: stores are reached by processes only, and Redis never drops a key by itself.
it('keeps the stores inside and durable', () => {
  expect(compose.networks.backend).toEqual({ internal: true })
  for (const name of ['mongo-0', 'mongo-1', 'mongo-2', 'redis']) {
    expect(services[name]?.networks).toEqual(['backend'])
    expect(services[name]?.ports).toBeUndefined()
    expect(services[name]?.volumes?.[0]).toMatch(new RegExp(`^${name}:/data`))
  }
  const redis = services['redis']?.command.join(' ')
  for (const option of ['--appendonly yes', '--maxmemory-policy noeviction']) expect(redis).toContain(option)
  for (const name of ['mongo-0', 'mongo-1', 'mongo-2']) {
    expect(services[name]?.command).toEqual(expect.arrayContaining(['--replSet', 'rs0', '--keyFile']))
  }
})

it('lets out only those who have business outside', () => {
  const goesOut = Object.keys(services).filter((name) => services[name]?.networks?.includes('egress'))
  expect(goesOut.sort()).toEqual([
    'admin',
    'api',
    'caddy',
    'checkout',
    'grafana',
    'mailer',
    'rates',
    'scanner',
    'webhooks',
  ])
  const open = Object.keys(services).filter((name) => services[name]?.ports !== undefined)
  expect(open.sort()).toEqual(['caddy', 'grafana'])
})

it('sends each name to its process', () => {
  const caddy = deployText('compose', 'Caddyfile')
  for (const [host, name, setting] of [
    ['API_HOST', 'api', FIELDS.PAYMESH_API_PORT],
    ['CHECKOUT_HOST', 'checkout', FIELDS.PAYMESH_CHECKOUT_PORT],
    ['DASHBOARD_HOST', 'admin', FIELDS.PAYMESH_ADMIN_PORT],
  ] as const) {
    expect(caddy).toContain(`{$${host}} {\n\timport paymesh ${name} ${setting.fallback}\n}`)
    expect(services[name]?.networks).toContain('edge')
  }
})
