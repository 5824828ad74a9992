import { expect, it } from 'vitest'
import type { ChainClient } from '#shared/ports/scanning.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { blockWith, paymentMethodOf } from '#test/support/engine.ts'
import { POSITION, useMempoolStage } from '#test/support/mempool-stage.ts'
import { useStores } from '#test/support/stores.ts'
import { resolveReorg } from './scan-reorg.ts'
import { moveCursor, type ScanSession } from './scan-session.ts'

const { at, transfer, see, look, states, stored } = useMempoolStage(useStores())

// Guarantee: a payment that was there in time ends no invoice because its block is replaced after the deadline: its transaction may wait in the mempool again.
it('no deadline passes between the replacement of a block and the next reading of the mempool', async () => {
  const { deps, workspace } = at.engine
  const paid = transfer('in-time', [])
  see([paid])
  await look()
  expect(await states()).toEqual(['in-time detected'])
  // Mined long after the deadline, above a block that is younger than it as well.
  at.engine.advance(workspace.policy.quoteMs + 600_000)
  const { expiresAt } = at.invoice.state
  const [forkTime, now] = [expiresAt + 300_000, deps.clock.now()]
  const block = { ...blockWith(12, now, paymentMethodOf(at.invoice), []), transfers: [paid] }
  await recordBlockTransfers(deps, { ...POSITION, blocks: [block] })
  const window = [
    [11, 'hash11'],
    [12, 'hash12'],
  ] as const
  await moveCursor(at.session, { height: 12, hash: 'hash12', time: now, window, mempoolAt: now, headHeight: 12 })
  await advanceInvoice(deps, at.invoice.terms.id)

  const client: Partial<ChainClient> = {
    mempool: async () => at.view,
    head: async () => ({ height: 13, hash: 'other13', finalizedHeight: null }),
    blockAt: async (height) => {
      const hash = height === 11 ? 'hash11' : `other${height}`
      return { height, hash, parentHash: `other${height - 1}`, time: forkTime }
    },
  }
  ;(at.session as { source: ScanSession['source'] }).source = { ...at.session.source, client: client as ChainClient }
  await resolveReorg(at.session, 13)
  expect(await states()).toEqual(['in-time orphaned'])
  await advanceInvoice(deps, at.invoice.terms.id)
  expect((await stored())?.status).toBe('pending')
  const cursor = await deps.cursors.find('test', 'ethereum')
  expect(cursor).toMatchObject({ height: 11 })
  expect(cursor?.mempoolAt).toBeLessThan(expiresAt)
})
