import { expect, it } from 'vitest'
import { createMembershipRepository } from '#shared/db/accounts/membership-repository.ts'
import { MEMBERSHIPS } from '#shared/db/accounts/operator-models.ts'
import { ADVANCE_FAILURES, createAdvanceFailures } from '#shared/db/invoices/advance-failures.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { createCustomerEraser } from '#shared/db/maintenance/customer-erasure.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const MANY = 10_050

// Guarantee: however many members a workspace has, its owners are mailed.
it('lists the owners of a workspace with more admins than a list holds', async () => {
  const row = (one: number, role: 'admin' | 'owner') => ({
    ...{ _id: `ws:user-${one}`, workspaceId: 'ws', userId: `user-${one}`, role, since: new Date(0), turn: 0 },
  })
  const admins = Array.from({ length: 1_100 }, (_, one) => row(one, 'admin'))
  await stores.db.collection(MEMBERSHIPS).insertMany([...admins, row(2_000, 'owner')])
  const memberships = createMembershipRepository(stores.db)
  expect(await memberships.list('ws')).toHaveLength(1_000)
  expect(await memberships.list('ws', 'owner')).toMatchObject([{ userId: 'user-2000' }])
})

// Guarantee: a general fault of thousands of invoices retries none of them earlier than its pause.
it('finds every pausing invoice, however many are recorded', async () => {
  const rows = Array.from({ length: MANY }, (_, one) => ({
    ...{ _id: `invoice-${one}`, failures: 1, retryAt: new Date(1_000 + one) },
  }))
  await stores.db.collection(ADVANCE_FAILURES).insertMany(rows)
  const failures = createAdvanceFailures(stores.db)
  const ids = rows.map(({ _id }) => _id)
  expect((await failures.pausing(ids, 999)).size).toBe(MANY)
  expect((await failures.pausing(ids, 1_000 + MANY - 2)).size).toBe(1)
  const listed = await failures.list()
  expect([listed.size, listed.has('invoice-0'), listed.has(`invoice-${MANY - 1}`)]).toEqual([10_000, false, true])
})

// Guarantee: a customer who asks a second time while the first search runs is erased from what came in between.
it('ends only the search of erased copies that was due', async () => {
  const invoices = stores.db.connection.collection<{ _id: string; eraseSweepAt?: Date }>(INVOICES.name)
  await invoices.insertOne({ _id: 'erased', eraseSweepAt: new Date(1_000) })
  const eraser = createCustomerEraser(stores.db)
  expect(await eraser.dueSweeps(2_000, 10)).toEqual(['erased'])
  await invoices.updateOne({ _id: 'erased' }, { $set: { eraseSweepAt: new Date(9_000) } })
  await eraser.endSweep('erased', 2_000)
  expect(await eraser.dueSweeps(9_000, 10)).toEqual(['erased'])
  await eraser.endSweep('erased', 9_000)
  expect(await eraser.dueSweeps(9_000, 10)).toEqual([])
})
