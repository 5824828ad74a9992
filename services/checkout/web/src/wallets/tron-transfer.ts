/** A transaction of TRON as libraries write it. */
interface Transaction {
  readonly txID: string
  readonly raw_data: object
  readonly raw_data_hex: string
}

/** What the checkout prepares for a wallet that only signs. */
export interface PreparedTransfer {
  /** As wallets state it: 0x and eight hex digits. */
  readonly chainId: string
  readonly transaction: Transaction
}

const ID = /^[0-9a-f]{64}$/
const SIGNATURE = /^(?:0x)?[0-9a-f]{130}$/i

/** Reads what the checkout answered; null for anything else. */
export function readPrepared(text: string): PreparedTransfer | null {
  try {
    const { chainId, transaction } = JSON.parse(text) as Partial<PreparedTransfer>
    if (typeof chainId !== 'string' || typeof transaction?.raw_data_hex !== 'string') return null
    return ID.test(transaction.txID) ? { chainId, transaction } : null
  } catch {
    return null
  }
}

/**
 * The one signature of what a wallet returned, where it is of the transaction that it was given, byte for byte: the id is the hash of the
 * bytes, and the checkout checks the signature against them. Null for another recipient, contract, amount or end, and for no signature.
 */
export function signatureOf(transaction: Transaction, signed: unknown): string | null {
  const given = (signed ?? {}) as { readonly [Field in keyof Transaction]?: unknown } & { readonly signature?: unknown }
  if (given.raw_data_hex !== transaction.raw_data_hex || given.txID !== transaction.txID) return null
  if (!isEqual(given.raw_data, transaction.raw_data)) return null
  const [first, ...others] = Array.isArray(given.signature) ? (given.signature as readonly unknown[]) : []
  return others.length === 0 && typeof first === 'string' && SIGNATURE.test(first) ? first : null
}

/** Whether two values of JSON are the same; the order of an object's fields does not count. */
function isEqual(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other
  const [left, right] = [Object.entries(one), Object.entries(other)]
  return left.length === right.length && left.every(([key, value]) => isEqual(value, (other as never)[key]))
}
