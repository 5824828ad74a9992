import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import { addressOwners } from './address-owners.ts'
import { familyOf } from './attribute-transfers.ts'
import { explainPayment, type PaymentExplanation } from './explain-payment.ts'
import { findHolders } from './find-holders.ts'
import type { Catalog } from './ports/catalog.ts'
import type { InvoiceRepository } from './ports/invoices.ts'
import type { PaymentRepository } from './ports/payments.ts'
import {
  type ChainClient,
  type ChainCursor,
  type CursorRepository,
  NodeMismatch,
  NodeUnreliable,
  type RawTransfer,
  type TransactionPlace,
} from './ports/scanning.ts'
import type { WalletRepository } from './ports/wallets.ts'

/** What explaining a transaction needs; nothing is ever written. `client` is null without a node. */
export interface ExplainTransactionDeps {
  readonly payments: Pick<PaymentRepository, 'listByTransaction'>
  readonly invoices: Pick<InvoiceRepository, 'findById' | 'findByClaims' | 'findByReferences'>
  readonly wallets: Pick<WalletRepository, 'findAddresses' | 'workspacesUsing'>
  readonly cursors: Pick<CursorRepository, 'find'>
  readonly catalog: Pick<Catalog, 'asset'>
  readonly client: Pick<ChainClient, 'locate' | 'scan' | 'blockAt'> | null
}

/** One movement of money in a transaction, as the node shows it now, and whose address it went to. */
export interface TransferExplanation {
  readonly toAddress: string
  readonly asset: string | null
  readonly amount: string
  /** Workspaces whose wallets have the address; empty when it is none of ours. */
  readonly workspaceIds: readonly string[]
  /** True when the address is one of this installation's, the sandbox included. */
  readonly ours: boolean
  /** The invoice that holds the address or asked for this amount. */
  readonly invoiceId: string | null
}

/** What is known about a transaction. */
export interface TransactionExplanation {
  readonly mode: Mode
  readonly network: NetworkId
  readonly txHash: string
  readonly stored: readonly (PaymentExplanation & {
    readonly invoiceId: string | null
    readonly workspaceId: string | null
  })[]
  readonly scannerHeight: number | null
  /** What the node says; only asked when nothing is stored. */
  readonly node: 'not_asked' | 'cannot_be_asked' | 'unreachable' | 'unknown' | TransactionPlace
  readonly transfers: readonly TransferExplanation[]
  /** The answer in one sentence. */
  readonly conclusion: string
}

type Gathered = Omit<TransactionExplanation, 'conclusion'>

/**
 * Says what is stored of a transaction and, when nothing is, what the node shows: whether it was mined, which addresses it
 * paid, and whose they are. The node's answer is read with the scanner's own eyes, so what is shown here is what a rescan finds.
 */
export async function explainTransaction(
  deps: ExplainTransactionDeps,
  input: { readonly mode: Mode; readonly network: NetworkId; readonly txHash: string },
): Promise<TransactionExplanation> {
  const { mode, network } = input
  const txHash = normalise(familyOf(deps.catalog, network), input.txHash)
  const [payments, cursor] = await Promise.all([
    deps.payments.listByTransaction(mode, network, txHash),
    deps.cursors.find(mode, network),
  ])
  const stored = await Promise.all(
    payments.map(async (payment) => {
      const invoice = payment.invoiceId === null ? null : await deps.invoices.findById(payment.invoiceId)
      const { invoiceId, workspaceId } = payment
      const scene = { invoice: invoice?.state ?? null, cursor, catalog: deps.catalog }
      return { ...explainPayment(payment, scene), invoiceId, workspaceId }
    }),
  )
  const asked = stored.length > 0 ? NOT_ASKED : await askNode(deps, { mode, network, txHash })
  const known: Gathered = { mode, network, txHash, stored, scannerHeight: cursor?.height ?? null, ...asked }
  return { ...known, conclusion: conclude(known, cursor) }
}

const NOT_ASKED = { node: 'not_asked', transfers: [] } as const

type Asked = Pick<TransactionExplanation, 'node' | 'transfers'>

async function askNode(
  deps: ExplainTransactionDeps,
  scope: { readonly mode: Mode; readonly network: NetworkId; readonly txHash: string },
): Promise<Asked> {
  const { client } = deps
  if (client?.locate === undefined) return { node: 'cannot_be_asked', transfers: [] }
  try {
    const place = await client.locate(scope.txHash)
    if (place === null) return { node: 'unknown', transfers: [] }
    const everyone = { has: () => true, add: () => undefined, size: 1 }
    const blocks = await client.scan(place.height, place.height, everyone)
    const block = blocks.find(({ hash }) => hash === place.blockHash)
    if (block === undefined) return { node: 'unreachable', transfers: [] }
    const transfers = block.transfers.filter(({ txHash }) => txHash === scope.txHash)
    return { node: place, transfers: await whose(deps, scope, transfers, block.time) }
  } catch (error) {
    if (error instanceof NodeUnreliable || error instanceof NodeMismatch) return { node: 'unreachable', transfers: [] }
    throw error
  }
}

async function whose(
  deps: ExplainTransactionDeps,
  { mode, network }: { readonly mode: Mode; readonly network: NetworkId },
  transfers: readonly RawTransfer[],
  time: number,
): Promise<readonly TransferExplanation[]> {
  const family = familyOf(deps.catalog, network)
  const paid = transfers.map(({ matchKey }) => ({ mode, network, matchKey }))
  const seen = transfers.map((transfer) => ({ transfer, seenAt: time }))
  const [owners, holdersOf] = await Promise.all([
    addressOwners(deps, paid),
    findHolders(deps, { mode, network, family }, seen),
  ])
  return seen.map((one) => {
    const { toAddress, asset, amountBase, matchKey, contract } = one.transfer
    const amount =
      asset === null
        ? `${amountBase} base units of ${contract ?? 'a token'}`
        : formatUnits(amountBase, deps.catalog.asset(asset).decimals)
    const invoiceId = holdersOf(one).find(({ holder }) => holder !== null)?.holder?.invoiceId ?? null
    return { toAddress, asset, amount, workspaceIds: owners.get(matchKey) ?? [], ours: owners.has(matchKey), invoiceId }
  })
}

function conclude({ stored, node, transfers, network, mode }: Gathered, cursor: ChainCursor | null): string {
  if (stored.length > 0) return `Stored: ${stored.map(({ words }) => words).join(' ')}`
  const at =
    cursor === null ? `nobody ever scanned ${network} in ${mode} mode` : `the scanner stands at block ${cursor.height}`
  if (node === 'cannot_be_asked' || node === 'not_asked') {
    return `Not seen; ${at}. The node cannot be asked for single transactions: look it up in an explorer, and rescan its block if it pays an address of yours.`
  }
  if (node === 'unreachable') return `Not seen; ${at}. The node gave no usable answer: ask again.`
  if (node === 'unknown')
    return `Not seen; ${at}. The node knows no mined transaction of this id: it is not mined yet, or of another network.`
  if (!node.succeeded) return `It was mined in block ${node.height} and failed: it moved nothing.`
  const ours = transfers.filter((transfer) => transfer.ours)
  if (ours.length === 0) return `It is in block ${node.height} and pays no address of this installation.`
  if (cursor === null || cursor.height < node.height)
    return `It pays ${ours.length} of our addresses in block ${node.height}; ${at} and has not read that block yet.`
  return `It pays ${ours.length} of our addresses in block ${node.height}, which was read, but nothing is stored: rescan it with \`paymesh chain rescan ${network} --mode ${mode} --from ${node.height} --to ${node.height}\`.`
}

/** Ids as transfer keys carry them: hex in small letters, with 0x on EVM networks only; Solana's are case-sensitive. */
function normalise(family: string, txHash: string): string {
  if (family === 'solana') return txHash
  const hex = txHash.toLowerCase().replace(/^0x/, '')
  return family === 'evm' ? `0x${hex}` : hex
}
