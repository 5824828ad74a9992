import { Redis } from 'ioredis'
import { expect, it } from 'vitest'
import { useStores } from '#test/support/stores.ts'
import { readRedisFigures } from './redis-servers.ts'

const stores = useStores()

it('reads role and memory of the server', async () => {
  const figures = await readRedisFigures(stores.redis)
  expect(figures).toMatchObject({ isPrimary: true })
  expect(figures?.usedBytes).toBeGreaterThan(0)
})

it('has no figures of a server that does not answer', async () => {
  const producer = new Redis({ port: 9, lazyConnect: true, retryStrategy: () => null })
  producer.on('error', () => undefined)
  expect(await readRedisFigures({ producer })).toBeNull()
  producer.disconnect()
})
