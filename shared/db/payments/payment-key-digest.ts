import { createHash } from 'node:crypto'
import mongoose from 'mongoose'

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
