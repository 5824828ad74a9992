import { describe, expect, it } from 'vitest'
import { FIELDS } from '#shared/config/fields.ts'
import { isProcessName, isSettingName, readsSetting, SECRET_SETTINGS } from '#shared/config/process-settings.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { FIXED_HERE, filledIn, interpolate } from './compose-values.ts'
import { type Document, deployText, deployYaml, imageCommands } from './deploy-files.ts'
import { composeFaults } from './validate.ts'

const compose = deployYaml('compose', 'compose.yaml')
const services: Record<string, Document> = compose.services
const processes = [...imageCommands()]

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
    expect(services[name]?.env_file).toEqual([{ path: 'settings.env', required: false }])
    expect(services[name]?.secrets).toBeUndefined()
  })

  // Guarantee: an operator can change each setting. `environment` wins over `env_file`, so a line there must ask `.env` for the value.
  it('is reached by every setting that it reads', () => {
    const environment: Record<string, string> = services[name]?.environment
    const shadowed = Object.entries(environment).filter(([key, text]) => !text.includes(`\${${key}:`))
    expect(shadowed.map(([key]) => key).filter((key) => !FIXED_HERE.includes(key))).toEqual([])
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
  const { COMPOSE_FILE: _, ...filled } = filledIn()
  const named = new Set(Object.keys(filled))
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

// Guarantee: three stores on one machine do not take its memory three times; mongod needs about as much beside its cache.
it('bounds the caches and the memory of its stores', () => {
  for (const name of ['mongo-0', 'mongo-1', 'mongo-2']) {
    const command: string[] = services[name]?.command.map((word: string) => interpolate(word, {}))
    const cacheGb = Number(command[command.indexOf('--wiredTigerCacheSizeGB') + 1])
    expect(cacheGb).toBeGreaterThanOrEqual(0.25)
    const [, memoryGb] = /^(\d+)g$/.exec(interpolate(services[name]?.['mem_limit'], {})) ?? []
    expect(Number(memoryGb)).toBe(2 * cacheGb)
  }
})

it('lets out only those who have business outside', () => {
  const goesOut = Object.keys(services).filter((name) => services[name]?.networks?.includes('egress'))
  expect(goesOut.sort()).toEqual([
    'admin',
    'alertmanager',
    'api',
    'backup-upload',
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

// Guarantee: back-ups run without the pepper and the nodes, into a folder that outlives the container, and under a key that is not stored there.
it('backs up when asked to, and uploads only what is complete', () => {
  const backup = services['backup']
  expect(backup?.profiles).toEqual(['backup'])
  expect(backup?.command.slice(0, 5)).toEqual(['node', 'scripts/paymesh.mjs', 'backup', 'run', '/backups'])
  expect(backup?.volumes.map((volume: string) => interpolate(volume, {}))).toEqual([
    'marks:/var/lib/paymesh/marks',
    './backups:/backups',
    'copied:/var/lib/paymesh/copied:ro',
    './backup.key:/run/backup.key:ro',
  ])
  expect(backup?.networks).toEqual(['backend'])
  const upload = services['backup-upload']
  expect(upload?.profiles).toEqual(['backup-s3'])
  expect(upload?.volumes.map((volume: string) => interpolate(volume, {}))).toEqual([
    './backups:/backups:ro',
    'copied:/copied',
  ])
  // Copies are expected exactly where there is a bucket for them.
  const copied = (values: Record<string, string>) => interpolate(backup?.command.at(-1), values)
  expect(copied({})).toBe('--copied=')
  expect(copied({ BACKUP_BUCKET: 'archives' })).toBe('--copied=/var/lib/paymesh/copied')
  expect(upload?.entrypoint.join(' ')).not.toContain('.partial')
  for (const line of upload?.entrypoint[2].match(/rclone (copy|delete).*/g) ?? [])
    expect(line).toMatch(/--include '\/paymesh-\*\.(backup|changes)' /)
})
