import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { fileTarget } from '#scripts/backup/archive-target.ts'
import { restoreBackup } from '#scripts/backup/restore-backup.ts'
import { takeBackup } from '#scripts/backup/take-backup.ts'
import { readBackup } from '#shared/db/backup/backup-source.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { createReconciliationRepository } from '#shared/db/reconciliation/reconciliation-repository.ts'
import { OUTBOX_SHARDS } from '#shared/ports/invoices.ts'
import type { ArchiveSecret } from '#shared/runtime/secrets/archive-cipher.ts'
import { createAuditKeys, createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { cancelInvoice } from '#shared/usecases/invoices/cancel-invoice.ts'
import { createOutboxRelay } from '#shared/usecases/outbox/relay.ts'
import { confirmPayments, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { reconcile } from '#shared/usecases/reconciliation/reconcile.ts'
import { blockWith, type Engine, paymentMethodOf } from '#test/support/engine.ts'
import { openReconciliationStage } from '#test/support/reconciliation-stage.ts'
import { makeStoreFolder } from '#test/support/store-folder.ts'
import { useStores } from '#test/support/stores.ts'

const CHAIN = { mode: 'test', network: 'ethereum', epoch: 1 } as const
const secret: ArchiveSecret = { kind: 'key', key: randomBytes(32) }
const source = useStores()
const copy = useStores({ migrated: false })
const folder = makeStoreFolder('paymesh-load')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** One turn of a working installation: an invoice is created, paid, confirmed and announced, another one is cancelled. */
function workOf({ deps, open, workspace, publishRates, watchEverything }: Engine) {
  const relay = createOutboxRelay(deps)
  let height = 20_000
  return async (): Promise<void> => {
    // Prices are good for two minutes, and on a slow machine a back-up takes longer.
    await publishRates()
    const [paid, cancelled] = [await open({ asset: 'usdt_ethereum' }), await open({ asset: 'usdt_ethereum' })]
    await watchEverything()
    height += 10
    const transfer = { key: `load-${height}`, amountBase: 25_000_000n }
    const block = blockWith(height, deps.clock.now(), paymentMethodOf(paid), [transfer])
    await recordBlockTransfers(deps, { ...CHAIN, blocks: [block] })
    await advanceInvoice(deps, paid.terms.id)
    await confirmPayments(deps, { ...CHAIN, height: height + 5, finalizedHeight: null })
    await advanceInvoice(deps, paid.terms.id)
    const scope = { workspaceId: workspace.id, mode: 'test', invoiceId: cancelled.terms.id } as const
    await cancelInvoice(deps, { ...scope, opId: `cancel-${height}` })
    for (let shard = 0; shard < OUTBOX_SHARDS; shard += 1) await relay.relayShard(shard)
  }
}

// Guards money: whatever is paid, confirmed and announced while a back-up runs, the restored books are right.
it('a copy that was read while invoices were paid reconciles', { timeout: 240_000 }, async () => {
  const stage = await openReconciliationStage(source)
  await stage.engine.setCursor(20_000, stage.engine.deps.clock.now())
  const work = workOf(stage.engine)
  let turns = 0
  let isDone = false
  const working = (async () => {
    while (!isDone) {
      await work()
      turns += 1
      await setImmediate()
    }
  })()
  const file = join(folder, 'load.backup')
  const taken = await takeBackup(source.db, {
    ...{ target: fileTarget(file), id: 'load', secret, version: 'test', onProgress: () => undefined },
    // Every piece of the archive is followed by at least one whole turn.
    read: async function* (db, options) {
      for await (const piece of readBackup(db, options)) {
        yield piece
        const before = turns
        while (turns < before + 2) await Promise.race([working, setImmediate()])
      }
    },
  })
  isDone = true
  await working
  expect(taken.changed).toBeGreaterThan(10)
  expect(taken.counts['invoices']).toBeGreaterThan(stage.count)

  const { deps, addressBook, secretBox } = stage.engine
  const repositories = createRepositories(copy.db, copy.runtime)
  await restoreBackup(
    {
      ...copy.runtime,
      db: copy.db,
      wallets: repositories.wallets,
      addressBook,
      secretBox,
      markPlaces: [],
      markKeys: createMarkKeys(new Uint8Array(32).fill(7)),
      auditKeys: createAuditKeys(new Uint8Array(32).fill(7)),
    },
    {
      ...{ file, secret, actor: 'cli:test', skip: 100, quarantineMs: 1_000, until: null, acceptUnreadable: false },
      onProgress: () => undefined,
    },
  )
  const report = await reconcile(
    {
      reconciliation: createReconciliationRepository(copy.db),
      cursors: repositories.cursors,
      clock: deps.clock,
      pause: async () => undefined,
    },
    { since: null, onProgress: () => undefined },
  )
  expect(report).toEqual({ evaluated: taken.counts['invoices'], notChecked: 0, violations: [] })
  // No address and no number of the copy is given out again.
  const [material] = (await repositories.wallets.listMaterials()).filter(({ id }) => id.startsWith('test:evm:'))
  const used = await copy.db.connection.collection('addresses').find({ materialId: material?.id }).toArray()
  const claimed = await copy.db.connection.collection('invoices').countDocuments()
  expect(used.length).toBeGreaterThan(claimed / 2)
  expect(material?.reclaimFrom).toBe(material?.nextIndex)
})
