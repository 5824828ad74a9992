import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Stop } from '#services/context.ts'
import { createAuditChainRepository } from '#shared/db/audit/audit-chain-repository.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createInstanceReads } from '#shared/db/maintenance/installation-reads.ts'
import { serviceContext } from '#test/support/service-context.ts'
import { useStores } from '#test/support/stores.ts'
import { start } from './main.ts'

const stores = useStores()
const WAIT = { timeout: 15_000, interval: 20 }
let stop: Stop

beforeAll(async () => {
  stop = await start(serviceContext(stores))
})
afterAll(async () => {
  await stop()
})

describe('the maintenance process', () => {
  it('runs every scheduled job under its own lease', async () => {
    await vi.waitFor(async () => {
      const held = (await createInstanceReads(stores.db).leases()).map(({ id }) => id)
      expect(held).toEqual(
        expect.arrayContaining([
          'audit-chain',
          'audit-verification',
          'customer-erasures',
          'invoice-counts',
          'digests',
          'reconciliation',
          'retention',
          'rollups',
          'watch-packs',
        ]),
      )
    }, WAIT)
  })

  it('gives an audit row its place in the chain', async () => {
    await createAuditRepository(stores.db).insertMany([
      {
        id: 'one',
        at: 1,
        actor: 'a',
        action: 'golive.master_key_stated',
        subject: 'c',
        workspaceId: null,
        mode: null,
        detail: {},
      },
    ])
    const chain = createAuditChainRepository(stores.db)
    await vi.waitFor(async () => expect((await chain.tail())?.seq).toBe(1), WAIT)
  })
})
