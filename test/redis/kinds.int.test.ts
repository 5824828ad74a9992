import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '#dev/embedded/free-port.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import { connectRedis } from '#shared/queues/connection.ts'
import { createQueueWorker } from '#shared/queues/worker.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { useRedisServers } from '#test/support/redis-servers.ts'
import { useStores } from '#test/support/stores.ts'
import { useRedisWork } from './redis-work.ts'

const stores = useStores()
const { startRedis, startCluster, startSentinels, endings } = useRedisServers()
const PASSWORD = 'p@ss:w/rd#%?'
const ENCODED = encodeURIComponent(PASSWORD)

const { metrics, connect, doctor, expectWholeWork, fault } = useRedisWork(stores, endings)

// Guarantee: every key of an installation is in one slot, so that a cluster is an address like any other, and one that lost the slot is red.
it('works on a cluster of three, and names the slot that is gone', async () => {
  const nodes = await startCluster(3)
  const redis = connect(`redis+cluster://127.0.0.1:${nodes[0]?.port},127.0.0.1:${nodes[1]?.port}`)
  await expectWholeWork(redis)
  expect(await doctor(redis)).toMatch(/^takes and delivers wake-ups, noeviction/)
  const keys = await Promise.all(nodes.map((node) => node.command('DBSIZE')))
  expect(keys.filter((count) => Number(count) > 0)).toHaveLength(1)

  const wrong = connect(nodes[keys.indexOf(0)]?.url ?? '')
  await fault(wrong, /is a node of a cluster: use redis\+cluster/)

  const owner = keys.findIndex((count) => Number(count) > 0)
  await nodes[(owner + 1) % 3]?.kill()
  expect(await redis.waitUntilHealthy(60_000)).toBe(true)
  const last = nodes[owner]
  await last?.command('CLUSTER', 'FLUSHSLOTS').catch(async () => {
    await last.command('FLUSHALL')
    await last.command('CLUSTER', 'FLUSHSLOTS')
  })
  await fault(redis, /has no node for the keys|does not answer|refuses the connection/)
})

// Guarantee: what answers and stores nothing is red, in words that name the cause, for processes and for doctor alike.
it('names a replica, a full server, and commands that are missing', async () => {
  const primary = await startRedis()
  const replica = await startRedis(['--replicaof', `127.0.0.1 ${primary.port}`])
  await fault(connect(replica.url), /is a read-only replica/)

  const redis = connect(primary.url)
  expect(await redis.waitUntilHealthy(60_000)).toBe(true)
  expect(await doctor(redis)).toBe('takes and delivers wake-ups, noeviction')
  await primary.command('CONFIG', 'SET', 'maxmemory', '1')
  await fault(redis, /is full: it has reached maxmemory/)
  await primary.command('CONFIG', 'SET', 'maxmemory', '0')
  expect(await redis.waitUntilHealthy(60_000)).toBe(true)
  await primary.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
  expect(await doctor(redis)).toBe('fault: maxmemory-policy is allkeys-lru; set it to noeviction')
  await fault(connect(`redis+cluster://127.0.0.1:${primary.port}`), /is no cluster: use redis:/)

  // It answers to PING and takes a SET.
  const user = (name: string, ...rules: string[]) =>
    primary.command('ACL', 'SETUSER', name, 'on', `>${PASSWORD}`, '~{paymesh}:*', ...rules)
  for (const command of ['evalsha', 'bzpopmin', 'xadd', 'multi']) {
    await user(`no-${command}`, '+@all', `-${command}`)
    const lacking = connect(`redis://no-${command}:${ENCODED}@127.0.0.1:${primary.port}`)
    await fault(lacking, /does not let its user do all/)
    expect(lacking.fault()).not.toContain(PASSWORD)
  }
})

// Guarantee: the rights in deploy/README.md suffice, without CONFIG; what the server does not say is a remark.
it('needs no right but those of deploy/README.md', async () => {
  const server = await startRedis()
  await server.command(
    'ACL',
    'SETUSER',
    'app',
    'on',
    `>${PASSWORD}`,
    '~{paymesh}:*',
    '+@all',
    '-@admin',
    '-@dangerous',
    '+info',
  )
  const redis = connect(`redis://app:${ENCODED}@127.0.0.1:${server.port}`)
  await expectWholeWork(redis)
  expect(await doctor(redis)).toBe('takes and delivers wake-ups, noeviction')
  await server.command('ACL', 'SETUSER', 'app', '-info')
  expect(await doctor(redis)).toMatch(
    /^takes and delivers wake-ups; remark: the version of Redis cannot be read; remark: maxmemory-policy cannot be read here/,
  )
  await server.command('ACL', 'SETUSER', 'app', 'resetkeys', '~other:*')
  await fault(redis, /does not let its user do all/)
})

// Guarantee: a password is in no line of the log, whatever Redis answers to it.
it('refuses a wrong password without repeating it', async () => {
  const lines: string[] = []
  const logger = createLogger({ name: 'test', level: 'debug', destination: { write: (line) => void lines.push(line) } })
  const server = await startRedis(['--requirepass', 'right'], { isPlain: false })
  const redis = connectRedis({ url: `redis://:${ENCODED}@127.0.0.1:${server.port}`, prefix: 'paymesh', logger })
  endings.push(() => redis.close())
  const worker = createQueueWorker(
    redis,
    { ...stores.runtime, logger, metrics },
    {
      ...{ queue: QUEUES.mail, concurrency: 1, sweepEveryMs: 100, handle: () => Promise.resolve() },
      sweep: () => Promise.resolve(['m-1']),
    },
  )
  endings.push(() => worker.stop(1_000))
  await fault(redis, /refuses the user or password of REDIS_URL/)
  await fault(connect(server.url), /wants a password/)
  expect(lines.join('')).not.toContain(PASSWORD)
  expect(lines.join('')).not.toContain(ENCODED)
})

it('names a primary that its Sentinels name and that is dead, and a name that they do not watch', async () => {
  const primary = await startRedis()
  const [sentinel] = await startSentinels(1, primary.port)
  await primary.kill()
  await fault(connect(`redis+sentinel://127.0.0.1:${sentinel?.port}/mymaster`), /refuses the connection/)
  await fault(
    connect(`redis+sentinel://127.0.0.1:${sentinel?.port}/another`),
    /cannot be found: no Sentinel answers, or none of them watches/,
  )
})

const certificates = mkdtempSync(join(tmpdir(), 'paymesh-redis-tls-'))
afterAll(() => rmSync(certificates, { recursive: true, force: true }))
const inFolder = (name: string) => join(certificates, name)
beforeAll(() => {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: certificates, stdio: 'pipe' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '30']
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=test-authority')
  openssl('req', ...key.slice(0, -2), '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost')
  writeFileSync(inFolder('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1')
  writeFileSync(inFolder('others'), 'subjectAltName=DNS:elsewhere')
  const sign = (name: string, days: number, names: string): void => {
    const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', String(days), '-extfile', names]
    openssl('x509', '-req', '-in', 'server.csr', '-out', `${name}.pem`, ...by)
  }
  sign('server', 30, 'names')
  sign('expired', -1, 'names')
  sign('elsewhere', 30, 'others')
  execFileSync('sh', ['-c', 'cat server.pem server.key > both.pem'], { cwd: certificates })
})

it('speaks TLS with its own authority, and shows its own certificate where the server wants one', async () => {
  const port = await freePort(0)
  const tls = ['--tls-port', String(port), '--tls-ca-cert-file', inFolder('ca.pem')]
  const own = ['--tls-cert-file', inFolder('server.pem'), '--tls-key-file', inFolder('server.key')]
  const server = await startRedis([...tls, ...own, '--tls-auth-clients', 'yes'])
  const url = `rediss://127.0.0.1:${port}`
  const redis = connect(`${url}?tlsCAFile=${inFolder('ca.pem')}&tlsCertificateKeyFile=${inFolder('both.pem')}`)
  await expectWholeWork(redis)
  await fault(connect(url), /has a certificate that is not trusted: name the file of its authority with \?tlsCAFile=/)
  await closeDuringHandshakes(url)
  await fault(connect(`rediss://127.0.0.1:${server.port}`), /does its port speak TLS/)
  await fault(connect(url.replace('rediss', 'redis')), /one side speaks TLS|does not answer/)
  expect(() => connect(`${url}?tlsCAFile=${inFolder('missing.pem')}`)).toThrow(/ENOENT.*missing\.pem/)
})

// Guarantee: a certificate that changes under running processes ends none of them, is named for what it is, and wake-ups resume.
it('says what is wrong with a certificate that was replaced, and works on with a good one', async () => {
  const port = await freePort(0)
  const certificate = (name: string) => [
    'tls-cert-file',
    inFolder(`${name}.pem`),
    'tls-key-file',
    inFolder('server.key'),
  ]
  const own = certificate('server').map((word, at) => (at % 2 === 0 ? `--${word}` : word))
  const tls = ['--tls-port', String(port), '--tls-ca-cert-file', inFolder('ca.pem'), '--tls-auth-clients', 'no']
  const server = await startRedis([...tls, ...own])
  const redis = connect(`rediss://127.0.0.1:${port}?tlsCAFile=${inFolder('ca.pem')}`)
  await expectWholeWork(redis)
  const replace = async (name: string): Promise<void> => {
    await server.command('CONFIG', 'SET', ...certificate(name))
    await server.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  }
  await replace('expired')
  await fault(redis, /has a certificate that has expired: replace it/)
  await replace('elsewhere')
  await fault(redis, /has a certificate for another name/)
  await replace('server')
  await expectWholeWork(redis)
})

/** A server that is not trusted may answer to the close once more; the runner fails on an error that nobody hears. */
async function closeDuringHandshakes(url: string): Promise<void> {
  for (let round = 0; round < 20; round++) {
    const some = Array.from({ length: 10 }, () => connect(url))
    await new Promise((resolve) => setTimeout(resolve, round / 2))
    await Promise.all(some.map((redis) => redis.close()))
  }
}
