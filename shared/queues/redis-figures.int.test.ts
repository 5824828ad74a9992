import { expect, it } from 'vitest'
import { useStores } from '#test/support/stores.ts'
import { redisFigures } from './redis-figures.ts'

const stores = useStores()

it('reads role and memory of the server', async () => {
  const figures = await redisFigures(stores.redis)
  expect(figures).toMatchObject({ isPrimary: true })
  expect(figures?.usedBytes).toBeGreaterThan(0)
})

it('has no figures of a server that does not answer', async () => {
  const producer = stores.redis.producer.duplicate({ port: 9, lazyConnect: true, retryStrategy: () => null })
  producer.on('error', () => undefined)
  expect(await redisFigures({ producer })).toBeNull()
  producer.disconnect()
})
