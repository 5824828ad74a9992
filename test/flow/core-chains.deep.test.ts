import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Invoice } from '#clients/typescript/src/main.ts'
import { type LitecoinNode, startLitecoinNode, WITHOUT_MWEB } from '#dev/local-chain/litecoin-node.ts'
import { type Stack, startStack } from '#scripts/start/stack.ts'
import { pegOut } from '#test/support/litecoin-mweb.ts'
import { openWorld, type World } from '#test/support/world.ts'

const START_MS = 300_000
const FLOW_MS = 120_000
const CONFIRMATIONS = 3
/** Coins from the extension block can be spent after so many confirmations, and count from then on. */
const PEG_OUT_MATURITY = 6
const ASSET = { bitcoin: 'btc_bitcoin', litecoin: 'ltc_litecoin', dogecoin: 'doge_dogecoin' } as const
type Network = keyof typeof ASSET
const NETWORKS: readonly Network[] = ['bitcoin', 'litecoin', 'dogecoin']

let dataDir: string
let stack: Stack
let world: World
const nodes = new Map<Network, LitecoinNode>()

/** Blocks come by hand here, so that it is known which one holds what. */
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'paymesh-core-'))
  await Promise.all(
    NETWORKS.map(async (network) => {
      const flags = network === 'litecoin' ? [] : WITHOUT_MWEB
      nodes.set(network, await startLitecoinNode({ blockTimeMs: null, flags }))
    }),
  )
  const test = Object.fromEntries(
    NETWORKS.map((network) => [
      network,
      { rpcUrls: [nodeOf(network).url], genesis: 'any', confirmations: CONFIRMATIONS },
    ]),
  )
  stack = await startStack({ dataDir, networks: [], env: { PAYMESH_NETWORKS: JSON.stringify({ test }) } })
  world = await openWorld(dataDir, stack.dev)
}, START_MS)

afterAll(async () => {
  await world?.close()
  await stack?.stop()
  await Promise.all([...nodes.values()].map((node) => node.stop()))
  rmSync(dataDir, { recursive: true, force: true })
})

function nodeOf(network: Network): LitecoinNode {
  const node = nodes.get(network)
  if (node === undefined) throw new Error(`no node of ${network}`)
  return node
}

/** Asked until the scanner has reached the tip: before that the asset is not offered. */
async function openInvoice(network: Network): Promise<Invoice> {
  return await vi.waitFor(() => world.createInvoice({ asset: ASSET[network], amount: '25.00' }), 60_000)
}

function requestOf({ crypto }: Invoice): { readonly to: string; readonly amountBase: bigint } {
  if (crypto === null) throw new Error('the invoice has no asset')
  return { to: crypto.address, amountBase: BigInt(crypto.amount_base_units) }
}

const eventsOf = (invoice: Invoice, type: string) =>
  world.distinctEvents(invoice.id).filter((event) => event.type === type)

/** Waits until so many events of this type arrived for the invoice; resolves with the last. */
async function nth(invoice: Invoice, type: string, count: number) {
  await world.receiver.waitFor(() => eventsOf(invoice, type).length >= count, 60_000)
  return eventsOf(invoice, type)[count - 1]
}

/** The invoice is paid by this transaction alone, to the base unit. */
async function expectPaidOnce(invoice: Invoice, txid: string): Promise<void> {
  const paid = await world.waitForEvent(invoice.id, 'invoice.paid', 60_000)
  expect(paid.data.object.received.confirmed_base_units).toBe(invoice.crypto?.amount_base_units)
  // Requests of one change may arrive in any order.
  await nth(invoice, 'payment.confirmed', 1)
  const confirmed = eventsOf(invoice, 'payment.confirmed')
  expect(confirmed.map((event) => event.data.payment?.tx_hash)).toEqual([txid])
}

describe.concurrent.each(NETWORKS)('on a node of the Bitcoin family, as %s,', (network) => {
  test('a payment is seen in the mempool and counts once it is buried', {
    timeout: FLOW_MS,
    concurrent: false,
  }, async () => {
    const node = nodeOf(network)
    const invoice = await openInvoice(network)
    const txid = await node.pay([requestOf(invoice)])
    const detected = await world.waitForEvent(invoice.id, 'payment.detected', 60_000)
    expect(detected.data.payment).toMatchObject({ tx_hash: txid, confirmations: 0 })
    await node.mine(CONFIRMATIONS)
    await expectPaidOnce(invoice, txid)
  })

  test('a replaced transaction is forgotten, its replacement counts', {
    timeout: FLOW_MS,
    concurrent: false,
  }, async () => {
    const node = nodeOf(network)
    const invoice = await openInvoice(network)
    const replaced = await node.pay([requestOf(invoice)])
    await world.waitForEvent(invoice.id, 'payment.detected', 60_000)

    // The payer takes the money back before it is mined …
    const home = String(await node.rpc('getnewaddress', ['', 'bech32']))
    await node.replace(replaced, [{ ...requestOf(invoice), to: String(await scriptOf(node, home)) }])
    const pending = await nth(invoice, 'invoice.pending', 2)
    expect(pending?.data.object.received.amount).toBe('0')

    // … and pays after all.
    const txid = await node.pay([requestOf(invoice)])
    await node.mine(CONFIRMATIONS)
    await expectPaidOnce(invoice, txid)
    await nth(invoice, 'payment.detected', 2)
    expect(eventsOf(invoice, 'payment.detected').map((event) => event.data.payment?.tx_hash)).toEqual([replaced, txid])
  })

  test('a payment whose block is taken back waits for its next block', {
    timeout: FLOW_MS,
    concurrent: false,
  }, async () => {
    const node = nodeOf(network)
    const invoice = await openInvoice(network)
    const txid = await node.pay([requestOf(invoice)])
    await node.mine(CONFIRMATIONS - 1)
    await vi.waitFor(async () => expect(await confirmationsOf(invoice)).toEqual([CONFIRMATIONS - 1]), 60_000)

    await node.invalidate(CONFIRMATIONS - 1)
    for (let block = 0; block < CONFIRMATIONS; block += 1) {
      await node.rpc('generateblock', [await node.rpc('getnewaddress'), []])
    }
    await vi.waitFor(async () => expect(await confirmationsOf(invoice)).toEqual([0]), 60_000)
    expect(eventsOf(invoice, 'invoice.paid')).toEqual([])

    await node.mine(CONFIRMATIONS)
    await expectPaidOnce(invoice, txid)
  })
})

test('coins that leave the extension block of Litecoin pay an invoice', { timeout: FLOW_MS }, async () => {
  const node = nodeOf('litecoin')
  const invoice = await openInvoice('litecoin')
  await pegOut(node, requestOf(invoice))
  await node.mine(PEG_OUT_MATURITY - 1)
  await vi.waitFor(async () => expect(await confirmationsOf(invoice)).toEqual([PEG_OUT_MATURITY - 1]), 60_000)
  expect(eventsOf(invoice, 'invoice.paid')).toEqual([])
  await node.mine()
  const paid = await world.waitForEvent(invoice.id, 'invoice.paid', 60_000)
  expect(paid.data.object.received.confirmed_base_units).toBe(invoice.crypto?.amount_base_units)
  await nth(invoice, 'payment.confirmed', 1)
  expect(eventsOf(invoice, 'payment.confirmed')).toHaveLength(1)
})

async function confirmationsOf(invoice: Invoice): Promise<readonly number[]> {
  const { data } = await world.merchant.payments.list({ invoice_id: invoice.id }).page()
  return data.map((payment) => payment.confirmations)
}

async function scriptOf(node: LitecoinNode, address: string): Promise<unknown> {
  const { scriptPubKey } = (await node.rpc('getaddressinfo', [address])) as { readonly scriptPubKey: string }
  return scriptPubKey
}
