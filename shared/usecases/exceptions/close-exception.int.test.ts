import { beforeEach, expect, it } from 'vitest'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import type { ExceptionRecord } from '#shared/ports/exceptions.ts'
import { useStores } from '#test/support/stores.ts'
import { closeException } from './close-exception.ts'

const stores = useStores()

const HALTED: ExceptionRecord = {
  id: 'halted_chain:live:ethereum',
  kind: 'halted_chain',
  workspaceId: null,
  mode: 'live',
  invoiceId: null,
  paymentKey: null,
  detail: 'The chain halted.',
  openedAt: 1,
  closedAt: null,
}

beforeEach(async () => {
  await migrate(stores.db)
})

// Guarantee: whoever closes an exception of the installation is on record, once.
it('closes an exception once, notes who did it, and an observation of the same does not open it again', async () => {
  const exceptions = createExceptionRepository(stores.db)
  const deps = { ...stores.runtime, exceptions }
  const close = (isDone: boolean) => closeException(deps, { id: HALTED.id, actor: 'cli:anna', isDone })
  await exceptions.openOnce([HALTED])
  expect(await close(true)).toMatchObject({ changed: false })
  expect(await exceptions.listOpen(null)).toHaveLength(1)
  expect(await close(false)).toMatchObject({ changed: true })
  expect(await close(false)).toMatchObject({ changed: false })
  await exceptions.openOnce([HALTED])
  expect(await exceptions.listOpen(null)).toEqual([])
  const rows = await createAuditRepository(stores.db).listBySubject(HALTED.id)
  expect(rows).toMatchObject([{ action: 'exception.closed', actor: 'cli:anna', workspaceId: null }])
})

// Guarantee: the people of a workspace decide its exceptions, and nobody else closes them.
it.each(['none', 'unmatched:key:ws'])('refuses %s as unknown', async (id) => {
  const exceptions = createExceptionRepository(stores.db)
  await exceptions.openOnce([{ ...HALTED, id: 'unmatched:key:ws', kind: 'unmatched', workspaceId: 'ws' }])
  const refused = closeException({ ...stores.runtime, exceptions }, { id, actor: 'cli:anna', isDone: false })
  await expect(refused).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await exceptions.listOpen('ws')).toHaveLength(1)
})
