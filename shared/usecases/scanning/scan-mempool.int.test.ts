import { describe, expect, it } from 'vitest'
import type { RawTransfer } from '#shared/ports/scanned-blocks.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { DROP_AFTER_MS, POSITION, useMempoolStage } from '#test/support/mempool-stage.ts'
import { useStores } from '#test/support/stores.ts'

const { at, transfer, see, look, states, stored } = useMempoolStage(useStores())

describe('a payment in the mempool', () => {
  // Guarantee: an unconfirmed payment that nobody had time to look at keeps its invoice from expiring.
  it('moves no deadline by a view that is not whole, and credits what is in it', async () => {
    see([transfer('a9', ['in:9'])])
    at.view = { ...at.view, partial: true }
    await look()
    expect(await states()).toEqual(['a9 detected'])
    expect((await at.engine.deps.cursors.find('test', 'ethereum'))?.mempoolAt).toBeUndefined()
  })

  // Guarantee: unconfirmed money is shown and never settles anything.
  it('is detected once, however often it is seen, and confirms nothing', async () => {
    see([transfer('a1', ['in:0'])])
    await look()
    await look()
    expect(await states()).toEqual(['a1 detected'])
    expect(await stored()).toMatchObject({ status: 'confirming' })
    const [payment] = await at.engine.deps.payments.listByInvoice(at.invoice.terms.id)
    expect(payment).toMatchObject({ block: null, confirmAt: null, version: 1, spends: ['in:0'] })
  })

  // Guarantee: a replacement is never counted together with what it replaces (full RBF: every payment can be replaced).
  it('is replaced by a transaction that spends the same output, which keeps its time', async () => {
    see([transfer('b1', ['in:1'])])
    await look()
    const [first] = await at.engine.deps.payments.listByInvoice(at.invoice.terms.id)
    at.engine.advance(5_000)
    see([transfer('b2', ['in:1', 'in:9'])], [['in:1', 'b2']])
    await look()
    expect(await states()).toEqual(['b1 replaced', 'b2 detected'])
    const payments = await at.engine.deps.payments.listByInvoice(at.invoice.terms.id)
    expect(payments.map(({ replacedBy, firstSeenAt }) => ({ replacedBy, firstSeenAt }))).toEqual([
      { replacedBy: 'b2', firstSeenAt: first?.firstSeenAt },
      { replacedBy: null, firstSeenAt: first?.firstSeenAt },
    ])
    expect(await stored()).toMatchObject({ status: 'confirming' })
  })

  // Guarantee: a little paid in time does not keep the price for the rest, which is paid when the price has fallen.
  it.each(['unconfirmed', 'dropped', 'mined'] as const)(
    'is late when it is replaced by more behind the deadline, %s',
    async (fate) => {
      const { expiresAt } = at.invoice.state
      see([transfer(`${fate}1`, ['in:7'], 1_000_000n)])
      await look()
      at.engine.advance(expiresAt - at.engine.deps.clock.now() + 60_000)
      const unconfirmed = await at.engine.deps.payments.unconfirmed('test', 'ethereum')
      if (fate === 'dropped') {
        see([])
        await look()
        at.engine.advance(DROP_AFTER_MS)
        await look()
        expect(await states()).toEqual(['dropped1 dropped'])
      }
      const [transfers, spent] = [[transfer(`${fate}2`, ['in:7'])], [['in:7', `${fate}2`]] as const]
      if (fate === 'mined') {
        const block = { height: 11, hash: 'more', parentHash: 'less', time: at.engine.deps.clock.now(), transfers }
        const blocks = [{ ...block, spent: new Map(spent) }]
        await recordBlockTransfers(at.engine.deps, { ...POSITION, blocks, unconfirmed })
        see([])
      } else see(transfers, spent)
      await look()
      const payments = await at.engine.deps.payments.listByInvoice(at.invoice.terms.id)
      expect(payments[1]).toMatchObject({ txHash: `${fate}2`, state: 'detected' })
      expect(payments[1]?.firstSeenAt).toBeGreaterThan(expiresAt)
    },
  )

  // Guarantee: nodes may hold different versions of a payment; whichever is asked, one of them counts.
  it('counts again when the node asked next has it and not its replacement', async () => {
    const [first, bump] = [transfer('h1', ['in:6']), transfer('h2', ['in:6'])]
    see([first])
    await look()
    see([bump], [['in:6', 'h2']])
    await look()
    see([first], [['in:6', 'h1']])
    await look()
    expect(await states()).toEqual(['h1 detected', 'h2 replaced'])
    see([bump], [['in:6', 'h2']])
    await look()
    expect(await states()).toEqual(['h1 replaced', 'h2 detected'])
    expect(await stored()).toMatchObject({ status: 'confirming' })
  })

  it('steps the invoice back when the replacement pays somebody else', async () => {
    see([transfer('c1', ['in:2'])])
    await look()
    see([], [['in:2', 'c2']])
    await look()
    expect(await states()).toEqual(['c1 replaced'])
    expect(await stored()).toMatchObject({ status: 'pending' })
  })

  it('is replaced by a mined conflict, and counts again when a block holds it after all', async () => {
    see([transfer('d1', ['in:3'])])
    await look()
    const unconfirmed = await at.engine.deps.payments.unconfirmed('test', 'ethereum')
    const time = at.engine.deps.clock.now()
    const block = (
      height: number,
      transfers: readonly RawTransfer[],
      spent: readonly (readonly [string, string])[],
    ) => ({
      height,
      hash: `d-block-${height}`,
      parentHash: `d-block-${height - 1}`,
      time,
      transfers,
      spent: new Map(spent),
    })
    const conflict = block(11, [], [['in:3', 'd2']])
    await recordBlockTransfers(at.engine.deps, { ...POSITION, blocks: [conflict], unconfirmed })
    await advanceInvoice(at.engine.deps, at.invoice.terms.id)
    expect(await states()).toEqual(['d1 replaced'])
    expect(await stored()).toMatchObject({ status: 'pending' })
    await recordBlockTransfers(at.engine.deps, { ...POSITION, blocks: [block(12, [transfer('d1', ['in:3'])], [])] })
    await advanceInvoice(at.engine.deps, at.invoice.terms.id)
    expect(await states()).toEqual(['d1 detected'])
    expect(await stored()).toMatchObject({ status: 'confirming' })
  })

  it('is dropped only after it was missing for the whole grace, and comes back when it is seen again', async () => {
    const seen = transfer('e1', ['in:4'])
    see([seen])
    await look()
    see([])
    await look()
    at.engine.advance(DROP_AFTER_MS / 2)
    await look()
    expect(await states()).toEqual(['e1 detected'])
    see([seen])
    await look()
    see([])
    await look()
    at.engine.advance(DROP_AFTER_MS)
    await look()
    expect(await states()).toEqual(['e1 dropped'])
    expect(await stored()).toMatchObject({ status: 'pending' })
    see([seen])
    await look()
    expect(await states()).toEqual(['e1 detected'])
  })

  // Guarantee: a transaction that left the mempool because it was mined is never taken for a lost one.
  it('checks nothing by a view during which a block came in', async () => {
    see([transfer('f1', ['in:5'])])
    await look()
    see([], [['in:5', 'f2']])
    at.headHash = 'another'
    await look()
    expect(await states()).toEqual(['f1 detected'])
  })

  it('lets the deadline wait no longer than the last look at the whole mempool', async () => {
    see([])
    at.engine.advance(90_000)
    await look()
    const cursor = await at.engine.deps.cursors.find('test', 'ethereum')
    expect(cursor?.mempoolAt).toBeGreaterThanOrEqual(at.engine.deps.clock.now() - 30_000)
  })
})
