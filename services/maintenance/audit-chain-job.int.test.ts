import { expect, it, vi } from 'vitest'
import { createAuditChainRepository } from '#shared/db/audit/audit-chain-repository.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createLeaseRepository } from '#shared/db/installation/lease-repository.ts'
import { createAuditKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { auditParts } from '#test/support/audit-parts.ts'
import { useStores } from '#test/support/stores.ts'
import { auditChainJob } from './audit-chain-job.ts'
import { startScheduledJobs } from './scheduled-job.ts'

const stores = useStores()
const WAIT = { timeout: 10_000, interval: 20 }

it('chains what waits in one process at a time, and hands over when that one ends', async () => {
  const chain = createAuditChainRepository(stores.db)
  const keys = createAuditKeys(new Uint8Array(32).fill(9))
  const deps = { ...stores.runtime, ...auditParts(stores, keys), leases: createLeaseRepository(stores.db) }
  const note = (id: string) =>
    createAuditRepository(stores.db).insertMany([
      {
        id,
        at: 1,
        actor: 'a',
        action: 'golive.master_key_stated',
        subject: 'c',
        workspaceId: null,
        mode: null,
        detail: {},
      },
    ])
  const until = (seq: number) => vi.waitFor(async () => expect((await chain.tail())?.seq).toBe(seq), WAIT)
  await note('first')
  const stopFirst = startScheduledJobs(deps, [auditChainJob(deps)])
  await until(1)
  const stopSecond = startScheduledJobs(deps, [auditChainJob(deps)])
  await note('second')
  await until(2)
  await stopFirst()
  await note('third')
  await until(3)
  await stopSecond()
})
