import { ignoreUnclear } from '#shared/chains/nodes/ignore-unclear.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { type AssetFunds, type FeeFact, FUNDS_PAGE, type FundsReader } from '#shared/ports/funds.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import type { RpcPool } from '../../nodes/rpc-pool.ts'
import { parseAccount } from './address.ts'
import type { TronNode } from './api.ts'
import { refOf } from './head.ts'
import { balanceOf } from './used-accounts.ts'
import type { TronToken } from './verify-tokens.ts'
import { chainParametersSchema, fundedAccountSchema, headerSchema, measuredCallSchema } from './wire.ts'

/** Bytes of bandwidth of a transfer of TRX and of a token, rounded up (developers.tron.network, "Resource model"). */
const TRANSFER_BYTES = 270n
const TOKEN_BYTES = 350n
/** Energy of a USDT transfer to an address that has none, where no holder is known to measure one. */
const TOKEN_ENERGY = 130_285n
/** Concurrent requests; public nodes are rate-limited as well. */
const CONCURRENCY = 4

/** Settings of the reader. */
export interface TronFundsOptions {
  readonly nativeAsset: AssetId
  readonly tokens: readonly TronToken[]
}

/**
 * Balances and what moving them costs when every byte and every unit of energy is burned at the chain's present prices:
 * staked or free resources of an account make it cheaper.
 */
export function createTronFunds(pool: RpcPool<TronNode>, { nativeAsset, tokens }: TronFundsOptions): FundsReader {
  return {
    read(addresses) {
      if (addresses.length > FUNDS_PAGE) throw new RangeError(`${addresses.length} addresses in one reading`)
      return pool.use(async (node) => {
        // Accounts have no block of their own: read before them, the head is at most theirs, so a node that is behind shows it.
        const { height } = refOf(await node.call('wallet/getnowblock', {}, headerSchema))
        const keys = addresses.map(({ matchKey }) => matchKey)
        const accounts = await mapConcurrently(keys, CONCURRENCY, (key) => readAccount(node, key))
        const held = await mapConcurrently(keys, CONCURRENCY, (key) =>
          mapConcurrently(tokens, 1, (token) => ignoreUnclear(balanceOf(node, token, key))),
        )
        const prices = await readPrices(node, tokens, (at) => {
          const index = held.findIndex((balances) => (balances[at] ?? 0n) > 0n)
          return index < 0 ? null : { key: keys[index] ?? '', amount: held[index]?.[at] ?? 0n }
        })
        const funds = keys.map((key, index): readonly [string, readonly AssetFunds[]] => {
          const account = accounts[index] ?? null
          const coin = account?.balance ?? null
          const isEmpty = coin === null || coin === 0n
          const native = { asset: nativeAsset, balanceBase: coin, feeBase: isEmpty ? null : prices.coin, topUpBase: 0n }
          const rows = tokens.map(({ asset }, at) => tokenFunds(asset, held[index]?.[at] ?? null, account, prices))
          return [key, [native, ...rows]]
        })
        // The first refusal of all accounts is the node's own failure.
        if (accounts.every((account) => account === null) && keys.length > 0)
          throw new NodeUnreliable('the node shows none of the accounts')
        return { height, funds: new Map(funds), facts: prices.facts }
      })
    },
    fees: () =>
      pool.use(async (node) => {
        const prices = await readPrices(node, tokens, () => null)
        const perToken = tokens.map(({ asset }) => [asset, prices.token(asset)] as const)
        return {
          perAsset: new Map<AssetId, bigint | null>([[nativeAsset, prices.coin], ...perToken]),
          facts: prices.facts,
        }
      }),
  }
}

interface Account {
  /** Sun; zero without an account. */
  readonly balance: bigint
  readonly exists: boolean
}

interface Prices {
  /** Cost of moving TRX from an account, sun; null when it is unknown. */
  readonly coin: bigint | null
  /** What sending TRX to an address without an account costs more. */
  readonly activation: bigint | null
  token(asset: AssetId): bigint | null
  readonly facts: readonly FeeFact[]
}

/** Null when the node gave no clear response. */
async function readAccount(node: TronNode, key: string): Promise<Account | null> {
  const address = `41${key}`
  const found = await ignoreUnclear(node.call('wallet/getaccount', { address }, fundedAccountSchema))
  if (found === null) return null
  if (found === 'none') return { balance: 0n, exists: false }
  return found.address === address ? { balance: found.balance, exists: true } : null
}

async function readPrices(
  node: TronNode,
  tokens: readonly TronToken[],
  holderOf: (at: number) => { readonly key: string; readonly amount: bigint } | null,
): Promise<Prices> {
  const answer = await ignoreUnclear(node.call('wallet/getchainparameters', {}, chainParametersSchema))
  const of = (name: string) => answer?.get(name) ?? null
  const [energy, bandwidth] = [of('getEnergyFee'), of('getTransactionFee')]
  const [creation, record] = [of('getCreateNewAccountFeeInSystemContract'), of('getCreateAccountFee')]
  const costs = new Map<AssetId, bigint>()
  for (const [at, token] of tokens.entries()) {
    const holder = holderOf(at)
    const measured = holder === null ? null : await ignoreUnclear(transferEnergy(node, token, holder))
    if (energy !== null && bandwidth !== null)
      costs.set(token.asset, (measured ?? TOKEN_ENERGY) * energy + TOKEN_BYTES * bandwidth)
  }
  const facts: FeeFact[] = []
  if (energy !== null) facts.push({ name: 'energy_price', value: energy, unit: 'sun' })
  if (bandwidth !== null) facts.push({ name: 'bandwidth_price', value: bandwidth, unit: 'sun' })
  return {
    coin: bandwidth === null ? null : TRANSFER_BYTES * bandwidth,
    activation: creation === null || record === null ? null : creation + record,
    token: (asset) => costs.get(asset) ?? null,
    facts,
  }
}

function tokenFunds(asset: AssetId, balanceBase: bigint | null, account: Account | null, prices: Prices): AssetFunds {
  const own = prices.token(asset)
  const unknown = { asset, balanceBase, feeBase: null, topUpBase: 0n }
  if (balanceBase === null || balanceBase === 0n || own === null || account === null) return unknown
  if (account.balance >= own) return { ...unknown, feeBase: own }
  // The coins for the fee come from elsewhere, and create the account if there is none.
  const { coin, activation } = prices
  if (coin === null || (!account.exists && activation === null)) return unknown
  const topUpBase = coin + (account.exists ? 0n : (activation ?? 0n))
  return { ...unknown, feeBase: own + topUpBase, topUpBase }
}

/** Energy of moving all of a token to an address that has none: the most that it takes. Includes the penalty of busy contracts. */
async function transferEnergy(
  node: TronNode,
  { asset, contract }: TronToken,
  { key, amount }: { readonly key: string; readonly amount: bigint },
): Promise<bigint> {
  const to = (BigInt(`0x${key}`) ^ (2n ** 160n - 1n)).toString(16).padStart(64, '0')
  const { result, energy_used: energy } = await node.call(
    'wallet/triggerconstantcontract',
    {
      owner_address: `41${key}`,
      contract_address: `41${parseAccount(contract)}`,
      function_selector: 'transfer(address,uint256)',
      parameter: to + amount.toString(16).padStart(64, '0'),
    },
    measuredCallSchema,
  )
  if (!result.result || energy === undefined) throw new NodeUnreliable(`transfer() of ${asset}: ${result.code}`)
  return BigInt(energy)
}
