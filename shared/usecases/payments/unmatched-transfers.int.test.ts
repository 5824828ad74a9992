import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Payment } from '#shared/ports/payments.ts'
import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { createOutboxRelay } from '#shared/usecases/outbox/relay.ts'
import { auditRow } from '#test/support/audit-parts.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { attachPayment } from './attach-payment.ts'
import { confirmPayments, orphanPayments, recordBlockTransfers, recordFindings } from './record-payments.ts'
import { healUnmatched } from './unmatched-transfers.ts'

const stores = useStores()
const scope = { mode: 'test', network: 'ethereum', epoch: 1 } as const
let engine: Engine
let nobodys: { readonly matchKey: string; readonly address: string }
let height = 0

beforeAll(async () => {
  engine = await openEngine(stores)
  const material = (await engine.deps.wallets.listMaterials()).find((row) => row.family === 'evm')
  const [address] = await engine.deps.wallets.addressesAt(material?.id ?? '', [23])
  if (address === undefined || material === undefined) throw new Error('no derived address')
  nobodys = address
  await engine.deps.wallets.insertWallet({
    id: engine.deps.random.uuid(),
    workspaceId: engine.workspace.id,
    mode: 'test',
    family: 'evm',
    networks: ['ethereum'],
    kind: 'xpub',
    materialId: material.id,
    createdAt: engine.deps.clock.now(),
    disabledAt: null,
  })
})
beforeEach(() => {
  height += 100
})

const keyed = (name: string) => `test:ethereum:${name}:${height}`
const rowOf = (key: string) => `unmatched:${key}:${engine.workspace.id}`
const inbox = async () => (await engine.deps.exceptions.listOpen(null)).map(({ id }) => id)
const record = (block: ScannedBlock) => recordBlockTransfers(engine.deps, { ...scope, blocks: [block] })

/** A block with one transfer to an address that no invoice holds. */
function blockAt(offset: number, key: string, amountBase = 9_000_000n, branch = ''): ScannedBlock {
  const block = blockWith(height + offset, engine.deps.clock.now(), nobodys, [{ key, amountBase }])
  return { ...block, hash: `${block.hash}${branch}` }
}

describe('the inbox row of an unmatched transfer', () => {
  it('closes by itself when its block is taken back, and opens again when the transfer returns', async () => {
    const key = keyed('orphaned')
    await record(blockAt(1, key))
    expect(await inbox()).toContain(rowOf(key))
    await orphanPayments(engine.deps, { ...scope, forkHeight: height })
    expect(await inbox()).not.toContain(rowOf(key))
    await record(blockAt(2, key, undefined, 'b'))
    expect(await inbox()).toContain(rowOf(key))
    // Another block at its height: the scanner died before its cursor moved.
    await record({ ...blockAt(2, key, undefined, 'c'), transfers: [] })
    expect(await inbox()).not.toContain(rowOf(key))
  })

  it.each(['dropped', 'replaced'] as const)(
    'closes by itself when the transfer is %s before it was mined',
    async (state) => {
      const key = keyed(state)
      const [transfer] = blockAt(1, key).transfers
      if (transfer === undefined) throw new Error('no transfer')
      const found = [{ transfer, block: null, seenAt: engine.deps.clock.now() }]
      await recordFindings(engine.deps, scope, { found, outcomes: [] })
      expect(await inbox()).toContain(rowOf(key))
      const outcome = state === 'dropped' ? { key, state } : { key, state, replacedBy: '0xother' }
      await recordFindings(engine.deps, scope, { found: [], outcomes: [outcome] })
      expect(await inbox()).not.toContain(rowOf(key))
      await recordFindings(engine.deps, scope, { found, outcomes: [] })
      expect(await inbox()).toContain(rowOf(key))
    },
  )

  it('closes by itself when the scanned chain has another block where it stood', async () => {
    const key = keyed('stranger')
    await record(blockAt(1, key))
    await stores.db.connection
      .collection<{ _id: string }>('chain_cursors')
      .updateOne(
        { _id: 'test:ethereum' },
        { $set: { window: [[height + 1, 'other']] } },
        { upsert: true, bypassDocumentValidation: true },
      )
    await confirmPayments(engine.deps, { ...scope, height: height + 50, finalizedHeight: null })
    await stores.db.connection.collection<{ _id: string }>('chain_cursors').deleteOne({ _id: 'test:ethereum' })
    expect(await inbox()).not.toContain(rowOf(key))
  })

  // Guarantee: what a person decided stays decided.
  it('stays closed when a person closed it, whatever the chain does afterwards', async () => {
    const key = keyed('decided')
    await record(blockAt(1, key))
    const at = engine.deps.clock.now()
    await engine.deps.exceptions.closeAudited(rowOf(key), at, at, auditRow('closed'))
    await orphanPayments(engine.deps, { ...scope, forkHeight: height })
    await record(blockAt(2, key, undefined, 'b'))
    expect(await inbox()).not.toContain(rowOf(key))
  })

  it('that a scanner left open when it died is closed by the next one', async () => {
    const gone = keyed('left')
    const lives = keyed('lives')
    await record(blockAt(1, gone))
    await record(blockAt(2, lives))
    const dying = {
      ...engine.deps,
      exceptions: { ...engine.deps.exceptions, closeGone: () => Promise.reject(new Error('killed')) },
    }
    await expect(orphanPayments(dying, { ...scope, forkHeight: height })).rejects.toThrow('killed')
    await record(blockAt(2, lives, undefined, 'b'))
    expect(await inbox()).toEqual(expect.arrayContaining([rowOf(gone), rowOf(lives)]))
    await healUnmatched(engine.deps, scope)
    expect(await inbox()).not.toContain(rowOf(gone))
    expect(await inbox()).toContain(rowOf(lives))
  })
})

describe('an unmatched transfer that is mined again with another amount', () => {
  it('has its own row, and that of the first amount closes by itself', async () => {
    const key = keyed('twice')
    await record(blockAt(1, key, 9_000_000n))
    await record(blockAt(2, key, 7_000_000n, 'b'))
    const open = (await engine.deps.exceptions.listOpen(null)).filter(({ paymentKey }) => paymentKey?.startsWith(key))
    expect(open).toMatchObject([{ id: rowOf(`${key}:7000000`), paymentKey: `${key}:7000000` }])
    expect(open[0]?.detail).toContain('7 USDT arrived')
  })

  // Guarantee: money that replaced what an operator had accepted is shown to somebody.
  it('has a row also when an operator had attached the first amount to an invoice', async () => {
    const key = keyed('attached')
    await record(blockAt(1, key, 9_000_000n))
    await confirmPayments(engine.deps, { ...scope, height: height + 50, finalizedHeight: null })
    const [payment]: readonly Payment[] = await engine.deps.payments.findByKeys([key])
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const given = { paymentId: payment?.id ?? '', invoiceId: invoice.terms.id, valueBase: null, dryRun: false }
    await attachPayment(engine.deps, { ...given, actor: 'cli:test' })
    expect(await inbox()).not.toContain(rowOf(key))

    await orphanPayments(engine.deps, { ...scope, forkHeight: height })
    await record(blockAt(2, key, 7_000_000n, 'b'))
    await advanceInvoice(engine.deps, invoice.terms.id)
    for (let shard = 0; shard < 8; shard += 1) await createOutboxRelay(engine.deps).relayShard(shard)
    expect(await inbox()).toEqual(expect.arrayContaining([rowOf(`${key}:7000000`), `reorged:${key}`]))
  })
})

describe('a token that a payer mistook for the one asked for', () => {
  // Guarantee: what was sent by mistake reaches the people who can return it, and settles nothing.
  it('sent over the wrong network reaches the inbox with its contract', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const { matchKey, address } = paymentMethodOf(invoice)
    const contract = '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2'
    const key = `test:base:mistaken:${height}`
    const block = blockWith(height, engine.deps.clock.now(), { matchKey, address }, [{ key, amountBase: 25_000_000n }])
    const transfers = block.transfers.map((transfer) => ({ ...transfer, asset: null, contract }))
    await recordBlockTransfers(engine.deps, { ...scope, network: 'base', blocks: [{ ...block, transfers }] })
    await advanceInvoice(engine.deps, invoice.terms.id)
    const row = (await engine.deps.exceptions.listOpen(null)).find((one) => one.paymentKey === key)
    expect(row).toMatchObject({ kind: 'wrong_network', invoiceId: invoice.terms.id })
    expect(row?.detail).toContain(`25 USDT (token ${contract}) arrived on base`)
    expect((await engine.deps.invoices.findById(invoice.terms.id))?.state.status).toBe('pending')
  })

  // Guarantee: a stranger who sends a base unit of such a token a thousand times fills no inbox; all of it is stored.
  it('is stored and fills no inbox where it is worth less than moving it', async () => {
    const contract = 'So11111111111111111111111111111111111111112'
    const amounts = [
      1n,
      engine.deps.catalog.asset('sol_solana').dustBase - 1n,
      engine.deps.catalog.asset('sol_solana').dustBase,
    ]
    const sent = amounts.map((amountBase, at) => ({ key: `test:solana:wrapped${at}:${height}`, amountBase }))
    const block = blockWith(height, engine.deps.clock.now(), nobodys, sent)
    const transfers = block.transfers.map((transfer) => ({ ...transfer, asset: null, contract }))
    await recordBlockTransfers(engine.deps, { ...scope, network: 'solana', blocks: [{ ...block, transfers }] })
    const keys = sent.map(({ key }) => key)
    expect(await engine.deps.payments.findByKeys(keys)).toHaveLength(3)
    const rows = (await engine.deps.exceptions.listOpen(null)).filter(({ paymentKey }) =>
      keys.includes(paymentKey ?? ''),
    )
    expect(rows.map(({ paymentKey }) => paymentKey)).toEqual(keys.slice(2))
  })
})

describe('small amounts of another coin, one after the other', () => {
  // Guarantee: a stranger fills no inbox with a cent at a time, and hides nobody's mistake behind it.
  it('have a row each up to a bound for the invoice, and one for the rest, and larger ones always', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const cents = Array.from({ length: 130 }, (_, at) => ({ key: keyed(`cent${at}`), amountBase: 10_000n }))
    const large = { key: keyed('large'), amountBase: 25_000_000n }
    const send = async (offset: number, sent: readonly { key: string; amountBase: bigint }[]) => {
      const block = blockWith(height + offset, engine.deps.clock.now(), paymentMethodOf(invoice), [...sent])
      const transfers = block.transfers.map((transfer) => ({ ...transfer, asset: 'usdc_ethereum' as const }))
      await record({ ...block, transfers })
      await advanceInvoice(engine.deps, invoice.terms.id)
      for (let shard = 0; shard < 8; shard += 1) await createOutboxRelay(engine.deps).relayShard(shard)
    }
    await send(1, cents.slice(0, 60))
    await send(2, cents.slice(60))
    await send(3, [large])
    const rows = await engine.deps.exceptions.listByInvoice(invoice.terms.id)
    const ofPayments = rows.filter(({ paymentKey }) => paymentKey !== null)
    expect(ofPayments).toHaveLength(101)
    expect(ofPayments.map(({ paymentKey }) => paymentKey)).toContain(large.key)
    expect(rows.filter(({ paymentKey }) => paymentKey === null).map(({ kind }) => kind)).toEqual(['many_payments'])
    // The first of them again: what has a row keeps it.
    await orphanPayments(engine.deps, { ...scope, forkHeight: height })
    await send(1, cents.slice(0, 60))
    const open = (await engine.deps.exceptions.listOpen(null)).map(({ paymentKey }) => paymentKey)
    expect(open).toEqual(expect.arrayContaining(cents.slice(0, 60).map(({ key }) => key)))
  })

  it('have a row each up to a bound for an address without an invoice, and one for the rest, and larger ones always', async () => {
    const before = new Set(await inbox())
    const cents = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => ({ key: keyed(`lonely${from + at}`), amountBase: 10_000n }))
    const large = { key: keyed('lonely-large'), amountBase: 25_000_000n }
    const send = (offset: number, sent: readonly { key: string; amountBase: bigint }[]) =>
      record(blockWith(height + offset, engine.deps.clock.now(), nobodys, [...sent]))
    await send(1, cents(0, 60))
    await send(2, cents(60, 190))
    await send(3, [large, ...cents(190, 250)])
    const opened = (await engine.deps.exceptions.listOpen(null)).filter(({ id }) => !before.has(id))
    expect(opened.length).toBeLessThanOrEqual(102)
    expect(opened.map(({ id }) => id)).toContain(rowOf(large.key))
    const collecting = opened.filter(({ kind }) => kind === 'many_payments')
    expect(collecting).toMatchObject([{ invoiceId: null, paymentKey: null, workspaceId: engine.workspace.id }])
    expect(collecting[0]?.detail).toContain(nobodys.address)
    // The first of them again: what has a row keeps it.
    await orphanPayments(engine.deps, { ...scope, forkHeight: height })
    await send(1, cents(0, 60))
    expect(await inbox()).toEqual(expect.arrayContaining(cents(0, 60).map(({ key }) => rowOf(key))))
  })
})
