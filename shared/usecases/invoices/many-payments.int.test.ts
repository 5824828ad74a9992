import { describe, expect, it } from 'vitest'
import { ledgerKeys } from '#shared/ports/invoices.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { viewInvoice } from '#shared/usecases/invoices/view-invoice.ts'
import { listPayments } from '#shared/usecases/payments/list-payments.ts'
import { recordFindings, replacedBy } from '#shared/usecases/payments/record-payments.ts'
import { scanMempool } from '#shared/usecases/scanning/scan-mempool.ts'
import { commandsOf } from '#test/support/commands-of.ts'
import { useMempoolStage } from '#test/support/mempool-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const { at, transfer, stored, see, look } = useMempoolStage(stores)
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
    const read = await deps.payments.listForFold(id, '1.1', { keys: [], isFinal: false })
    expect(read.payments.map(({ txHash, spends }) => [txHash, spends])).toEqual([['honest', []]])
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

describe('an invoice with three thousand payments of dust', () => {
  /** What the payments collection read while this ran: commands, and documents and keys that they went through. */
  async function readsOf(work: () => Promise<unknown>) {
    const commands = await commandsOf(stores.db, work)
    const seen = commands.filter(({ ns, op }) => ns === `${stores.database}.payments` && op !== 'insert')
    const total = (field: string) => seen.reduce((all, one) => all + (Number(one[field]) || 0), 0)
    return { commands: seen.length, documents: total('docsExamined'), keys: total('keysExamined') }
  }

  // Guarantee: what a stranger sends changes neither what an advance reads nor what a poll of the mempool reads, nor what is credited.
  it('reads as much for an advance, a view and a poll as one without, and credits what is paid', async () => {
    const { deps } = at.engine
    const { id } = at.invoice.terms
    const half = transfer('half', ['own:0'], 24_980_000n)
    see([half])
    await look()
    await look()
    const alone = {
      advance: await readsOf(() => advanceInvoice(deps, id)),
      view: await readsOf(() => viewInvoice(deps, id)),
      poll: await readsOf(() => scanMempool(at.session)),
    }

    const flood = Array.from({ length: 3_000 }, (_, index) => transfer(`dust${index}`, [`d:${index}`], 9_000n))
    see([half, ...flood])
    await scanMempool(at.session)
    // Each advance takes a portion of what is new.
    for (let turn = 0; turn < 6; turn += 1) await advanceInvoice(deps, id)
    const waiting = { before: deps.clock.now() + 60_000, at: 0, limit: 10 }
    expect(await deps.payments.takeDirtyInvoices(waiting)).not.toContain(id)
    expect(await stored()).toMatchObject({ status: 'partial', ledger: [{ counted: true }], others: null })

    const flooded = {
      advance: await readsOf(() => advanceInvoice(deps, id)),
      view: await readsOf(() => viewInvoice(deps, id)),
      poll: await readsOf(() => scanMempool(at.session)),
    }
    expect(flooded).toEqual(alone)

    // The rest is dust as well, and still completes the invoice.
    see([half, ...flood, transfer('rest', ['own:1'], 20_000n)])
    await look()
    expect(await stored()).toMatchObject({ status: 'confirming', ledger: [{ counted: true }, { counted: true }] })
    const lists = [
      await deps.payments.listShown(id, ledgerKeys(at.invoice)),
      await listPayments(deps, {
        ...{ workspaceId: at.engine.workspace.id, mode: 'test' },
        invoiceId: id,
        limit: 10,
        beforeId: null,
      }),
    ]
    expect(lists.map(({ length }) => length)).toEqual([200, 10])
  })
})
