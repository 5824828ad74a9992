/** One frame of anvil's `trace_block`, as far as it says who paid whom. */
interface Frame {
  readonly transactionHash?: string
  readonly traceAddress: readonly number[]
  readonly type: string
  readonly error?: string | null
  readonly action: {
    readonly callType?: string
    readonly from?: string
    readonly to?: string
    readonly value?: string
    readonly address?: string
    readonly refundAddress?: string
    readonly balance?: string
  }
  readonly result?: { readonly address?: string } | null
}

/** Coins that one account gave another inside of a transaction. Lower-case hex without `0x`; base units above zero. */
export interface InnerMove {
  readonly txHash: string
  readonly from: string
  readonly to: string
  readonly amountBase: bigint
}

/**
 * Coins that moved inside of the transactions of a block, from the answer of `trace_block` (OpenEthereum's format, which anvil, Erigon and
 * Reth share). What transactions sent directly and what was reverted is not among them. This is the tests' own reading of traces: nothing
 * of the product takes part in it.
 */
export function innerMovesOf(answer: unknown): readonly InnerMove[] {
  const frames = answer as readonly Frame[]
  const reverted = frames
    .filter(({ error }) => error !== undefined && error !== null)
    .map(({ transactionHash, traceAddress }) => pathOf(transactionHash, traceAddress))
  return frames.flatMap((frame) => {
    const { transactionHash: txHash, traceAddress } = frame
    if (txHash === undefined || traceAddress.length === 0) return []
    const path = pathOf(txHash, traceAddress)
    if (reverted.some((above) => path === above || path.startsWith(`${above},`))) return []
    const move = moveOf(frame)
    return move === null || move.amountBase === 0n || move.from === move.to ? [] : [{ txHash, ...move }]
  })
}

const pathOf = (txHash: string | undefined, traceAddress: readonly number[]): string => [txHash, ...traceAddress].join()

function moveOf({ type, action, result }: Frame): Omit<InnerMove, 'txHash'> | null {
  if (type === 'suicide') return move(action.address, action.refundAddress, action.balance)
  if (type === 'create') return move(action.from, result?.address, action.value)
  // The value of a delegatecall is the one of the call around it, and a staticcall has none.
  return type === 'call' && action.callType === 'call' ? move(action.from, action.to, action.value) : null
}

function move(from: string | undefined, to: string | undefined, value: string | undefined) {
  if (from === undefined || to === undefined) return null
  return { from: plainKey(from), to: plainKey(to), amountBase: BigInt(value ?? '0x0') }
}

/** An address as a match key. */
export const plainKey = (address: string): string => address.slice(2).toLowerCase()
