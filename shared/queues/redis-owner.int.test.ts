import { expect, it } from 'vitest'
import { createInstallationLifeRepository } from '#shared/db/restore/installation-life-repository.ts'
import { runOnStores } from '#test/support/run-on-stores.ts'
import { useStores } from '#test/support/stores.ts'
import { foreignOwner } from './redis-owner.ts'

const stores = useStores()

// Guarantee: two installations behind one Redis prefix never read each other's limits, epochs and marks.
it('gives a prefix to the first installation, and refuses another one by its id', async () => {
  const { installation } = await createInstallationLifeRepository(stores.db).read()
  expect(await foreignOwner(stores.redis, installation)).toBeNull()
  expect(await foreignOwner(stores.redis, installation)).toBeNull()
  expect(await foreignOwner(stores.redis, 'another')).toBe(installation)
  expect(await runOnStores(stores, 'workspace', 'list')).toMatchObject({ status: 0 })

  await stores.redis.producer.set(`${stores.redis.prefix}:installation`, 'another')
  const refused = await runOnStores(stores, 'workspace', 'list')
  expect(refused).toMatchObject({ status: 1, stdout: '' })
  expect(refused.stderr).toContain('belong to installation another')
  expect(refused.stderr).toContain('PAYMESH_REDIS_PREFIX')
})
