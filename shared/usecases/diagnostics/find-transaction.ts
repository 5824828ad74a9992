import { within } from '#shared/contracts/within.ts'
import { type Mode, NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { ChainClient } from '#shared/ports/scanning.ts'
import { mayBeTransactionId, transactionId } from '#shared/usecases/networks/transaction-id.ts'
import { paymentsConcerning } from '#shared/usecases/payments/address-owners.ts'
import { familyOf } from '#shared/usecases/payments/attribute-transfers.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type ExplainTransactionDeps, explainTransaction, type TransactionExplanation } from './explain-transaction.ts'

/** A node that does not respond within this time is skipped, in milliseconds. */
const NODE_PATIENCE_MS = 8_000

/** A client opened for one question. */
export interface QuestionClient extends Pick<ChainClient, 'locate' | 'scan' | 'blockAt'> {
  close(): Promise<void>
}

/** Dependencies of finding a transaction; it never writes. */
export type FindTransactionDeps = Omit<ExplainTransactionDeps, 'client' | 'payments' | 'catalog'> &
  Uses<'payments' | 'catalog'> & {
    /** Null without a node. */
    readonly openClient: (mode: Mode, network: NetworkId) => QuestionClient | null
  }

/** What one workspace may see of a transaction. */
export interface FoundTransaction {
  /** Null when no network has it. */
  readonly known: TransactionExplanation | null
  /** The stored payment of it that belongs to the workspace; null when there is none. */
  readonly own: Payment | null
  /** Some of it went to an address of the workspace. */
  readonly isOwn: boolean
  /** Networks that were searched, and those of them that did not respond. */
  readonly looked: readonly NetworkId[]
  readonly silent: readonly NetworkId[]
}

/** Networks on which a text may be the id of a transaction. */
export function candidateNetworks(catalog: Pick<Catalog, 'asset'>, text: string): readonly NetworkId[] {
  return NETWORK_IDS.filter((network) => mayBeTransactionId(familyOf(catalog, network), text))
}

/** Looks for a transaction on several networks at once: in the store first, then at every node. */
export async function findTransaction(
  deps: FindTransactionDeps,
  input: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly text: string
    readonly networks: readonly NetworkId[]
  },
): Promise<FoundTransaction> {
  const { mode, networks } = input
  const stored = await Promise.all(networks.map((network) => isStored(deps, input, network)))
  const named = networks.filter((_, index) => stored[index] === true)
  const looked = named.length > 0 ? named : networks.filter((network) => deps.catalog.hasNode(network, mode))
  const answers = await Promise.all(looked.map((network) => explainOn(deps, input, network)))
  const known = answers.filter((answer) => answer !== null).sort((a, b) => weight(b) - weight(a))[0] ?? null
  const silent = looked.filter((_, index) => {
    const answer = answers[index] ?? null
    return answer === null || answer.node === 'unreachable' || answer.node === 'cannot_be_queried'
  })
  const reported = known === null || weight(known) === 0 ? null : known
  return { known: reported, ...(await concerning(deps, input.workspaceId, reported)), looked: looked, silent }
}

/** The workspace and the text it asks about. */
type TransactionQuestion = Pick<Parameters<typeof findTransaction>[1], 'workspaceId' | 'mode' | 'text'>

/** Data stored for other workspaces decides nothing: the nodes are queried as if the transaction were unknown. */
async function isStored(
  deps: FindTransactionDeps,
  { workspaceId, mode, text }: TransactionQuestion,
  network: NetworkId,
): Promise<boolean> {
  const id = transactionId(familyOf(deps.catalog, network), text)
  const stored = await deps.payments.listByTransaction(mode, network, id)
  return (await paymentsConcerning(deps, workspaceId, stored)).length > 0
}

async function explainOn(
  deps: FindTransactionDeps,
  { workspaceId, mode, text }: TransactionQuestion,
  network: NetworkId,
): Promise<TransactionExplanation | null> {
  const client = deps.openClient(mode, network)
  const about = { mode, network, txHash: text, onlyFor: workspaceId }
  try {
    return await within(explainTransaction({ ...deps, client }, about), NODE_PATIENCE_MS)
  } finally {
    await client?.close()
  }
}

/** How informative a result is; 0 for nothing. */
function weight({ stored, node, transfers }: TransactionExplanation): number {
  if (stored.length > 0) return 5
  if (typeof node === 'object') return transfers.some(({ ours }) => ours) ? 4 : node.succeeded ? 3 : 2
  return node === 'unconfirmed' ? 1 : 0
}

/** The workspace's part: its own payments, and unmatched money at its addresses. */
async function concerning(
  deps: FindTransactionDeps,
  workspaceId: string,
  known: TransactionExplanation | null,
): Promise<Pick<FoundTransaction, 'own' | 'isOwn'>> {
  const [first] = known?.stored ?? []
  const own = first === undefined ? null : await deps.payments.findById(first.id)
  if (own !== null) return { own, isOwn: true }
  return { own: null, isOwn: known?.transfers.some(({ workspaceIds }) => workspaceIds.includes(workspaceId)) ?? false }
}
