import { expect, it } from 'vitest'
import { createStoreRedundancy } from '#shared/db/maintenance/store-redundancy.ts'
import { startTcpProxy } from '#test/chaos/tcp-proxy.ts'
import { useStores } from '#test/support/stores.ts'
import { connectDatabase } from './connect.ts'

const stores = useStores({ migrated: false })

// Guarantee: a store that answers, but late, is not healthy: it was "up" for every probe and figure while each command took seconds.
it('a ping and the figures of redundancy end at their own time, not at the answer', { timeout: 60_000 }, async () => {
  const { port } = new URL(stores.mongoUrl)
  const link = await startTcpProxy(() => Number(port))
  const url = `mongodb://127.0.0.1:${link.port}/?directConnection=true`
  const db = await connectDatabase({ url, name: stores.database, logger: stores.runtime.logger })
  try {
    expect(await db.isHealthy(10_000)).toBe(true)
    link.fail({ kind: 'latency', ms: 3_000 })
    expect(await db.isHealthy(100)).toBe(false)
    await expect(createStoreRedundancy(db).read()).rejects.toThrow()
  } finally {
    await db.close()
    await link.close()
  }
})
