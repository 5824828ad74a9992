import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { SERVE_LINE } from '#scripts/start/procfile.ts'
import { isSettingName, readsSetting, SECRET_SETTINGS } from '#shared/config/process-settings.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { FIXED_HERE, filledIn, interpolate } from './compose-values.ts'
import { type Document, deployPath, deployText, deployYaml } from './deploy-files.ts'
import { composeFaults } from './validate.ts'

const compose = deployYaml('compose', 'serve.yaml')
const many = deployYaml('compose', 'compose.yaml')
const services: Record<string, Document> = compose.services
const { serve, migrate } = services

function environmentOf(name: string): Record<string, string> {
  // No Redis here: its password is not asked for.
  const { REDIS_PASSWORD: _, ...values } = filledIn()
  const environment: Record<string, string> = services[name]?.environment
  return Object.fromEntries(Object.entries(environment).map(([key, text]) => [key, interpolate(text, values)]))
}

it('is a Compose file that runs everything in one process, without Redis', () => {
  expect(composeFaults()(compose)).toEqual([])
  expect(Object.keys(services).sort()).toEqual([
    ...['backup', 'backup-upload', 'caddy', 'migrate', 'mongo-0', 'mongo-init', 'serve'],
  ])
  expect(serve?.command).toEqual(['node', ...SERVE_LINE.args])
  expect(serve).toMatchObject({
    user: '10001:10001',
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    stop_grace_period: '20s',
    restart: 'unless-stopped',
    depends_on: { migrate: { condition: 'service_completed_successfully' } },
  })
  expect(serve?.ports).toBeUndefined()
  expect(deployText('compose', 'serve.yaml')).not.toContain('redis://')
})

// Guarantee: whoever fills in env.example has a configuration that starts.
describe('the container serve', () => {
  it('is given settings that it reads, each of its secrets, and nothing else', () => {
    const given = Object.keys(environmentOf('serve'))
    expect(given.filter((key) => !isSettingName(key) || !readsSetting('serve', key))).toEqual([])
    expect(SECRET_SETTINGS.filter((key) => readsSetting('serve', key) && !given.includes(key))).toEqual([])
  })

  it('starts with them, and so does the command line in it', () => {
    expect(parseConfig(environmentOf('serve'), 'serve').env).toBe('production')
    expect(parseConfig(environmentOf('serve'), 'cli').stores.redisUrl).toBeNull()
    expect(parseConfig(environmentOf('migrate'), 'migrate').stores.mongoUrl).toContain('@mongo-0:27017')
  })

  it('is reached by every setting', () => {
    for (const one of [serve, migrate]) expect(one?.env_file).toEqual([{ path: 'settings.env', required: false }])
    const environment: Record<string, string> = serve?.environment
    const shadowed = Object.entries(environment).filter(([key, text]) => !text.includes(`\${${key}:`))
    expect(shadowed.map(([key]) => key).filter((key) => !FIXED_HERE.includes(key))).toEqual([])
  })

  it('has the names under which Caddy calls the three processes', () => {
    const caddy = deployText('compose', 'Caddyfile')
    for (const name of serve?.networks.edge.aliases ?? []) expect(caddy).toContain(`import paymesh ${name} 41`)
    expect(serve?.networks.edge.aliases).toHaveLength(3)
  })
})

// Guarantee: the database is the same volume under the same name, so that moving to compose.yaml takes no copy.
describe('beside compose.yaml', () => {
  it('is the same project on the same data', () => {
    expect(compose.name).toBe(many.name)
    for (const key of ['image', 'volumes', 'entrypoint', 'environment', 'secrets']) {
      expect(services['mongo-0']?.[key]).toEqual(many.services['mongo-0'][key])
    }
    expect(compose.networks).toEqual(many.networks)
    expect(services['caddy']).toEqual({ ...many.services.caddy, depends_on: ['serve'] })
  })

  // Guarantee: both forms write the same archives, so that either restores the other's.
  it('backs up in the same way', () => {
    for (const key of ['command', 'volumes', 'profiles', 'user', 'read_only']) {
      expect(services['backup']?.[key]).toEqual(many.services.backup[key])
    }
    expect(services['backup-upload']).toEqual(many.services['backup-upload'])
    expect(environmentOf('backup')).toEqual({
      ...environmentOf('backup'),
      MONGO_URL: environmentOf('serve')['MONGO_URL'],
    })
    expect(parseConfig(environmentOf('backup'), 'backup').env).toBe('production')
  })

  it('makes a replica set of one, which gets its other members in compose.yaml', () => {
    expect(runReplicaSet({ members: 1, known: null })).toEqual({ initiated: ['mongo-0:27017'], added: [] })
    expect(runReplicaSet({ members: null, known: ['mongo-0:27017'] })).toEqual({
      initiated: null,
      added: ['mongo-1:27017', 'mongo-2:27017'],
    })
    const three = ['mongo-0:27017', 'mongo-1:27017', 'mongo-2:27017']
    expect(runReplicaSet({ members: null, known: null })).toEqual({ initiated: three, added: [] })
    expect(runReplicaSet({ members: null, known: three })).toEqual({ initiated: null, added: [] })
    // A set of three never loses a member because somebody starts the small form on it.
    expect(runReplicaSet({ members: 1, known: three })).toEqual({ initiated: null, added: [] })
  })
})

/** Runs `replica-set.js` with the functions of mongosh replaced: `known` are the members of the set that exists, null = none does. */
function runReplicaSet(facts: { readonly members: number | null; readonly known: readonly string[] | null }) {
  const harness = `
    const done = { initiated: null, added: [] }
    let hosts = ${JSON.stringify(facts.known)}
    globalThis.print = () => undefined
    globalThis.sleep = () => undefined
    globalThis.db = { hello: () => ({ isWritablePrimary: hosts !== null, primary: hosts?.[0] }) }
    globalThis.rs = {
      status: () => { if (hosts === null) throw Object.assign(new Error('no set'), { codeName: 'NotYetInitialized' }) },
      initiate: ({ members }) => { hosts = members.map(({ host }) => host); done.initiated = hosts },
      conf: () => ({ members: hosts.map((host) => ({ host })) }),
      add: (host) => done.added.push(host),
    }
    require(${JSON.stringify(deployPath('compose', 'replica-set.js'))})
    process.stdout.write(JSON.stringify(done))`
  const env = { ...process.env, MONGO_MEMBERS: facts.members === null ? '' : String(facts.members) }
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=commonjs', '-e', harness], {
    env,
    encoding: 'utf8',
  })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}
