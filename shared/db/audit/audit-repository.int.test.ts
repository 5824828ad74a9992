import { expect, it } from 'vitest'
import { commandsOf } from '#test/support/commands-of.ts'
import { useStores } from '#test/support/stores.ts'
import { createAuditRepository } from './audit-repository.ts'

const stores = useStores()
const MANY = 1_500

// Guarantee: a subject whose history a script made long costs the next reader no more than a page of it.
it('reads one row of a long history where one is enough, and at most the newest thousand', async () => {
  const audits = createAuditRepository(stores.db)
  const row = (one: number) => ({
    ...{ id: `edit-${one}`, at: 1_000 + one, actor: 'user:ana@example.com', subject: 'link-1' },
    ...{
      action: one === 3 ? ('payment_link.created' as const) : ('payment_link.updated' as const),
      workspaceId: null,
      mode: null,
      detail: {},
    },
  })
  await audits.insertMany(Array.from({ length: MANY }, (_, one) => row(one)))
  const commands = await commandsOf(stores.db, async () => {
    const listed = await audits.listBySubject('link-1')
    const newest = await audits.newestOf('link-1')
    expect([listed.length, listed[0]?.id, listed.at(-1)?.id]).toEqual([1_000, 'edit-500', 'edit-1499'])
    expect(newest).toMatchObject({ id: 'edit-1499' })
  })
  const reads = commands.filter(({ ns }) => String(ns).endsWith('.audit_log'))
  expect(reads.reduce((sum, { docsExamined = 0 }) => sum + docsExamined, 0)).toBe(1_001)

  expect(await audits.newestOf('link-1', 'payment_link.created')).toMatchObject({ id: 'edit-3' })
  expect(await audits.newestOf('link-2')).toBeNull()
  expect(await audits.isRecorded('edit-7', 'link-1')).toBe(true)
  // The same operation id on another subject is another action.
  expect(await audits.isRecorded('edit-7', 'link-2')).toBe(false)
})
