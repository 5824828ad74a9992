import { createHash } from 'node:crypto'
import mongoose from 'mongoose'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ObservedTransfer, Payment, PaymentBlock } from '#shared/ports/payments.ts'
import { KEY_INDEX, PAYMENTS, type PaymentDocument } from './payment-model.ts'

/** A block position as stored. */
export const blockToDocument = (block: PaymentBlock): NonNullable<PaymentDocument['block']> => ({
  height: block.height,
  hash: block.hash,
  time: toDate(block.time),
  ...(block.increase !== undefined && { rise: block.increase }),
})

/** A stored block position. The balance increase is stored as `rise`, its name in the first release. */
const blockFromDocument = ({ height, hash, time, rise }: NonNullable<PaymentDocument['block']>): PaymentBlock => ({
  height,
  hash,
  time: toMs(time),
  ...(rise !== undefined && { increase: rise }),
})

/** A stored payment with its amount as bigint and its times in milliseconds. */
export function paymentFromDocument(stored: PaymentDocument): Payment {
  const { dirtyAt = null, ...same } = PAYMENTS.toRecord(stored)
  return { ...same, dirtyAt, block: stored.block === null ? null : blockFromDocument(stored.block) }
}

/** A whole payment as stored; for payments that no scanner writes. */
export function paymentToDocument({ block, dirtyAt, ...same }: Payment): PaymentDocument {
  return {
    ...PAYMENTS.toDocument({ ...same, block: null, ...(dirtyAt !== null && { dirtyAt }) }),
    keyDigest: paymentKeyDigest(same.key),
    block: block === null ? null : blockToDocument(block),
    scanWrite: '',
  }
}

/** An observation as a payment of version 0 in no block: the upsert starts from it and then applies the block position. */
export function unseenDocument(observation: ObservedTransfer, id: string, at: Ms): PaymentDocument {
  return {
    _id: id,
    key: observation.key,
    keyDigest: paymentKeyDigest(observation.key),
    mode: observation.mode,
    network: observation.network,
    asset: observation.asset,
    invoiceId: observation.invoiceId,
    workspaceId: observation.workspaceId,
    matchKey: observation.matchKey,
    toAddress: observation.toAddress,
    fromAddress: observation.fromAddress,
    amountBase: observation.amountBase.toString(),
    txHash: observation.txHash,
    outputIndex: observation.outputIndex,
    contract: observation.contract,
    kind: 'onchain',
    state: 'detected',
    block: null,
    requiredConfirmations: observation.requiredConfirmations,
    confirmAt: null,
    confirmedAt: null,
    bookedAt: [],
    needsFinality: observation.needsFinality,
    spends: [...observation.spends],
    replacedBy: null,
    firstSeenAt: toDate(observation.firstSeenAt),
    version: 0,
    scanEpoch: 0,
    scanWrite: '',
    counted: false,
    uncountedReason: observation.uncountedReason,
    late: false,
    opId: null,
    createdAt: toDate(at),
    updatedAt: toDate(at),
  }
}

// ';' follows ':' in ASCII.
const behind = (prefix: string) => ({ $gte: `${prefix}:`, $lt: `${prefix};` })

/** Filters that find payments by their transfer keys, and the index that must serve them. */
export const BY_KEY = {
  hint: KEY_INDEX,
  one: (key: string) => ({ keyDigest: paymentKeyDigest(key), key }),
  among: (keys: readonly string[]) => ({ keyDigest: { $in: keys.map(paymentKeyDigest) }, key: { $in: [...keys] } }),
  /** Keys that begin with this text and a colon. The text names at least a transaction, or the account of a balance increase. */
  beginningWith: (prefix: string) => ({ keyDigest: digestRange(prefix), key: behind(prefix) }),
}

/** Bytes that all keys of one transaction have in common, and bytes of the whole key behind them. */
const GROUP_BYTES = 8
const KEY_BYTES = 20
/**
 * The transaction in a transfer key, which is its first three parts; of a balance increase the account, which is the fourth
 * (`<mode>:<network>:d:0x<account>:…`). A shorter key is its own group.
 */
const GROUP = /^[^:]*(?::[^:]*)?(?::d:0x[^:]*|:[^:]*)?/

/**
 * The digest under which a payment is unique: 28 bytes, of which the first 8 come from SHA-256 of the key's transaction and the last 20
 * from SHA-256 of the whole key, so that the payments of a transaction lie side by side. Two keys of one transaction have equal
 * digests with a probability of 2^-160.
 */
export function paymentKeyDigest(key: string): mongoose.mongo.Binary {
  return new mongoose.mongo.Binary(Buffer.concat([groupBytes(key), sha256(key).subarray(0, KEY_BYTES)]))
}

/**
 * Bounds of the digests of all keys that begin with `prefix` and a colon, others of that transaction among them. The prefix names at
 * least the transaction, or the account of a balance increase.
 */
export function digestRange(prefix: string): { $gte: mongoose.mongo.Binary; $lte: mongoose.mongo.Binary } {
  const group = groupBytes(prefix)
  const bound = (byte: number) => new mongoose.mongo.Binary(Buffer.concat([group, Buffer.alloc(KEY_BYTES, byte)]))
  return { $gte: bound(0x00), $lte: bound(0xff) }
}

function groupBytes(key: string): Buffer {
  return sha256(GROUP.exec(key)?.[0] ?? '').subarray(0, GROUP_BYTES)
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
