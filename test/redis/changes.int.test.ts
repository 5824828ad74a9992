import { expect, it, vi } from 'vitest'
import { useRedisServers } from '#test/support/redis-servers.ts'
import { useStores } from '#test/support/stores.ts'
import { useRedisWork } from './redis-work.ts'

const stores = useStores()
const { startRedis, startCluster, endings } = useRedisServers()
const { counted, connect, doctor, startWakeUps, expectWholeWork, fault } = useRedisWork(stores, endings)

// Guarantee: a server forgets scripts when it likes (`SCRIPT FLUSH`; since 7.4 those that EVAL loaded, by age), and no wake-up is lost for it.
it('goes on when the server forgets its scripts', async () => {
  const server = await startRedis()
  const redis = connect(server.url)
  expect(await redis.waitUntilHealthy(60_000)).toBe(true)
  const { expectTen } = startWakeUps(redis)
  await expectTen('before')
  counted.clear()
  for (const time of ['first', 'second']) {
    await server.command('SCRIPT', 'FLUSH')
    await expectTen(time)
  }
  expect(counted.get('wakeups_dropped_total') ?? 0).toBe(0)
  expect(redis.fault()).toBeNull()
})

it('goes on when the server restarts empty, or ends connections that rest', async () => {
  const server = await startRedis(['--timeout', '1'])
  const redis = connect(server.url)
  expect(await redis.waitUntilHealthy(60_000)).toBe(true)
  const clients = async () => String(await server.command('CLIENT', 'LIST')).match(/^id=\d+/gm) ?? []
  const { expectTen } = startWakeUps(redis)
  // On a busy machine a connection may rest for a second while the first wake-ups are still awaited.
  const seen = new Set(await clients())
  await expectTen('before')
  await vi.waitFor(async () => {
    const left = await clients()
    for (const id of left) seen.add(id)
    expect(left.length).toBeLessThan(seen.size)
  })
  await expectTen('rested')
  await server.kill()
  await fault(redis, /refuses the connection/)
  await server.restart()
  expect(await redis.waitUntilHealthy(60_000)).toBe(true)
  await expectTen('after')
  expect(await doctor(redis)).toBe('takes and delivers wake-ups, noeviction')
})

// Guarantee: who changes the password, or the number of clients, finds the reason in `doctor`.
it('names a password that was changed, and a server that takes no more clients', async () => {
  const server = await startRedis()
  await server.command('ACL', 'SETUSER', 'app', 'on', '>one', '~*', '&*', '+@all')
  const redis = connect(`redis://app:one@127.0.0.1:${server.port}`)
  await expectWholeWork(redis)
  await server.command('ACL', 'SETUSER', 'app', '<one', '>two')
  await server.command('CLIENT', 'KILL', 'USER', 'app')
  await fault(redis, /refuses the user or password of REDIS_URL/)

  await server.command('CONFIG', 'SET', 'maxclients', '1')
  await fault(connect(server.url), /has as many clients as it takes \(maxclients\)/)
})

// Guarantee: a cluster that moves the installation's slot to another node is the same address afterwards.
it('follows its keys when a cluster moves them', async () => {
  const nodes = await startCluster(3)
  const redis = connect(`redis+cluster://127.0.0.1:${nodes[0]?.port}`)
  expect(await redis.waitUntilHealthy(60_000)).toBe(true)
  const { expectTen } = startWakeUps(redis)
  await expectTen('before')
  const counts = await Promise.all(nodes.map((node) => node.command('DBSIZE')))
  const from = counts.findIndex((count) => Number(count) > 0)
  const [source, target] = [nodes[from], nodes[(from + 1) % 3]]
  const slot = String(await source?.command('CLUSTER', 'KEYSLOT', '{paymesh}:x'))
  const [sourceId, targetId] = [await source?.command('CLUSTER', 'MYID'), await target?.command('CLUSTER', 'MYID')]
  await target?.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(sourceId))
  await source?.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(targetId))
  for (;;) {
    const keys = (await source?.command('CLUSTER', 'GETKEYSINSLOT', slot, '1000')) as string[]
    if (keys.length === 0) break
    await source?.command('MIGRATE', '127.0.0.1', target?.port ?? 0, '', '0', '5000', 'REPLACE', 'KEYS', ...keys)
  }
  for (const node of [target, source, ...nodes])
    await node?.command('CLUSTER', 'SETSLOT', slot, 'NODE', String(targetId))
  await vi.waitFor(async () =>
    expect(Number(await target?.command('CLUSTER', 'COUNTKEYSINSLOT', slot))).toBeGreaterThan(0),
  )
  expect(await redis.waitUntilHealthy(60_000)).toBe(true)
  await expectTen('after')
  expect(await doctor(redis)).toMatch(/^takes and delivers wake-ups, noeviction/)
})
