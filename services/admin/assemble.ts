import type { ServiceParts } from '#services/context.ts'
import { nodeHosts } from '#shared/chains/check-nodes.ts'
import type { OpenChainClient } from '#shared/chains/create-chain-client.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import type { Config } from '#shared/config/schema.ts'
import type { Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { SCARCE } from '#shared/domain/scarce.ts'
import type { AuditMarks } from '#shared/ports/audit-marks.ts'
import type { AddressBook, Catalog } from '#shared/ports/chain-catalog.ts'
import type { EpochStore } from '#shared/ports/epoch-store.ts'
import type { LogoReader } from '#shared/ports/logos.ts'
import type { NodeCheck } from '#shared/ports/node-states.ts'
import type { NodePrices } from '#shared/ports/node-usage.ts'
import type { QueueCounts } from '#shared/ports/queue-counts.ts'
import type { RateLimiter } from '#shared/ports/rate-limit.ts'
import type { AddressReader } from '#shared/ports/refunds.ts'
import type { AuditKeys, SecretBox, SecretRotation } from '#shared/ports/secrets.ts'
import type { UrlGuard } from '#shared/ports/url-guard.ts'
import type { PeopleDeps } from '#shared/usecases/accounts/account-deps.ts'
import { createFundsGate } from '#shared/usecases/funds/funds-gate.ts'
import { createInvoiceNumbers } from '#shared/usecases/invoices/invoice-numbers.ts'
import type { PublicUrls } from '#shared/usecases/invoices/present-invoice.ts'
import { createQuotes } from '#shared/usecases/quotes/create-quotes.ts'
import type { RefundLinks } from '#shared/usecases/refunds/refund-link.ts'
import { createOverview } from '#shared/usecases/reports/read-overview.ts'
import type { ListCursor } from '#shared/usecases/requests/list-cursor.ts'
import { createKeyUse } from '#shared/usecases/workspaces/api-key-cache.ts'
import { ownersOfWorkspace } from '#shared/usecases/workspaces/owners-of-workspace.ts'
import { createListenHub } from './listen/listen-hub.ts'
import { createLiveHub } from './live-hub.ts'
import { createSlots } from './slots.ts'
import { createWorkBudgets } from './work-budgets.ts'

/** Live views: two for each open page of a person, enough for fifteen pages, and those of the whole process. */
const LIVE_VIEWS = SCARCE.dashboardStreams.budget

/** How long a page waits for balances from nodes; proxies usually cut a request after a minute. */
const FUNDS_TIMEOUT_MS = 45_000

/** For more blocks there is the command line. */
const PREVIEW_BLOCKS_MAX = 100

/** The parts of the `admin` process. */
export interface AdminParts extends ServiceParts, Pick<PeopleDeps, 'lanes' | 'passwords' | 'codes' | 'hasher'> {
  readonly secretBox: SecretBox & Pick<SecretRotation, 'keyId'>
  readonly config: Config
  readonly catalog: Catalog
  readonly addressBook: AddressBook
  readonly auditKeys: AuditKeys
  readonly auditMarks: AuditMarks
  readonly epochs: EpochStore
  readonly limiter: RateLimiter
  readonly listCursor: ListCursor
  readonly logoReader: LogoReader
  readonly nodePrices: NodePrices
  readonly nodes: NodeCheck
  /** Null when the network has no node in that mode; the caller closes it. */
  openChain(mode: Mode, network: NetworkId): OpenChainClient | null
  readonly payees: AddressReader
  guessAddress(mode: Mode, text: string): readonly { readonly family: Family; readonly matchKey: string }[]
  readonly queueCounts: QueueCounts
  readonly refundLinks: RefundLinks
  readonly urlGuard: UrlGuard
  readonly urls: PublicUrls
  readonly walletDelayMs: number
}

/** Dependencies of the dashboard API; tests may replace single parts. */
export type AdminDeps = ReturnType<typeof assembleAdmin>

/** Wires the dashboard API. Holds only caches; the stream of changes begins when the first page subscribes. */
export function assembleAdmin(parts: AdminParts) {
  const quotes = createQuotes(parts)
  const numbers = createInvoiceNumbers(parts)
  return {
    ...parts,
    attempts: parts.loginAttempts,
    streams: createSlots(LIVE_VIEWS),
    budgets: createWorkBudgets(),
    live: createLiveHub({ ...parts, feed: parts.changeFeed }),
    overview: createOverview({ ...parts, reads: parts.overviewReads }),
    inbox: parts.decisions,
    /** Streams of events for merchants' programs; that of the store begins with the first listener. */
    listen: {
      stream: parts.eventStream,
      limiter: parts.limiter,
      hub: createListenHub({ ...parts, stream: parts.eventStream }),
      slots: createSlots(SCARCE.eventStreams.budget),
      /** Places of listeners that read the history: a slow one keeps no other workspace from reading theirs. */
      catchUps: createSlots(SCARCE.eventCatchUps.budget),
      keyUse: createKeyUse({ ...parts, keys: parts.apiKeys }),
    },
    chainCursors: parts.cursors,
    /** Routers of invoices, payments, links, products, exceptions and questions. */
    money: {
      ...parts,
      ...quotes,
      lookups: parts.invoiceLookups,
      numbers,
      networkName: (network: NetworkId): string => CHAINS[network].name,
      openClient: parts.openChain,
    },
    /** Balances of wallets, read from nodes. */
    funds: {
      ...parts,
      gate: createFundsGate(),
      timeoutMs: FUNDS_TIMEOUT_MS,
      lookups: parts.invoiceLookups,
      rates: quotes.rates,
      openClient: parts.openChain,
    },
    /** Checks before real money arrives. */
    preparing: {
      ...parts,
      lookups: parts.deliveryLookups,
      nodeHosts: (mode: Mode, network: NetworkId) => nodeHosts(parts.config.networks, mode, network),
      invoicing: { ...parts, ...quotes, numbers },
    },
    /** Blocks that the preview of a request to a scanner reads while a person waits. */
    preview: { blocksMax: PREVIEW_BLOCKS_MAX, onProgress: (_height: number) => {} },
    /** Routers of webhooks, wallets and the installation. */
    instance: {
      ...parts,
      rates: parts.rateSnapshots,
      reads: parts.installationReads,
      ownersOf: (workspaceId: string) => ownersOfWorkspace(parts, workspaceId),
    },
  }
}
