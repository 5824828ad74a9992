import { z } from 'zod'
import { ignoreUnclear } from '#shared/chains/nodes/ignore-unclear.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { type AssetFunds, type FeeFact, FUNDS_PAGE, type FundsReader } from '#shared/ports/funds.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import type { RpcPool } from '../../nodes/rpc-pool.ts'
import { wireList } from '../wire-list.ts'

/** Lamports per signature (docs.solana.com, "Transaction fees"); a priority fee is voluntary and not included. */
const SIGNATURE_FEE = 5_000n
/** Layout of a token account of the SPL Token program: mint, owner, then the amount as 64 bits (spl-token, `state.rs`). */
const AMOUNT_AT = 64
const AMOUNT_BYTES = 8
const CONCURRENCY = 4

const slot = z.int().nonnegative()
const context = z.object({ slot })
/** `getMultipleAccounts`: null for an account without coins. */
const accountsSchema = z.object({
  context,
  value: wireList(z.object({ lamports: z.int().nonnegative() }).nullable()),
})
/** `getTokenAccountsByOwner` with `encoding: 'base64'`. */
const holdingsSchema = z.object({
  value: wireList(z.object({ account: z.object({ data: z.tuple([z.base64(), z.literal('base64')]) }) })),
})

interface SolanaFundsOptions {
  readonly nativeAsset: AssetId
  readonly tokens: readonly { readonly asset: AssetId; readonly contract: string }[]
}

/**
 * Balances in finalized state: coins, and each accepted mint over all token accounts of the owner. Moving costs one signature, and a
 * second one where the owner has too few coins, so that another account pays.
 */
export function createSolanaFunds(pool: RpcPool<RpcNode>, { nativeAsset, tokens }: SolanaFundsOptions): FundsReader {
  const facts: readonly FeeFact[] = [{ name: 'signature_fee', value: SIGNATURE_FEE, unit: 'lamports' }]
  return {
    read(addresses) {
      if (addresses.length > FUNDS_PAGE) throw new RangeError(`${addresses.length} addresses in one reading`)
      return pool.use(async (node) => {
        const settings = { commitment: 'finalized', encoding: 'base64', dataSlice: { offset: 0, length: 0 } }
        const owners = addresses.map(({ address }) => address)
        const accounts = await node.call('getMultipleAccounts', [owners, settings], accountsSchema)
        const coinOf = (index: number): bigint | null => {
          const account = accounts.value[index]
          return account === undefined ? null : BigInt(account?.lamports ?? 0)
        }
        const rows = await mapConcurrently([...addresses.entries()], CONCURRENCY, async ([index, at]) => {
          const { matchKey, address } = at
          // A response of another length does not say which account is which.
          const coin = accounts.value.length === addresses.length ? coinOf(index) : null
          const native = {
            asset: nativeAsset,
            balanceBase: coin,
            feeBase: (coin ?? 0n) > 0n ? SIGNATURE_FEE : null,
            topUpBase: 0n,
          }
          const held: AssetFunds[] = [native]
          for (const { asset, contract } of tokens) {
            const balanceBase = await ignoreUnclear(holdingsOf(node, address, contract))
            held.push(tokenFunds(asset, balanceBase, coin))
          }
          return [matchKey, held] as const
        })
        return { height: accounts.context.slot, funds: new Map(rows), facts }
      })
    },
    fees: async () => ({
      perAsset: new Map([nativeAsset, ...tokens.map(({ asset }) => asset)].map((asset) => [asset, SIGNATURE_FEE])),
      facts,
    }),
  }
}

function tokenFunds(asset: AssetId, balanceBase: bigint | null, coin: bigint | null): AssetFunds {
  if (balanceBase === null || balanceBase === 0n || coin === null)
    return { asset, balanceBase, feeBase: null, topUpBase: 0n }
  const topUpBase = coin >= SIGNATURE_FEE ? 0n : SIGNATURE_FEE
  return { asset, balanceBase, feeBase: SIGNATURE_FEE + topUpBase, topUpBase }
}

/** Throws where an account has another layout, so that nothing is left out. */
async function holdingsOf(node: RpcNode, owner: string, mint: string): Promise<bigint> {
  const settings = { commitment: 'finalized', encoding: 'base64' }
  const { value } = await node.call('getTokenAccountsByOwner', [owner, { mint }, settings], holdingsSchema)
  return value.reduce((sum, { account }) => {
    const data = Buffer.from(account.data[0], 'base64')
    if (data.length < AMOUNT_AT + AMOUNT_BYTES) throw new NodeUnreliable('a token account of another layout')
    return sum + data.readBigUInt64LE(AMOUNT_AT)
  }, 0n)
}
