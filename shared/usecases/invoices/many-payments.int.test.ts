import { describe, expect, it } from 'vitest'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { recordFindings, replacedBy } from '#shared/usecases/payments/record-payments.ts'
import { useMempoolStage } from '#test/support/mempool-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const { at, transfer, stored } = useMempoolStage(stores)
const DUST = 300

describe('an invoice with much dust', () => {
  const store = (found: readonly ReturnType<typeof transfer>[], seenAt: number) =>
    recordFindings(
      at.session.deps,
      { mode: 'test', network: 'ethereum', epoch: 1 },
      { found: found.map((one) => ({ transfer: one, block: null, seenAt })), outcomes: [] },
    )

  // Guarantee: what is stored of a transaction does not grow with inputs times outputs, and an honest payment beside the dust counts.
  it('stores the outpoints of a transaction once, and counts what else is paid', async () => {
    const { deps } = at.engine
    const { id } = at.invoice.terms
    const outpoints = Array.from({ length: 450 }, (_, index) => `in:${index}`)
    const bomb = Array.from({ length: DUST }, (_, index) => ({
      ...transfer('bomb', outpoints, 1n),
      key: `test:ethereum:bomb:${index}`,
      outputIndex: index,
    }))
    await store(bomb, deps.clock.now())
    await advanceInvoice(deps, id)
    const rows = await deps.payments.listByInvoice(id)
    expect(rows).toHaveLength(DUST)
    expect(rows.filter(({ spends }) => spends.length > 0)).toHaveLength(1)
    expect(rows.every(({ uncountedReason, dirtyAt }) => uncountedReason === 'dust' && dirtyAt === null)).toBe(true)

    await store([transfer('honest', ['own:0'])], deps.clock.now())
    await advanceInvoice(deps, id)
    expect((await stored())?.status).toBe('confirming')
    expect((await deps.payments.listForFold(id)).flatMap(({ spends }) => spends)).toEqual([])
  })

  // Guarantee: the payments of a transaction end together, and what replaces them keeps their time, whichever of them names the outpoints.
  it('ends with its transaction, and what replaces it keeps its time', async () => {
    const { deps } = at.engine
    const { id } = at.invoice.terms
    const early = deps.clock.now()
    const two = [0, 1].map((index) => ({
      ...transfer('first', ['own:1']),
      key: `test:ethereum:first:${index}`,
      outputIndex: index,
    }))
    await store(two, early)
    const known = await deps.payments.unconfirmed('test', 'ethereum')
    const outcomes = replacedBy(known, new Map([['own:1', 'second']]))
    expect(outcomes.map(({ key }) => key).sort()).toEqual(['test:ethereum:first:0', 'test:ethereum:first:1'])
    await recordFindings(at.session.deps, { mode: 'test', network: 'ethereum', epoch: 1 }, { found: [], outcomes })
    at.engine.advance(120_000)
    await store([transfer('second', ['own:1'])], deps.clock.now())
    const [second] = await deps.payments.listByTransaction('test', 'ethereum', 'second')
    expect(second?.firstSeenAt).toBe(early)
    expect(id).toBe(second?.invoiceId)
  })
})
