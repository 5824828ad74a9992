import { z } from 'zod'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import { wireList } from '../wire-list.ts'

/** Base units in a coin, of every chain of the line. */
const COIN = 100_000_000

/** `scantxoutset`, Bitcoin Core 0.17 and later. An aborted scan has `success: false`. */
const unspentSchema = z.object({
  success: z.literal(true),
  unspents: wireList(z.object({ scriptPubKey: z.string().regex(/^(?:[0-9a-f]{2})+$/) })),
})
/** A scan reads the whole set of unspent outputs: minutes on main networks. */
const UNSPENT_TIMEOUT_MS = 30 * 60_000
const scannedSchema = unspentSchema.extend({
  height: z.int().nonnegative(),
  unspents: wireList(z.object({ scriptPubKey: z.string(), amount: z.number().nonnegative() })),
})
const outputsSchema = unspentSchema.extend({
  unspents: wireList(
    z.object({
      txid: z.string().regex(/^[0-9a-f]{64}$/),
      vout: z.int().nonnegative(),
      scriptPubKey: z.string(),
      amount: z.number().nonnegative(),
      height: z.int().nonnegative(),
      coinbase: z.boolean().default(false),
    }),
  ),
})
/** An unspent output in a block. */
export interface UnspentOutput {
  readonly txid: string
  readonly vout: number
  readonly script: string
  readonly amountBase: bigint
  readonly height: number
  readonly isCoinbase: boolean
}

/** Calls that search the unspent outputs of the whole chain. Each throws `RpcFailure` when it returns no usable response. */
export interface UnspentReads {
  /** Those of these output scripts (hex) that have unspent outputs in blocks. A node scans for one caller at a time. */
  unspentScripts(scripts: readonly string[]): Promise<ReadonlySet<string>>
  /** The unspent outputs of these scripts in blocks from `from` to `to`; `isCoinbase` is false where the node does not report it (before Bitcoin Core 25). */
  unspentIn(
    scripts: readonly string[],
    blocks: { readonly from: number; readonly to: number },
  ): Promise<readonly UnspentOutput[]>
  /** Sum and number of the unspent outputs of each of these scripts, in blocks up to `height`; scripts without one are left out. */
  unspentAmounts(
    scripts: readonly string[],
    timeoutMs: number,
  ): Promise<{
    readonly height: number
    readonly held: ReadonlyMap<string, { readonly amountBase: bigint; readonly outputs: number }>
  }>
}

/** These calls to one node. */
export function createUnspentReads(call: RpcNode['call']): UnspentReads {
  const search = <T>(scripts: readonly string[], schema: z.ZodType<T>, timeoutMs = UNSPENT_TIMEOUT_MS): Promise<T> =>
    call('scantxoutset', ['start', scripts.map((script) => `raw(${script})`)], schema, { timeoutMs })
  return {
    async unspentScripts(scripts) {
      const { unspents } = await search(scripts, unspentSchema)
      const wanted = new Set(scripts)
      return new Set(unspents.map(({ scriptPubKey }) => scriptPubKey).filter((script) => wanted.has(script)))
    },
    async unspentIn(scripts, { from, to }) {
      const { unspents } = await search(scripts, outputsSchema)
      return unspents
        .filter(({ height }) => height >= from && height <= to)
        .map(({ scriptPubKey: script, amount, coinbase: isCoinbase, ...place }) => {
          return { ...place, script, amountBase: baseUnits(amount), isCoinbase }
        })
    },
    async unspentAmounts(scripts, timeoutMs) {
      const { height, unspents } = await search(scripts, scannedSchema, timeoutMs)
      const held = new Map<string, { amountBase: bigint; outputs: number }>()
      for (const { scriptPubKey, amount } of unspents) {
        const sum = held.get(scriptPubKey) ?? { amountBase: 0n, outputs: 0 }
        held.set(scriptPubKey, { amountBase: sum.amountBase + baseUnits(amount), outputs: sum.outputs + 1 })
      }
      return { height, held }
    },
  }
}

/** Base units of an amount in coins. JSON numbers hold eight decimals exactly up to 2^53 base units; above, digits were lost. */
export function baseUnits(amount: number): bigint {
  const base = Math.round(amount * COIN)
  if (!Number.isSafeInteger(base)) throw new RpcFailure('refused', 'an amount lost digits on its way')
  return BigInt(base)
}
