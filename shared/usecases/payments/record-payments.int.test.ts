import { beforeAll, describe, expect, it } from 'vitest'
import { NodeUnreliable, type SeenTransaction } from '#shared/ports/scanning.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { confirmPayments, recordBlockTransfers } from './record-payments.ts'

const stores = useStores()
let engine: Engine

beforeAll(async () => {
  engine = await openEngine(stores)
})

const record = (network: 'ethereum' | 'bsc', block: ReturnType<typeof blockWith>, epoch = 1) =>
  recordBlockTransfers(engine.deps, { mode: 'test', network, blocks: [block], epoch })
const inbox = async () => (await engine.deps.exceptions.listOpen(null)).map((row) => row.id)

describe('recordBlockTransfers', () => {
  it('attributes the money that was asked for and wakes its invoice', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const [payment] = await record(
      'ethereum',
      blockWith(1, engine.deps.clock.now(), paymentMethodOf(invoice), [{ key: 'right', amountBase: 1_000_000n }]),
    )
    expect(payment).toMatchObject({ invoiceId: invoice.terms.id, uncountedReason: null, requiredConfirmations: 3 })
    expect(engine.wakeUps).toContain(`invoice-transitions ${invoice.terms.id}`)
  })

  // Guarantee: money on another network or in another asset is never credited, and never lost from sight.
  it('keeps foreign money out of the sums and puts it into the inbox', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const paymentMethod = paymentMethodOf(invoice)
    const now = engine.deps.clock.now()
    await record('bsc', blockWith(1, now, paymentMethod, [{ key: 'net', amountBase: 10n ** 19n, asset: 'usdt_bsc' }]))
    await record(
      'ethereum',
      blockWith(2, now, paymentMethod, [{ key: 'tok', amountBase: 9_000_000n, asset: 'usdc_ethereum' }]),
    )
    await record('ethereum', blockWith(3, now, paymentMethod, [{ key: 'sib', amountBase: 9_000_000n, asset: null }]))
    await advanceInvoice(engine.deps, invoice.terms.id)

    expect(await inbox()).toEqual(expect.arrayContaining(['wrong_network:net', 'wrong_asset:tok', 'wrong_asset:sib']))
    const stored = await engine.deps.invoices.findById(invoice.terms.id)
    expect(stored?.state.status).toBe('pending')
    expect(stored?.outbox.filter((entry) => entry.kind === 'event')).toHaveLength(2)
    const payments = await engine.deps.payments.listByInvoice(invoice.terms.id)
    expect(
      payments.map(({ key, counted, uncountedReason, dirtyAt }) => ({ key, counted, uncountedReason, dirtyAt })),
    ).toEqual([
      { key: 'net', counted: false, uncountedReason: 'wrong_network', dirtyAt: null },
      { key: 'tok', counted: false, uncountedReason: 'wrong_asset', dirtyAt: null },
      { key: 'sib', counted: false, uncountedReason: 'wrong_asset', dirtyAt: null },
    ])
  })

  it('puts money on an address that no invoice holds into the inbox of whoever owns the key', async () => {
    const material = (await engine.deps.wallets.listMaterials()).find((row) => row.family === 'evm')
    const [unmatched] = await engine.deps.wallets.addressesAt(material?.id ?? '', [23])
    if (unmatched === undefined || material === undefined) throw new Error('no derived address')
    const now = engine.deps.clock.now()
    await record('ethereum', blockWith(4, now, unmatched, [{ key: 'other', amountBase: 9_000_000n }]))
    expect(await inbox()).toContain('unmatched:other:operators')

    await engine.deps.wallets.insertWallet({
      id: engine.deps.random.uuid(),
      workspaceId: engine.workspace.id,
      mode: 'test',
      family: 'evm',
      networks: ['ethereum'],
      kind: 'xpub',
      materialId: material.id,
      createdAt: now,
      disabledAt: null,
    })
    await record('ethereum', blockWith(5, now, unmatched, [{ key: 'other-2', amountBase: 9_000_000n }]))
    expect(await inbox()).toContain(`unmatched:other-2:${engine.workspace.id}`)
  })

  it('bothers nobody with dust', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const now = engine.deps.clock.now()
    const dust = { key: 'dust', amountBase: 1n, asset: 'usdc_ethereum' } as const
    await record('ethereum', blockWith(6, now, paymentMethodOf(invoice), [dust]))
    expect(await inbox()).not.toContain('wrong_asset:dust')
  })

  // Guarantee: a scanner that lost its lease writes nothing any more.
  it('refuses an outdated scanner', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const block = blockWith(7, engine.deps.clock.now(), paymentMethodOf(invoice), [
      { key: 'fenced', amountBase: 1_000_000n },
    ])
    await record('ethereum', block, 5)
    await expect(record('ethereum', block, 4)).rejects.toThrow('newer lease holder')
  })

  // Guarantee: a payer of two invoices at once, by their references, has both confirmed by a node that knows only the whole transfer.
  it('asks a second node for the whole of a transfer that pays several invoices', async () => {
    const [now, invoice] = [engine.deps.clock.now(), await engine.open({ asset: 'usdt_ethereum' })]
    const whole = 'test:ethereum:signature:owner:mint'
    const parts = ['0a', '0b'].map((byte, index) => ({
      key: `${whole}:${byte.repeat(32)}`,
      amountBase: 25_000_000n + BigInt(index),
    }))
    const block = blockWith(90, now, paymentMethodOf(invoice), parts)
    const transfers = block.transfers.map((one) => ({ ...one, txHash: 'signature' }))
    await record('ethereum', { ...block, transfers }, 8)
    for (const shownBase of [50_000_000n, 50_000_001n]) {
      const disputed = async (queried: readonly SeenTransaction[]): Promise<ReadonlySet<string>> => {
        const isShown = ({ transfer }: SeenTransaction) => transfer?.key === whole && transfer.amountBase === shownBase
        return new Set(queried.filter((one) => !isShown(one)).map(({ txHash }) => txHash))
      }
      const at = { mode: 'test', network: 'ethereum', epoch: 8, height: 95, finalizedHeight: null } as const
      await confirmPayments(engine.deps, { ...at, client: { disputed } })
      const all = await engine.deps.payments.listByInvoice(invoice.terms.id)
      const state = shownBase === 50_000_001n ? 'confirmed' : 'detected'
      expect(all).toMatchObject([{ state }, { state }])
    }
  })

  // Guarantee: a stranger's dust in the block of a payment does not keep a node with a small quota from confirming it.
  it('asks a second node about payments apart from dust, and about a part of that at a time', async () => {
    const [now, invoice] = [engine.deps.clock.now(), await engine.open({ asset: 'usdt_ethereum' })]
    const dust = Array.from({ length: 60 }, (_, index) => ({ key: `speck-${index}`, amountBase: 1n }))
    const transfers = [...dust.slice(0, 30), { key: 'honest', amountBase: 25_000_000n }, ...dust.slice(30)]
    await record('ethereum', blockWith(70, now, paymentMethodOf(invoice), transfers), 7)
    const disputed = async (queried: readonly unknown[]): Promise<ReadonlySet<string>> => {
      if (queried.length > 40) throw new NodeUnreliable('status 429')
      return new Set()
    }
    const confirmed = async () => {
      const at = { mode: 'test', network: 'ethereum', epoch: 7, height: 80, finalizedHeight: null } as const
      await confirmPayments(engine.deps, { ...at, client: { disputed } })
      const all = await engine.deps.payments.listByInvoice(invoice.terms.id)
      return all.filter(({ state }) => state === 'confirmed').map(({ key }) => key)
    }
    const first = await confirmed()
    expect(first).toContain('honest')
    expect(first).toHaveLength(33)
    expect(await confirmed()).toHaveLength(61)
  })

  // Guarantee: money that stands in no block of the scanned chain is never confirmed, whatever died in between.
  it('takes back what an earlier try saw in a block that another one replaced before the cursor moved', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const now = engine.deps.clock.now()
    await record(
      'ethereum',
      blockWith(50, now, paymentMethodOf(invoice), [{ key: 'gone', amountBase: 25_000_000n }]),
      5,
    )
    // The scanner died before its cursor moved; the block that stands at this height now has no such transfer.
    await record('ethereum', { ...blockWith(50, now, paymentMethodOf(invoice), []), hash: 'hash50-other' }, 6)
    await confirmPayments(engine.deps, {
      mode: 'test',
      network: 'ethereum',
      epoch: 6,
      height: 60,
      finalizedHeight: null,
    })
    await advanceInvoice(engine.deps, invoice.terms.id)

    expect(await engine.deps.payments.listByInvoice(invoice.terms.id)).toMatchObject([{ state: 'orphaned' }])
    expect((await engine.deps.invoices.findById(invoice.terms.id))?.state.status).toBe('pending')
  })
})
