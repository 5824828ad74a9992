import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { LEASES } from '#shared/db/installation/lease-model.ts'
import { createMemorySignals } from '#shared/queues/memory/memory-signals.ts'
import { serviceContext } from '#test/support/service-context.ts'
import { useStores } from '#test/support/stores.ts'
import { SERVICE_NAMES } from './services.ts'
import { STARTED_NAMES, startAll } from './start-all.ts'

const stores = useStores()

const FREE = {
  PAYMESH_API_PORT: '0',
  PAYMESH_CHECKOUT_PORT: '0',
  PAYMESH_ADMIN_PORT: '0',
  PAYMESH_MAILBOX_PORT: '0',
  PAYMESH_RATE_SOURCES: '{"kraken":"http://127.0.0.1:1"}',
}
const contextOf = (env: Readonly<Record<string, string>>) => ({
  ...serviceContext(stores, { ...FREE, ...env }),
  signals: createMemorySignals(stores.runtime.metrics),
})
const heldLeases = async () => {
  const leases = await stores.db.collection(LEASES).find().toArray()
  return leases.filter(({ until }) => until > new Date(stores.runtime.clock.now())).map(({ _id }) => String(_id))
}

it('starts every service of the installation', () => {
  expect([...STARTED_NAMES].sort()).toEqual([...SERVICE_NAMES].sort())
})

it('runs all of them on one set of connections, and frees every lease when it stops', async () => {
  const stop = await startAll(contextOf({}))
  await expect.poll(heldLeases).toEqual(expect.arrayContaining(['audit-chain', 'address-headroom', 'rates']))
  await stop()
  expect(await heldLeases()).toEqual([])
})

// Guarantee: half an installation never runs: a service that cannot start ends those that had.
it('stops what it started when a port is taken, and names the service', async () => {
  const occupant = createServer().listen(0, '127.0.0.1')
  await once(occupant, 'listening')
  const address = occupant.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  try {
    const starting = startAll(contextOf({ PAYMESH_ADMIN_PORT: String(address.port) }))
    await expect(starting).rejects.toThrow(/^admin: listen EADDRINUSE/)
    expect(await heldLeases()).toEqual([])
  } finally {
    occupant.close()
  }
})
