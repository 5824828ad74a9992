import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import type { ExceptionRecord } from '#shared/ports/exceptions.ts'
import type { BlockRef, UnexplainedMove } from '#shared/ports/scanned-blocks.ts'
import { addressOwners } from '#shared/usecases/payments/address-owners.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Transactions named in an exception; further ones are counted. */
const NAMED_MAX = 5

/** Dependencies of reporting unexplained balances. */
export type UnexplainedDeps = Uses<'clock' | 'payments' | 'wallets' | 'catalog'>

/** An account whose balance changed in a block with unreadable transactions. */
export interface UnexplainedBalance {
  readonly block: BlockRef
  readonly move: UnexplainedMove
  readonly txHashes: readonly string[]
  /** Negative when the account lost it. */
  readonly amountBase: bigint
}

/**
 * One exception for each account and block, for the workspace whose invoice was credited, otherwise for all whose key
 * material owns the address, otherwise for the instance admins. Ids depend only on block and account.
 */
export async function unexplainedRows(
  deps: UnexplainedDeps,
  { mode, network }: { readonly mode: Mode; readonly network: NetworkId },
  balances: readonly UnexplainedBalance[],
): Promise<readonly ExceptionRecord[]> {
  const owners = await addressOwners(
    deps,
    balances.map(({ move }) => ({ mode, network, matchKey: move.matchKey })),
  )
  const openedAt = deps.clock.now()
  const rows = balances.map(async (balance) => {
    const { block, move } = balance
    const { matchKey, asset } = move
    const range = { from: block.height, to: block.height }
    const stored = await deps.payments.listInBlocks({ mode, network, asset, matchKeys: [matchKey], ...range })
    const recorded = stored.find(({ block: at }) => at?.hash === block.hash && at.increase !== undefined)
    const known = recorded?.workspaceId ?? null
    const workspaces = known === null ? (owners.get(matchKey) ?? []) : [known]
    const id = `unexplained_balance:${mode}:${network}:${block.hash}:${matchKey}`
    return (workspaces.length === 0 ? [null] : workspaces).map(
      (workspaceId): ExceptionRecord => ({
        id: workspaces.length > 1 ? `${id}:${workspaceId}` : id,
        kind: 'unexplained_balance',
        workspaceId,
        mode,
        invoiceId: recorded?.invoiceId ?? null,
        paymentKey: recorded?.key ?? null,
        detail: detailOf(deps, network, balance),
        openedAt,
        closedAt: null,
      }),
    )
  })
  return (await Promise.all(rows)).flat()
}

function detailOf(
  { catalog }: UnexplainedDeps,
  network: NetworkId,
  { block, move, txHashes, amountBase }: UnexplainedBalance,
): string {
  const { decimals, symbol } = catalog.asset(move.asset)
  const size = amountBase < 0n ? -amountBase : amountBase
  const amount = `${formatUnits(size, decimals)} ${symbol}`
  const named = txHashes.slice(0, NAMED_MAX).join(', ')
  const more = txHashes.length > NAMED_MAX ? ` and ${txHashes.length - NAMED_MAX} more` : ''
  const credited =
    amountBase < 0n
      ? `The balance of ${move.address} decreased by ${amount} more than its transactions explain. No payment was changed.`
      : `${amount} arrived at ${move.address} and is stored as one payment without a transaction.`
  return `Block ${block.height} (${block.hash}) of ${network} contains transactions that no node could return: ${named}${more}. ${credited} Compare with a block explorer.`
}
