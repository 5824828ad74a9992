import { ignoreUnclear } from '#shared/chains/nodes/ignore-unclear.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { type FeeFact, FUNDS_PAGE, type FundsReader } from '#shared/ports/funds.ts'
import type { CoreNode, CoreRpc } from './core-rpc.ts'
import { createStandingWatch } from './node-standing.ts'

/**
 * Virtual bytes: the fixed part of a transaction with one output, and one input by the type of its script, signatures of 72
 * bytes, rounded up (bitcoinops.org, "Transaction size calculator").
 */
const FIXED_BYTES = 11n + 34n
const INPUT_BYTES: readonly (readonly [script: RegExp, bytes: bigint])[] = [
  [/^0014[0-9a-f]{40}$/, 68n],
  [/^a914[0-9a-f]{40}87$/, 91n],
  [/^76a914[0-9a-f]{40}88ac$/, 148n],
  [/^5120[0-9a-f]{64}$/, 58n],
]
/** The usual input where no address is at hand. */
const USUAL_INPUT_BYTES = 148n

/** Settings of the reader. `isLocal`: a chain with one node and no peers. */
interface UtxoFundsOptions {
  readonly asset: AssetId
  readonly isLocal: boolean
}

/**
 * Unspent outputs in blocks, and what spending all of an address in one transaction costs at the node's fee estimate for
 * six blocks. One scan of the node's whole set of unspent outputs, which takes minutes on main networks.
 */
export function createUtxoFunds(rpc: Pick<CoreRpc, 'use'>, { asset, isLocal }: UtxoFundsOptions): FundsReader {
  const standing = createStandingWatch({ isLocal, isLive: false })
  return {
    read(addresses, { timeoutMs }) {
      if (addresses.length > FUNDS_PAGE) throw new RangeError(`${addresses.length} addresses in one reading`)
      return rpc.use(async (node) => {
        await standing.requireChain(node)
        const feeRate = await ignoreUnclear(node.feeRate())
        const { height, held } = await node.unspentAmounts(
          addresses.map(({ matchKey }) => matchKey),
          timeoutMs,
        )
        const funds = addresses.map(({ matchKey }) => {
          const { amountBase, outputs } = held.get(matchKey) ?? { amountBase: 0n, outputs: 0 }
          const input = INPUT_BYTES.find(([script]) => script.test(matchKey))?.[1] ?? null
          const isKnown = outputs > 0 && feeRate !== null && input !== null
          const feeBase = isKnown ? feeOf(feeRate, FIXED_BYTES + input * BigInt(outputs)) : null
          return [matchKey, [{ asset, balanceBase: amountBase, feeBase, topUpBase: 0n }]] as const
        })
        return { height, funds: new Map(funds), facts: factsOf(feeRate) }
      })
    },
    fees: () =>
      rpc.use(async (node: CoreNode) => {
        const feeRate = await ignoreUnclear(node.feeRate())
        const cost = feeRate === null ? null : feeOf(feeRate, FIXED_BYTES + USUAL_INPUT_BYTES)
        return { perAsset: new Map([[asset, cost]]), facts: factsOf(feeRate) }
      }),
  }
}

/** Rounded up to a base unit. */
function feeOf(feeRate: bigint, bytes: bigint): bigint {
  return (feeRate * bytes + 999n) / 1_000n
}

function factsOf(feeRate: bigint | null): readonly FeeFact[] {
  return feeRate === null ? [] : [{ name: 'fee_rate', value: feeRate, unit: 'base units per kvB' }]
}
