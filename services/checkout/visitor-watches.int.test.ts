import { HDNodeWallet } from 'ethers'
import { beforeEach, describe, expect, it } from 'vitest'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import { SCARCE } from '#shared/domain/scarce.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { chooseAsset } from '#shared/usecases/invoices/choose-asset.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { addWallet } from '#test/support/add-wallet.ts'
import { blockWith, paymentMethodOf } from '#test/support/engine.ts'
import { serviceContext } from '#test/support/service-context.ts'
import { useStores } from '#test/support/stores.ts'
import { ADDRESS_VECTORS } from '#test/vectors/addresses.ts'
import { assembleCheckout } from './assemble.ts'
import type { CheckoutStage } from './checkout.fixture.ts'
import { openCheckoutParts } from './open-checkout-parts.ts'
import { sourceAt, useVisitors } from './visitors.fixture.ts'

const stores = useStores()
const MINUTE = 60_000
const { total, part } = SCARCE.openWatches.budget
const OWN = total / part
const SPENT = /^This coin has no free address right now. Choose another coin or try again in (\d+) minutes.$/
const NODE = { rpcUrls: ['http://127.0.0.1:1'], chainId: 31337, confirmations: 3, contracts: {} }
/** Bears six watches of visitors. */
const RATIONED = { ...NODE, quota: { perMonth: 2 * 25 * 2_160 * 6, unit: 'calls' as const } }
/** The budget of watches alone refuses here. */
const buckets = { take: async () => ({ allowed: true, retryAfter: 1 }) }
const XPUB = HDNodeWallet.fromPhrase(ADDRESS_VECTORS.phrase, '', "m/44'/60'/0'").neuter().extendedKey
const places = async (prefix: string) => {
  const rows = await stores.db.collection(INVOICES).find({}).toArray()
  return rows.flatMap(({ draws = [] }) => draws).filter((place) => place.startsWith(prefix))
}

/** Addresses for so many more invoices, watched on these networks. */
async function stock({ engine }: CheckoutStage, networks: readonly NetworkId[]): Promise<void> {
  await engine.watchEverything()
  for (const network of networks) {
    const rows = await engine.deps.wallets.unmarkedWatches('test', 'evm', network, 1_000)
    const keys = rows.map(({ matchKey }) => matchKey)
    await engine.deps.wallets.markWatched('test', 'evm', network, keys)
  }
}

/** The next invoices of a link, and an address for each. */
async function invoicesOf(visitors: ReturnType<typeof useVisitors>, count: number): Promise<string[]> {
  const stage = visitors.stage()
  const link = await stage.link({ kind: 'fixed', minor: 700n })
  return await visitors.linkInvoices(count, link)
}

describe('on extended keys of two networks without a quota', () => {
  const visitors = useVisitors(stores, { buckets, nodes: { ethereum: NODE, bsc: NODE } })
  const { choose } = visitors
  let stage: CheckoutStage
  beforeEach(async () => {
    stage = visitors.stage()
    const { engine } = stage
    const about = {
      workspaceId: engine.workspace.id,
      mode: 'test',
      family: 'evm',
      kind: 'xpub',
      startIndex: 0,
    } as const
    await addWallet({ ...engine.deps, ...engine }, { ...about, value: XPUB })
    await stock(stage, ['ethereum', 'bsc'])
  })

  // Guarantee: one connection, whatever addresses of its /64 it uses, opens a tenth of a network's watches, and keeps nobody else out.
  it('gives one /64 its part of a network, says when to come back, and serves others', async () => {
    const ids = await invoicesOf(visitors, OWN + 3)
    for (const [index, id] of ids.slice(0, OWN).entries())
      expect((await choose(id, 'usdt_ethereum', `2001:db8:0:7::${index + 1}`)).status).toBe(200)
    await stock(stage, ['ethereum', 'bsc'])
    const refused = await choose(ids[OWN] ?? '', 'usdt_ethereum', '2001:db8:0:7:ffff::1')
    expect([refused.status, refused.body.error.code]).toEqual([400, 'NO_WALLET_FOR_ASSET'])
    expect(Number(SPENT.exec(refused.body.error.message)?.[1])).toBeLessThanOrEqual(20)
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(20 * 60)
    // Another coin of the network is the same watch; another network has its own places.
    expect((await choose(ids[OWN] ?? '', 'eth_ethereum', '2001:db8:0:7::1')).status).toBe(400)
    expect((await choose(ids[OWN] ?? '', 'usdt_bsc', '2001:db8:0:7::1')).status).toBe(200)
    expect((await choose(ids[OWN + 1] ?? '', 'usdt_ethereum', '2001:db8:0:8::1')).status).toBe(200)
    const warnings = (await engineInbox()).filter(({ kind }) => kind === 'visitors_limited')
    expect(warnings.map(({ detail }) => detail)).toEqual([
      expect.stringContaining(`One connection is using all ${OWN} that it may have of the ${total} open payments`),
    ])
    expect(JSON.stringify(await stores.db.collection(INVOICES).find({}).toArray())).not.toContain('2001:db8')
  })

  const engineInbox = async () => await stage.engine.deps.exceptions.listOpen(stage.engine.workspace.id)

  // Guarantee: an invoice is one watch on a network, however many coins of it are chosen and however often the price is renewed.
  it('counts an invoice once on each network, coin after coin and price after price', async () => {
    const [id = ''] = await invoicesOf(visitors, 1)
    for (const asset of ['usdt_ethereum', 'usdc_ethereum', 'eth_ethereum', 'usdt_ethereum', 'usdt_bsc'] as const)
      expect((await choose(id, asset, sourceAt(1))).status).toBe(200)
    expect(await places('watch:test:ethereum')).toHaveLength(2)
    expect(await places('watch:test:bsc')).toHaveLength(2)
    stage.engine.advance(15 * MINUTE)
    await stage.engine.publishRates()
    expect((await choose(id, 'usdt_bsc', sourceAt(1))).status).toBe(200)
    expect(await places('watch:')).toHaveLength(4)
  })

  it('gives places back when enough money is seen', async () => {
    const ids = await invoicesOf(visitors, OWN + 1)
    const [first = ''] = ids
    for (const id of ids.slice(0, OWN)) expect((await choose(id, 'usdt_ethereum', sourceAt(1))).status).toBe(200)
    await pay(first, 3_000_000n)
    await stock(stage, ['ethereum'])
    expect((await choose(ids[OWN] ?? '', 'usdt_ethereum', sourceAt(1))).status).toBe(400)
    await pay(first, 4_000_000n)
    expect((await stage.get(`/api/i/${first}`)).body.view.status).toBe('confirming')
    expect((await choose(ids[OWN] ?? '', 'usdt_ethereum', sourceAt(1))).status).toBe(200)
  })

  // Guarantee: money that comes after the end settles as ever, also when another visitor has the place by then.
  it('gives places back when invoices expire, and late money needs none', async () => {
    const ids = await invoicesOf(visitors, OWN)
    for (const id of ids) expect((await choose(id, 'usdt_ethereum', sourceAt(1))).status).toBe(200)
    const ended = async () => {
      stage.engine.advance(21 * MINUTE)
      await stage.engine.setCursor(50, stage.engine.deps.clock.now())
      for (const id of ids) await advanceInvoice(stage.engine.deps, id)
      await stage.engine.publishRates()
    }
    await ended()
    expect(await places('watch:')).toEqual([])
    await stock(stage, ['ethereum'])
    for (const id of await invoicesOf(visitors, OWN))
      expect((await choose(id, 'usdt_ethereum', sourceAt(1))).status).toBe(200)
    await pay(ids[0] ?? '', 7_000_000n)
    expect((await stage.get(`/api/i/${ids[0]}`)).body.view).toMatchObject({ status: 'confirming', isPaidLate: true })
    expect(await places(`watch:test:ethereum`)).toHaveLength(2 * OWN)
  })

  let height = 100
  async function pay(id: string, amountBase: bigint): Promise<void> {
    const { deps } = stage.engine
    const invoice = await deps.invoices.findById(id)
    if (invoice === null) throw new Error('no such invoice')
    height += 1
    const transfer = { key: `test:ethereum:${height}`, amountBase }
    const block = blockWith(height, deps.clock.now(), paymentMethodOf(invoice), [transfer])
    await recordBlockTransfers(deps, { mode: 'test', network: 'ethereum', blocks: [block], epoch: 1 })
    await advanceInvoice(deps, id)
  }
})

describe('on a network whose quota bears six', () => {
  const visitors = useVisitors(stores, { buckets, nodes: { ethereum: RATIONED } })
  const choice = (invoiceId: string, index: number) => ({
    ...({ invoiceId, asset: 'usdt_ethereum', opId: invoiceId, visitor: { source: sourceAt(index) } } as const),
    admit: async () => undefined,
  })

  // Guarantee: any number of connections, at any number of checkouts, open no more watches than the quota bears, and the merchant's program goes on.
  it('gives all connections six through two processes, and the merchant as many as it likes', async () => {
    const stage = visitors.stage()
    const ids = await invoicesOf(visitors, 24)
    const context = serviceContext(stores, {
      PAYMESH_NETWORKS: JSON.stringify({ live: {}, test: { ethereum: RATIONED } }),
    })
    const { clock } = stage.engine.deps
    const second = assembleCheckout({
      ...openCheckoutParts({ ...context, clock }),
      notifier: { notify: () => undefined },
    })
    const chosen = await Promise.allSettled(
      ids.map((id, index) => chooseAsset(index % 2 === 0 ? stage.deps : second, choice(id, index))),
    )
    await second.nodes.close()
    const refusals = chosen.filter((one) => one.status === 'rejected').map(({ reason }) => String(reason.message))
    expect(refusals).toHaveLength(18)
    for (const refusal of refusals) expect(refusal).toMatch(SPENT)
    expect(await places('watch:test:ethereum')).toHaveLength(12)
    await stock(stage, ['ethereum'])
    for (let count = 0; count < 12; count += 1) await visitors.openByApi('usdt_ethereum')
    const invoice = await visitors.openByApi()
    expect((await visitors.choose(invoice.terms.id, 'usdt_ethereum', sourceAt(1))).status).toBe(200)
    expect(await places('watch:test:ethereum')).toHaveLength(12)
  })

  // Guarantee: of an invoice whose life the merchant set, no coin of its payer takes a visitor's place, for however many days it is open.
  it('counts coins that a payer adds to an invoice that ends with its quote, and to no other', async () => {
    const stage = visitors.stage()
    const add = async (endsWithQuote: boolean) => {
      const { id } = (await visitors.openByApi('usdt_bsc')).terms
      await stores.db.collection(INVOICES).updateOne({ _id: id }, { $set: { endsWithQuote } })
      await stock(stage, ['ethereum'])
      expect((await visitors.choose(id, 'usdt_ethereum', sourceAt(7))).status).toBe(200)
    }
    await add(false)
    expect(await places('watch:')).toEqual([])
    await add(true)
    expect(await places('watch:')).toHaveLength(2)
  })

  it('leaves five to others when one connection has one', async () => {
    const ids = await invoicesOf(visitors, 3)
    const outcomes = []
    for (const id of ids.slice(0, 2)) outcomes.push((await visitors.choose(id, 'usdt_ethereum', sourceAt(7))).status)
    outcomes.push((await visitors.choose(ids[2] ?? '', 'usdt_ethereum', sourceAt(8))).status)
    expect(outcomes).toEqual([200, 400, 200])
  })
})
