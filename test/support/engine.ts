import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import type { NetworkSettings } from '#shared/chains/definitions/chain.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createEndpointRepository } from '#shared/db/endpoints/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/events/event-repository.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { createChainCommandRepository } from '#shared/db/scanning/chain-command-repository.ts'
import { createCoinBalanceRepository } from '#shared/db/scanning/coin-balance-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { type AssetLock, activeLock, type InvoiceTerms, type Ms } from '#shared/domain/invoice/model.ts'
import { openInvoice } from '#shared/domain/invoice/open-invoice.ts'
import type { Invoice, InvoiceRepository } from '#shared/ports/invoices.ts'
import type { Ambient } from '#shared/ports/runtime.ts'
import type { ScannedBlock } from '#shared/ports/scanning.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { outboxEntries } from '#shared/usecases/invoices/outbox-entries.ts'
import { createLockAvailability } from '#shared/usecases/quotes/lock-availability.ts'
import { createLockOffers } from '#shared/usecases/quotes/lock-offers.ts'
import { createLockPreparer, type LockPreparer } from '#shared/usecases/quotes/prepare-lock.ts'
import { createRateReader } from '#shared/usecases/rates/read-rate.ts'
import { deriveAhead, ensureSandboxMaterials } from '#shared/usecases/wallets/address-headroom.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
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
  const { db, ambient } = stores
  let offsetMs = 0
  const clock = { now: (): Ms => ambient.clock.now() + offsetMs }
  const kicks: string[] = []
  const kicker = { kick: (queue: string, id: string) => void kicks.push(`${queue} ${id}`) }
  const catalog = createCatalog({ live: {}, test: nodes })
  const repositories = {
    invoices: createInvoiceRepository(db),
    payments: createPaymentRepository(db, ambient.random),
    cursors: createCursorRepository(db),
    exceptions: createExceptionRepository(db),
    workspaces: createWorkspaceRepository(db),
    wallets: createWalletRepository(db),
    events: createEventRepository(db),
    endpoints: createEndpointRepository(db),
    deliveries: createDeliveryRepository(db),
    mails: createMailRepository(db),
    audits: createAuditRepository(db),
    balances: createCoinBalanceRepository(db),
    commands: createChainCommandRepository(db),
    rateSnapshots: createRateRepository(db),
  }
  const { wallets, cursors } = repositories
  const base = { ...ambient, ...repositories, clock, kicker, catalog }
  const rates = createRateReader({ rates: repositories.rateSnapshots, clock, catalog })
  const addresses = createLockOffers(base)
  const availability = createLockAvailability({ wallets, cursors, catalog, clock, rates, addresses })
  const locks = createLockPreparer({ catalog, rates, availability, addresses })
  const deps = { ...base, rates, locks, urls: { checkoutBaseUrl: 'http://pay.test' } }
  const addressBook = createAddressBook()
  const secretBox = createSecretBox(new Uint8Array(32).fill(7))

  const publishRates = async (): Promise<void> => {
    const at = clock.now()
    const price = (value: string) => ({ price: value, sources: ['a', 'b', 'c'], oldestAt: at })
    const coins = Object.entries({ ...SYMBOLS, USDT: '1', USDC: '1' })
    await repositories.rateSnapshots.insert({
      at,
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
  const workspace = await createWorkspace(base, { name: 'Shop', ownerEmail: 'owner@example.com' })

  return {
    deps,
    kicks,
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

type Deps = Pick<Ambient, 'clock' | 'random'> & {
  readonly locks: LockPreparer
  readonly invoices: InvoiceRepository
}

async function open(deps: Deps, workspace: Workspace, request: OpenRequest): Promise<Invoice> {
  const fiat = { minor: request.minor ?? 2_500n, currency: 'USD' as const }
  const createdAt = deps.clock.now()
  const expiresAt = createdAt + workspace.policy.quoteMs
  const prepared =
    request.asset === undefined
      ? null
      : await deps.locks.prepare({
          workspace,
          mode: 'test',
          asset: request.asset,
          fiat,
          at: createdAt,
          quoteEndsAt: expiresAt,
        })
  const lock = prepared?.lock ?? null
  const { state, effects } = openInvoice({ mode: 'test', createdAt, expiresAt, endsWithQuote: true, lock })
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
  const outbox = outboxEntries(id, state, effects)
  const result = await deps.invoices.insert({ terms, state, outbox, idempotency: null, opId: null })
  if (!result.inserted) throw new Error(`insert collided on ${result.conflict}`)
  return { terms, state, lastOps: [], outbox }
}

/** The lock of an invoice that has one. */
export function lockOf(invoice: Invoice): AssetLock {
  const lock = activeLock(invoice.state)
  if (lock === null) throw new Error('the invoice has no asset')
  return lock
}

/** A block at a height with transfers of `usdt_ethereum` (or what `transfer` says) to the given lock's address. */
export function blockWith(
  height: number,
  time: Ms,
  to: Pick<AssetLock, 'matchKey' | 'address'>,
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
