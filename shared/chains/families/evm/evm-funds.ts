import { z } from 'zod'
import { ignoreUnclear } from '#shared/chains/nodes/ignore-unclear.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { type AssetFunds, type FeeFact, FUNDS_PAGE, type FundsReader } from '#shared/ports/funds.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { required } from '../../nodes/needs.ts'
import type { RpcPool } from '../../nodes/rpc-pool.ts'
import { createBalanceReader } from './balances.ts'
import { blockRef } from './block-scan.ts'
import type { EvmClientOptions, EvmToken } from './options.ts'
import { bytesSchema, headerSchema, quantitySchema } from './wire.ts'

/** Selectors of `balanceOf(address)`, `transfer(address,uint256)` and `approve(address,uint256)`, EIP-20. */
const BALANCE_SELECTOR = '0x70a08231'
const TRANSFER_SELECTOR = '0xa9059cbb'
const APPROVE_SELECTOR = '0x095ea7b3'
/** Selector of `getL1FeeUpperBound(uint256)` of an OP-stack chain's GasPriceOracle, from the Fjord upgrade on (specs.optimism.io). */
const L1_FEE_SELECTOR = '0xf1c7a58b'
/** Bytes of a signed token transfer, rounded up: what an OP-stack chain charges for on its base chain. */
const TRANSACTION_BYTES = 200n
/** An account without a key: what it would pay is what anybody pays. */
const NOBODY = '1'.repeat(40)
/**
 * Where no holder is known to measure a transfer: the gas of an approval, which anybody may give and which also fills one empty slot, and a third
 * for the second balance that a transfer changes. The node prices both by the rules of its own block: EIP-2780, 8037 and 8038 change them.
 */
const APPROVAL_PARTS = { transfer: 4n, approval: 3n } as const
/** Concurrent requests. */
const CONCURRENCY = 8
const WORD_CHARS = 66

const quantity = quantitySchema.transform(BigInt)

type Options = Pick<EvmClientOptions, 'chain' | 'chainId' | 'mode' | 'nativeAsset' | 'tokens'>

/**
 * Balances at the newest block and what moving them costs: gas price × gas, where the node estimates the gas; with the fee for
 * the base chain where the network's definition names its oracle.
 */
export function createEvmFunds(pool: RpcPool<RpcNode>, options: Options): FundsReader {
  const { nativeAsset, tokens, chain } = options
  const coins = createBalanceReader(chain.numbersAreParents)

  return {
    read(addresses) {
      if (addresses.length > FUNDS_PAGE) throw new RangeError(`${addresses.length} addresses in one reading`)
      return pool.use(async (node) => {
        // Nodes return their progress while they sync; only `false` means that they have the chain.
        await node.call('eth_syncing', [], z.literal(false))
        const head = await node.call('eth_getBlockByNumber', ['latest', false], headerSchema)
        const keys = addresses.map(({ matchKey }) => matchKey)
        const held = required(await coins.read(node, keys, blockRef(head)), 'state of its newest block')
        const pairs = keys.flatMap((key) => tokens.map((token) => ({ key, token })))
        const answers = await mapConcurrently(pairs, CONCURRENCY, ({ key, token }) =>
          balanceOf(node, { token, key, block: { blockHash: head.hash } }),
        )
        const tokenBalances = new Map(
          pairs.map(({ key, token }, index) => [`${key} ${token.asset}`, answers[index] ?? null]),
        )
        const prices = await readPrices(node, options, (token) => {
          const key = keys.find((one) => (tokenBalances.get(`${one} ${token.asset}`) ?? 0n) > 0n)
          return key === undefined ? null : { key, amount: tokenBalances.get(`${key} ${token.asset}`) ?? 0n }
        })
        const funds = keys.map((key): readonly [string, readonly AssetFunds[]] => {
          const coin = held.get(key) ?? null
          const rows = tokens.map(({ asset }) =>
            tokenFunds(asset, tokenBalances.get(`${key} ${asset}`) ?? null, coin, prices),
          )
          const isEmpty = coin === null || coin === 0n
          const native = { asset: nativeAsset, balanceBase: coin, feeBase: isEmpty ? null : prices.coin, topUpBase: 0n }
          return [key, [native, ...rows]]
        })
        return { height: head.number, funds: new Map(funds), facts: prices.facts }
      })
    },
    fees: () =>
      pool.use(async (node) => {
        const prices = await readPrices(node, options, () => null)
        const perToken = tokens.map(({ asset }) => [asset, prices.token(asset)] as const)
        return {
          perAsset: new Map<AssetId, bigint | null>([[nativeAsset, prices.coin], ...perToken]),
          facts: prices.facts,
        }
      }),
  }
}

interface Prices {
  /** Cost of moving coins, wei; null when it is unknown. */
  readonly coin: bigint | null
  token(asset: AssetId): bigint | null
  readonly facts: readonly FeeFact[]
}

type Holder = { readonly key: string; readonly amount: bigint }

/** Unknown prices hide no balance: a response that fails leaves its price open. */
async function readPrices(
  node: RpcNode,
  options: Options,
  holderOf: (token: EvmToken) => Holder | null,
): Promise<Prices> {
  const price = await ignoreUnclear(node.call('eth_gasPrice', [], quantity))
  const probe = { from: `0x${NOBODY}`, to: `0x${opposite(NOBODY)}`, value: '0x0' }
  const gas = await ignoreUnclear(node.call('eth_estimateGas', [probe], quantity))
  const extra = await baseChainFee(node, options)
  const cost = (amount: bigint | null) =>
    price === null || amount === null || extra === null ? null : price * amount + extra
  const measured = new Map<AssetId, bigint>()
  for (const token of options.tokens) {
    const holder = holderOf(token)
    const estimate = holder === null ? null : await ignoreUnclear(transferGas(node, token, holder))
    const known = estimate ?? (await ignoreUnclear(approvalGas(node, token)))
    if (known !== null) measured.set(token.asset, known)
  }
  const facts: FeeFact[] = []
  if (price !== null) facts.push({ name: 'gas_price', value: price, unit: 'wei' })
  if (gas !== null) facts.push({ name: 'transfer_gas', value: gas, unit: 'gas' })
  return { coin: cost(gas), token: (asset) => cost(measured.get(asset) ?? null), facts }
}

/** Zero where the network charges nothing of its own for its base chain; null when the oracle gave no number. */
async function baseChainFee(node: RpcNode, { chain, chainId, mode }: Options): Promise<bigint | null> {
  const oracle = chain.l1FeeOracle
  // A local chain has no such contract and charges nothing.
  if (oracle === undefined || chainId !== chain.chainIds?.[mode]) return 0n
  const data = `${L1_FEE_SELECTOR}${TRANSACTION_BYTES.toString(16).padStart(64, '0')}`
  const answer = await ignoreUnclear(node.call('eth_call', [{ to: oracle, data }, 'latest'], bytesSchema))
  return answer === null || answer.length !== WORD_CHARS ? null : BigInt(answer)
}

function tokenFunds(asset: AssetId, balanceBase: bigint | null, coin: bigint | null, prices: Prices): AssetFunds {
  const own = prices.token(asset)
  const unknown = { asset, balanceBase, feeBase: null, topUpBase: 0n }
  if (balanceBase === null || balanceBase === 0n || own === null || coin === null) return unknown
  const topUpBase = coin >= own ? 0n : prices.coin
  return topUpBase === null ? unknown : { asset, balanceBase, feeBase: own + topUpBase, topUpBase }
}

/** Null when the node gave no number. */
async function balanceOf(
  node: RpcNode,
  { token, key, block }: { readonly token: EvmToken; readonly key: string; readonly block: object },
): Promise<bigint | null> {
  const data = `${BALANCE_SELECTOR}${key.padStart(64, '0')}`
  const answer = await ignoreUnclear(node.call('eth_call', [{ to: token.contract, data }, block], bytesSchema))
  return answer === null || answer.length !== WORD_CHARS ? null : BigInt(answer)
}

/** Gas of moving all of a token to an address that has none: the most that it takes. */
function transferGas(node: RpcNode, { contract }: EvmToken, { key, amount }: Holder): Promise<bigint> {
  const data = `${TRANSFER_SELECTOR}${opposite(key).padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`
  return node.call('eth_estimateGas', [{ from: `0x${key}`, to: contract, data }], quantity)
}

async function approvalGas(node: RpcNode, { contract }: EvmToken): Promise<bigint> {
  const data = `${APPROVE_SELECTOR}${opposite(NOBODY).padStart(64, '0')}${'1'.padStart(64, '0')}`
  const gas = await node.call('eth_estimateGas', [{ from: `0x${NOBODY}`, to: contract, data }], quantity)
  return (gas * APPROVAL_PARTS.transfer) / APPROVAL_PARTS.approval
}

/** An account that nobody has: the other 160 bits of this one. */
function opposite(key: string): string {
  return (BigInt(`0x${key}`) ^ (2n ** 160n - 1n)).toString(16).padStart(40, '0')
}
