import { createCatalog } from '#shared/chains/catalog.ts'
import type { NetworkSettings } from '#shared/chains/definitions/chain.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import type { InvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { activePaymentMethod, type InvoiceTerms, type Ms, type PaymentMethod } from '#shared/domain/invoice/model.ts'
import { openInvoice } from '#shared/domain/invoice/open-invoice.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { outboxEntries } from '#shared/usecases/invoices/apply-invoice-event.ts'
import { NO_MARKS } from '#shared/usecases/marks/marks.ts'
import { createQuotes } from '#shared/usecases/quotes/create-quotes.ts'
import type { QuotePreparer } from '#shared/usecases/quotes/prepare-quote.ts'
import { deriveAhead, ensureSandboxMaterials } from '#shared/usecases/wallets/address-headroom.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
import { sandboxAddressBook } from './sandbox-address-book.ts'
import type { TestStores } from './stores.ts'

const SYMBOLS = { BTC: '100000', LTC: '100', DOGE: '0.2', ETH: '4000', BNB: '800', POL: '0.5', TRX: '0.3', SOL: '200' }

/**
 * The engine on real stores: every repository, one workspace, published rates, sandbox addresses watched on the one
 * test network with a node (ethereum), and a clock that tests move forward.
 */
export type Engine = Awaited<ReturnType<typeof openEngine>>

const ETHEREUM = { rpcUrls: ['http://127.0.0.1:1'], chainId: 31337, confirmations: 3, contracts: {} }

/** Opens the engine; call it in a hook or test of a file that uses `useStores`. `nodes` names other test networks with a node. */
export async function openEngine(stores: TestStores, nodes: NetworkSettings['test'] = { ethereum: ETHEREUM }) {
  const { db, runtime } = stores
  let offsetMs = 0
  const clock = { now: (): Ms => runtime.clock.now() + offsetMs }
  const wakeUps: string[] = []
  const notifier = { notify: (queue: string, id: string) => void wakeUps.push(`${queue} ${id}`) }
  const catalog = createCatalog({ live: {}, test: nodes })
  const base = { ...runtime, ...createRepositories(db, runtime), clock, notifier, catalog, marks: NO_MARKS }
  const { wallets, cursors } = base
  const { rates, paymentMethods } = createQuotes(base)
  const deps = { ...base, rates, paymentMethods, urls: { checkoutBaseUrl: 'http://pay.test' } }
  const addressBook = sandboxAddressBook()
  const secretBox = createSecretBox(new Uint8Array(32).fill(7))

  const publishRates = async (): Promise<void> => {
    const at = clock.now()
    const price = (value: string) => ({ price: value, sources: ['a', 'b', 'c'], oldestAt: at })
    const coins = Object.entries({ ...SYMBOLS, USDT: '1', USDC: '1' })
    await base.rateSnapshots.insert({
      at,
      guards: {},
      expected: {},
      sources: {},
      clockOffsetMs: null,
      usdPerSymbol: Object.fromEntries(coins.map(([symbol, value]) => [symbol, price(value)])),
      fiatPerUsd: { USD: price('1'), EUR: price('0.5') },
    })
  }

  const watchEverything = async (): Promise<void> => {
    await ensureSandboxMaterials({ ...base, addressBook, secretBox })
    await deriveAhead({ ...base, addressBook, secretBox }, 24)
    const rows = await wallets.unmarkedWatches('test', 'evm', 'ethereum', 1_000)
    await wallets.markWatched(
      'test',
      'evm',
      'ethereum',
      rows.map((row) => row.matchKey),
    )
  }

  await publishRates()
  await watchEverything()
  const workspace = await createWorkspace(base, { name: 'Shop', ownerEmail: 'owner@example.com', actor: 'test' })

  return {
    deps,
    wakeUps,
    workspace,
    addressBook,
    secretBox,
    publishRates,
    watchEverything,
    /** Moves the engine's clock; the stores keep their own. */
    advance: (ms: Ms) => {
      offsetMs += ms
    },
    open: (request: OpenRequest = {}) => open(deps, workspace, request),
    /** Stores the cursor of test ethereum at a block time, as a scanner would. */
    setCursor: async (height: number, time: Ms) => {
      const current = await cursors.create({
        id: 'test:ethereum',
        mode: 'test',
        network: 'ethereum',
        height,
        hash: `hash${height}`,
        time,
        window: [],
        headHeight: height,
        headSeenAt: clock.now(),
        finalizedHeight: null,
        status: 'live',
        haltReason: null,
        genesisHash: 'genesis',
        lease: null,
      })
      const lease = await cursors.acquireLease('test', 'ethereum', 'test', 60_000)
      const expected = { hash: current.hash, epoch: lease?.epoch ?? 0 }
      await cursors.advance('test', 'ethereum', expected, {
        height,
        hash: `hash${height}`,
        time,
        headHeight: height,
        headSeenAt: clock.now(),
      })
    },
  }
}

interface OpenRequest {
  /** Cents of US dollars; default 25.00. */
  readonly minor?: bigint
  readonly asset?: AssetId
}

type Deps = Pick<Runtime, 'clock' | 'random'> & {
  readonly catalog: Catalog
  readonly paymentMethods: QuotePreparer
  readonly invoices: InvoiceRepository
}

async function open(deps: Deps, workspace: Workspace, request: OpenRequest): Promise<Invoice> {
  const fiat = { minor: request.minor ?? 2_500n, currency: 'USD' as const }
  const createdAt = deps.clock.now()
  const expiresAt = createdAt + workspace.policy.quoteMs
  const prepared =
    request.asset === undefined
      ? null
      : await deps.paymentMethods.prepare({
          workspace,
          mode: 'test',
          asset: request.asset,
          fiat,
          at: createdAt,
          quoteEndsAt: expiresAt,
        })
  const paymentMethod = prepared?.paymentMethod ?? null
  const { state, effects } = openInvoice({ mode: 'test', createdAt, expiresAt, endsWithQuote: true, paymentMethod })
  const id = deps.random.uuid()
  const number = (await deps.invoices.highestNumber(workspace.id, 'test')) + 1
  const terms: InvoiceTerms = {
    id,
    workspaceId: workspace.id,
    mode: 'test',
    number,
    description: null,
    orderId: null,
    metadata: {},
    fiat,
    customer: { email: null, name: null },
    successUrl: null,
    cancelUrl: null,
    paymentLinkId: null,
    productId: null,
    source: 'api',
    createdAt,
  }
  const outbox = outboxEntries({ id, catalog: deps.catalog }, state, effects)
  const result = await deps.invoices.insert({ terms, state, outbox, idempotency: null, opId: null })
  if (!result.inserted) throw new Error(`insert collided on ${result.conflict}`)
  return { terms, state, lastOps: [], outbox, refundSeq: 0 }
}

/** The payment method of an invoice that has one. */
export function paymentMethodOf(invoice: Invoice): PaymentMethod {
  const paymentMethod = activePaymentMethod(invoice.state)
  if (paymentMethod === null) throw new Error('the invoice has no asset')
  return paymentMethod
}

/** A block at a height with transfers of `usdt_ethereum` (or what `transfer` says) to the given payment method's address. */
export function blockWith(
  height: number,
  time: Ms,
  to: Pick<PaymentMethod, 'matchKey' | 'address'>,
  transfers: readonly { readonly key: string; readonly amountBase: bigint; readonly asset?: AssetId | null }[],
): ScannedBlock {
  return {
    height,
    hash: `hash${height}`,
    parentHash: `hash${height - 1}`,
    time,
    transfers: transfers.map((transfer) => ({
      key: transfer.key,
      matchKey: to.matchKey,
      toAddress: to.address,
      fromAddress: '0xpayer',
      asset: transfer.asset === undefined ? 'usdt_ethereum' : transfer.asset,
      contract: '0xtoken',
      amountBase: transfer.amountBase,
      txHash: `0x${transfer.key}`,
      outputIndex: null,
    })),
  }
}
