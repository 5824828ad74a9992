import { digestRange, paymentKeyDigest } from './payment-key-digest.ts'
import { KEY_INDEX } from './payment-model.ts'

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
