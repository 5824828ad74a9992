import { beforeEach, expect, it } from 'vitest'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createExceptionDecisions } from '#shared/db/exceptions/exception-decisions.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import type { ExceptionRecord } from '#shared/ports/exceptions.ts'
import { useStores } from '#test/support/stores.ts'
import { closeException } from './close-exception.ts'

const stores = useStores()

const UNMATCHED: ExceptionRecord = {
  id: 'unmatched:key:ws',
  kind: 'unmatched',
  workspaceId: 'ws',
  mode: 'live',
  invoiceId: null,
  paymentKey: 'key',
  detail: 'Money arrived.',
  openedAt: 1,
  closedAt: null,
}

beforeEach(async () => {
  await migrate(stores.db)
})

// Guarantee: whoever closes an entry of the inbox is on record, once.
it('closes an entry once, notes who did it, and an observation of the same money does not open it again', async () => {
  const exceptions = createExceptionRepository(stores.db)
  const deps = { ...stores.runtime, exceptions }
  const close = (dryRun: boolean) => closeException(deps, { id: UNMATCHED.id, dryRun, actor: 'cli:anna' })
  await exceptions.openOnce([UNMATCHED])
  expect(await close(true)).toMatchObject({ changed: true })
  expect(await exceptions.listOpen('ws')).toHaveLength(1)
  expect(await close(false)).toMatchObject({ changed: true })
  expect(await close(false)).toMatchObject({ changed: false })
  await exceptions.openOnce([UNMATCHED])
  expect(await exceptions.listOpen('ws')).toEqual([])
  const auditWrite = await createAuditRepository(stores.db).listBySubject(UNMATCHED.id)
  expect(auditWrite).toMatchObject([{ action: 'exception.closed', actor: 'cli:anna', workspaceId: 'ws' }])
  await expect(closeException(deps, { id: 'none', dryRun: false, actor: 'x' })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  })
})

// Guarantee: an operator at the machine and a person in the dashboard do not both decide one entry.
it('does not close what somebody is deciding, until that decision is a minute old', async () => {
  const exceptions = createExceptionRepository(stores.db)
  const id = 'unmatched:deciding:ws'
  await exceptions.openOnce([{ ...UNMATCHED, id, paymentKey: 'deciding' }])
  const now = stores.runtime.clock.now()
  const decision = { opId: 'op', by: 'user:ana@example.com', at: now, resolution: 'rejected', reason: null } as const
  await createExceptionDecisions(stores.db).claim(id, decision, now)
  const closeAt = (at: number) =>
    closeException(
      { ...stores.runtime, clock: { now: () => at }, exceptions },
      { id, dryRun: false, actor: 'cli:anna' },
    )
  await expect(closeAt(now + 1)).rejects.toMatchObject({ code: 'INVALID_STATE' })
  expect(await exceptions.listOpen('ws')).toMatchObject([{ id }])
  expect(await closeAt(now + 61_000)).toMatchObject({ changed: true })
})
