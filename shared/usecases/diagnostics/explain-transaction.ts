import { type AssetId, type Mode, type NetworkId, symbolOf } from '#shared/domain/enumerations.ts'
import { formatUnits } from '#shared/domain/money/money.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import type { RawTransfer } from '#shared/ports/scanned-blocks.ts'
import { type ChainClient, NodeMismatch, NodeUnreliable, type TransactionPlace } from '#shared/ports/scanning.ts'
import { transactionId } from '#shared/usecases/networks/transaction-id.ts'
import { addressOwners, paymentsConcerning } from '#shared/usecases/payments/address-owners.ts'
import { familyOf, findOwners } from '#shared/usecases/payments/attribute-transfers.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { explainPayment, type PaymentExplanation } from './explain-payment.ts'

/** Dependencies of explaining a transaction; it never writes. `client` is null without a node. */
export type ExplainTransactionDeps = Uses<'payments' | 'invoices' | 'wallets' | 'cursors' | 'catalog'> & {
  readonly client: Pick<ChainClient, 'locate' | 'scan' | 'blockAt'> | null
}

/** One transfer in a transaction, as the node shows it now, and the owner of its address. */
export interface TransferExplanation {
  readonly toAddress: string
  readonly asset: AssetId | null
  readonly amount: string
  /** Workspaces whose wallets have the address; empty when no wallet has it. */
  readonly workspaceIds: readonly string[]
  /** True when the address is one of this installation's, the sandbox included. */
  readonly ours: boolean
  /** A token that was sent to its own contract. */
  readonly isToOwnContract: boolean
  /** The invoice that owns the address or requested this amount. */
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
  /** The node's response; only requested when nothing is stored, or no stored payment is still on the chain. */
  readonly node: NodeAnswer
  readonly transfers: readonly TransferExplanation[]
  /** The conclusion in one sentence. */
  readonly conclusion: string
}

/**
 * `cannot_be_queried`: there is no node, or it cannot look up single transactions; `unknown`: it has no such transaction;
 * `not_in_block`: the named block contains no transfer of it.
 */
export type NodeAnswer =
  | 'not_queried'
  | 'cannot_be_queried'
  | 'unreachable'
  | 'unknown'
  | 'unconfirmed'
  | 'not_in_block'
  | TransactionPlace

/** The transaction; `height` names its block, for nodes that cannot look up single transactions. */
export interface TransactionQuestion {
  readonly mode: Mode
  readonly network: NetworkId
  readonly txHash: string
  readonly height?: number | null
  /** Limits the result to this workspace's data, as if nothing else were stored or watched; absent = everything, for the command line. */
  readonly onlyFor?: string
}

type Facts = Omit<TransactionExplanation, 'conclusion'>

/**
 * Reports what is stored of a transaction and, if nothing valid is, what the node shows: whether it was mined,
 * which addresses it paid, and who owns them. The node's response is read with the scanner's code, so the result
 * matches what a rescan would find. Throws `VALIDATION_ERROR` when the id is not valid on the network.
 */
export async function explainTransaction(
  deps: ExplainTransactionDeps,
  input: TransactionQuestion,
): Promise<TransactionExplanation> {
  const { mode, network } = input
  const txHash = transactionId(familyOf(deps.catalog, network), input.txHash)
  const [all, cursor] = await Promise.all([
    deps.payments.listByTransaction(mode, network, txHash),
    deps.cursors.find(mode, network),
  ])
  const payments = input.onlyFor === undefined ? all : await paymentsConcerning(deps, input.onlyFor, all)
  const stored = await Promise.all(
    payments.map(async (payment) => {
      const invoice = payment.invoiceId === null ? null : await deps.invoices.findById(payment.invoiceId)
      const { invoiceId, workspaceId } = payment
      const scene = { invoice: invoice?.state ?? null, cursor, catalog: deps.catalog }
      return { ...explainPayment(payment, scene), invoiceId, workspaceId }
    }),
  )
  const stands = payments.some(({ state }) => state === 'detected' || state === 'confirmed')
  const answer = stands ? NOT_QUERIED : await queryNode(deps, { ...input, txHash })
  const known: Facts = { mode, network, txHash, stored, scannerHeight: cursor?.height ?? null, ...answer }
  return { ...known, conclusion: conclude(known, cursor) }
}

const NOT_QUERIED = { node: 'not_queried', transfers: [] } as const

type FoundTransfers = Pick<TransactionExplanation, 'node' | 'transfers'>

const EVERYONE = { has: () => true, add: () => undefined, size: 1, keys: () => [] }

async function queryNode(deps: ExplainTransactionDeps, question: TransactionQuestion): Promise<FoundTransfers> {
  try {
    const place = await locate(deps, question)
    if (typeof place === 'string' || !place.succeeded) return { node: place, transfers: [] }
    const blocks = await deps.client?.scan(place.height, place.height, EVERYONE)
    const block = blocks?.find(({ hash }) => hash === place.blockHash)
    if (block === undefined) return { node: 'unreachable', transfers: [] }
    const transfers = block.transfers.filter(({ txHash }) => txHash === question.txHash)
    const named = typeof question.height === 'number'
    // With only a height given, the block is the complete source: a transaction without transfers is not listed in it.
    if (named && transfers.length === 0) return { node: 'not_in_block', transfers: [] }
    return { node: place, transfers: await whose(deps, question, transfers, block.time) }
  } catch (error) {
    if (error instanceof NodeUnreliable || error instanceof NodeMismatch) return { node: 'unreachable', transfers: [] }
    throw error
  }
}

/** The transaction's block, from the node or the caller; otherwise why there is none. */
async function locate(
  { client }: ExplainTransactionDeps,
  { txHash, height }: TransactionQuestion,
): Promise<Exclude<NodeAnswer, 'not_queried'>> {
  if (client === null) return 'cannot_be_queried'
  if (typeof height === 'number') {
    const block = await client.blockAt(height)
    return block === null ? 'not_in_block' : { height, blockHash: block.hash, succeeded: true }
  }
  const place = (await client.locate?.(txHash)) ?? (client.locate === undefined ? 'not_searchable' : 'unknown')
  return place === 'not_searchable' ? 'cannot_be_queried' : place
}

async function whose(
  deps: ExplainTransactionDeps,
  { mode, network, onlyFor }: TransactionQuestion,
  transfers: readonly RawTransfer[],
  time: number,
): Promise<readonly TransferExplanation[]> {
  const family = familyOf(deps.catalog, network)
  const paid = transfers.map(({ matchKey }) => ({ mode, network, matchKey }))
  const seen = transfers.map((transfer) => ({ transfer, seenAt: time }))
  const [owners, ownersOf] = await Promise.all([
    addressOwners(deps, paid),
    findOwners(deps, { mode, network, family }, seen),
  ])
  return seen.map((one) => {
    const { toAddress, asset, amountBase, matchKey, contract } = one.transfer
    const amount =
      asset === null
        ? `${amountBase} base units of ${contract ?? 'a token'}`
        : formatUnits(amountBase, deps.catalog.asset(asset).decimals)
    const holder = ownersOf(one).find((held) => held.holder !== null)?.holder ?? null
    const isToOwnContract = contract !== null && contract.toLowerCase() === toAddress.toLowerCase()
    const shown = { toAddress, asset, amount, isToOwnContract }
    if (onlyFor === undefined) {
      const known = { workspaceIds: owners.get(matchKey) ?? [], ours: owners.has(matchKey) }
      return { ...shown, ...known, invoiceId: holder?.invoiceId ?? null }
    }
    const isOwn = owners.get(matchKey)?.includes(onlyFor) === true || holder?.workspaceId === onlyFor
    const invoiceId = holder?.workspaceId === onlyFor ? holder.invoiceId : null
    return { ...shown, workspaceIds: isOwn ? [onlyFor] : [], ours: isOwn, invoiceId }
  })
}

/**
 * Names the mistake behind a token that was sent to its own contract, for a transaction that pays nobody here; null for any other one. Some wallets
 * read a payment link (EIP-681) as a plain payment to its first address, which is the token's contract.
 */
export function misreadLink(transfers: readonly TransferExplanation[], network: NetworkId): string | null {
  const lost = transfers.find(({ isToOwnContract }) => isToOwnContract)
  if (lost === undefined) return null
  const what = lost.asset === null ? lost.amount : `${lost.amount} ${symbolOf(lost.asset)}`
  return `It sends ${what} to the token’s own contract on ${NETWORKS[network].name} instead of to the receiver: some wallets misread a payment link this way. No invoice gets it. Only the issuer of the token might return it, so the customer has to ask there and pay again to the address of the invoice.`
}

const prefixed = (sentence: string | null): string => (sentence === null ? '' : ` ${sentence}`)

function conclude(known: Facts, cursor: ChainCursor | null): string {
  const { stored, node } = known
  if (stored.length === 0) return nodeLabel(known, cursor, 'Not seen')
  const reported = `Stored: ${stored.map(({ words }) => words).join(' ')}`
  return node === 'not_queried' ? reported : `${reported} ${nodeLabel(known, cursor, 'Just queried')}`
}

/** Explains the node's response. */
function nodeLabel({ node, transfers, network, mode }: Facts, cursor: ChainCursor | null, lead: string): string {
  const at =
    cursor === null ? `${network} has not been scanned in ${mode} mode` : `the scanner is at block ${cursor.height}`
  if (node === 'cannot_be_queried' || node === 'not_queried') {
    return `${lead}; ${at}. No connected node can look up single transactions of ${network}. Find its block in an explorer and try again with --block HEIGHT.`
  }
  if (node === 'unreachable') return `${lead}; ${at}. The node returned no usable response. Try again.`
  if (node === 'unconfirmed')
    return `${lead}; ${at}. The node has it, but it is not in a block yet. It may still be replaced or dropped.`
  if (node === 'not_in_block') return `${lead}; ${at}. This transaction moves no money in that block.`
  if (node === 'unknown')
    return `${lead}; ${at}. The node has no mined transaction with this ID. It is not mined yet, or it is on another network.`
  if (!node.succeeded) return `It was mined in block ${node.height} and failed. No money was moved.`
  const ours = transfers.filter((transfer) => transfer.ours)
  if (ours.length === 0) {
    return `It is in block ${node.height} and pays no address on this server.${prefixed(misreadLink(transfers, network))}`
  }
  if (cursor === null || cursor.height < node.height)
    return `It pays ${ours.length} of our addresses in block ${node.height}; ${at} and has not scanned that block yet.`
  const rescan = `paymesh chain rescan ${network} --mode ${mode} --from ${node.height} --to ${node.height}`
  const lacking = lead === 'Not seen' ? 'no payment is stored' : 'no stored payment is valid'
  const { looks } = cursor
  if (cursor.source === 'thrifty' && looks != null && node.height > looks.all.height) {
    return `It pays ${ours.length} of our addresses in block ${node.height}, and ${lacking}. Thrifty scanning reads only blocks that open invoices need and checks all other addresses within a day. To read this block now, rescan it with \`${rescan}\`.`
  }
  return `It pays ${ours.length} of our addresses in block ${node.height}, which was scanned, but ${lacking}. Rescan it with \`${rescan}\`.`
}
