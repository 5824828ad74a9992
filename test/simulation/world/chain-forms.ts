import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { AssetRow } from '#shared/chains/definitions/chain.ts'
import type { AssetId, Family } from '#shared/domain/enumerations.ts'
import { parseUnits } from '#shared/domain/money/money.ts'
import { callMoveKey } from './call-move-key.ts'
import type { Payout, SimTransfer } from './sim-transfer.ts'

/** A transaction whose transfers are named. */
interface NamedTransaction {
  /** `<mode>:<network>`. */
  readonly place: string
  readonly network: string
  readonly hash: string
  readonly payouts: readonly Payout[]
  readonly inside: boolean
}

/** How a family of chains spells hashes, heights and transfers. Written from the documents of its nodes, not with the product's code. */
export interface ChainForm {
  /** Hash of a block, by 32 bytes in hex that are its own. */
  blockHash(digest: string, height: number): string
  txHash(digest: string): string
  /** The block before the first one. */
  readonly before: string
  transfers(tx: NamedTransaction): SimTransfer[]
  /** Height by which nodes call the n-th block, and back; null for a height without a block. */
  heightOf(index: number): number
  indexOf(height: number): number | null
  /** Blocks carry times in these units, milliseconds. */
  readonly timeUnit: number
}

const same = (digest: string): string => digest
const NOTHING = '0'.repeat(64)

const plain = {
  blockHash: same,
  txHash: same,
  before: NOTHING,
  heightOf: (index: number) => index,
  indexOf: (height: number) => height,
  timeUnit: 1,
}

const partOf = (payout: Payout) => ({
  matchKey: payout.matchKey,
  toAddress: payout.address,
  asset: payout.asset,
  amountBase: payout.amountBase,
})

/** Coins have no contract, so that only they count as coins of an account. */
function contractOf(asset: AssetId | null): string | null {
  if (asset === null) return '0xfake'
  return /^usd[tc]_/.test(asset) ? `0x${asset}` : null
}

const evm: ChainForm = {
  ...plain,
  transfers: ({ place, network, hash, payouts, inside }) =>
    payouts.map((payout, index) => {
      const equals = payouts
        .slice(0, index)
        .filter((one) => one.matchKey === payout.matchKey && one.amountBase === payout.amountBase).length
      const key = inside ? callMoveKey(`${place}:${hash}`, payout, equals) : `${network}:${hash}:${index}`
      return { ...partOf(payout), key, contract: contractOf(payout.asset), outputIndex: null }
    }),
}

/** Outputs of one transaction to one address that stand for themselves. */
const OUTPUTS_MAX = 16
const BTC: AssetRow = ASSETS.btc_bitcoin
const DUST = parseUnits(BTC.dust, BTC.decimals)

/** All dust of a transaction to an address is one transfer, and so is everything behind the 16th output: under the first of them. */
const bitcoin: ChainForm = {
  ...plain,
  transfers: ({ network, hash, payouts }) => {
    const found: (SimTransfer & { amountBase: bigint })[] = []
    const own = new Map<string, number>()
    const summed = new Map<string, SimTransfer & { amountBase: bigint }>()
    for (const [index, payout] of payouts.entries()) {
      const { matchKey, amountBase } = payout
      const count = own.get(matchKey) ?? 0
      const isAlone = amountBase > DUST && count < OUTPUTS_MAX
      const sum = summed.get(matchKey)
      if (!isAlone && sum !== undefined) {
        sum.amountBase += amountBase
        continue
      }
      const one = { ...partOf(payout), key: `${network}:${hash}:${index}`, contract: null, outputIndex: index }
      found.push(one)
      if (isAlone) own.set(matchKey, count + 1)
      else summed.set(matchKey, one)
    }
    return found
  },
}

/** Ids of blocks begin with their height; those of transactions are the SHA-256 of their bytes. */
const tron: ChainForm = {
  ...plain,
  blockHash: (digest, height) => height.toString(16).padStart(16, '0') + digest.slice(16),
  txHash: (digest) => createHash('sha256').update(Buffer.from(digest, 'hex')).digest('hex'),
  transfers: ({ place, hash, payouts }) =>
    payouts.map((payout, index) => {
      const part = payout.asset === 'trx_tron' ? `c${index}` : `l${index}`
      return {
        ...partOf(payout),
        key: `${place}:${hash}:${part}`,
        contract: contractIn(payout.asset),
        outputIndex: null,
      }
    }),
}

/** Every fifth slot has no block. */
const SLOTS = 5

const bytesOf = (hex: string): Uint8Array => Buffer.from(hex, 'hex')

/** A transaction brings an owner one gain of each asset. Slots are skipped, and times are seconds. */
const solana: ChainForm = {
  blockHash: (digest) => base58.encode(bytesOf(digest)),
  txHash: (digest) => base58.encode(bytesOf(`${digest}${digest}`)),
  before: base58.encode(bytesOf(NOTHING)),
  transfers: ({ place, hash, payouts }) => {
    const gains = new Map<string, SimTransfer & { amountBase: bigint }>()
    for (const payout of payouts) {
      const owner = solanaAddress(payout.matchKey)
      const contract = contractIn(payout.asset)
      const key = `${place}:${hash}:${owner}:${contract ?? 'SOL'}`
      const gain = gains.get(key)
      if (gain === undefined) gains.set(key, { ...partOf(payout), toAddress: owner, key, contract, outputIndex: null })
      else gain.amountBase += payout.amountBase
    }
    return [...gains.values()]
  },
  heightOf: (index) => index + Math.floor(index / (SLOTS - 1)),
  indexOf: (height) => (height % SLOTS === SLOTS - 1 ? null : height - Math.floor(height / SLOTS)),
  timeUnit: 1_000,
}

/** An account of Solana by its match key, 32 bytes in hex. */
export const solanaAddress = (matchKey: string): string => base58.encode(bytesOf(matchKey))

const contractIn = (asset: AssetId | null): string | null => (asset === null ? null : ASSETS[asset].contract)

const FORMS: Partial<Record<Family, ChainForm>> = { bitcoin, evm, tron, solana }

/** The form of a family that the simulation has chains of. */
export function formOf(family: Family): ChainForm {
  const form = FORMS[family]
  if (form === undefined) throw new Error(`the simulation has no chains of ${family}`)
  return form
}
