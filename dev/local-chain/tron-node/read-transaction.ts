import { createHash } from 'node:crypto'
import { signingAccount } from '#shared/chains/families/evm/address.ts'
import type { TransactionBody, TronTransaction } from './transaction.ts'

/** A transaction in the form in which wallets send it, with what the bytes say. */
export interface ReceivedTransaction {
  readonly body: TransactionBody
  readonly raw: Omit<TronTransaction, 'body' | 'outcome'>
  /** `Transaction.raw` as hex. */
  readonly rawHex: string
  /** The account whose key signed, 21 bytes in hex; null for a signature of no account. */
  readonly signer: string | null
}

type Value = bigint | Uint8Array
const VARINT = 0
const LENGTH_DELIMITED = 2
const SIGNATURE_BYTES = 65
const CONTRACTS = { coin: 1n, token: 31n } as const

/** Reads a signed `Transaction` (Tron.proto) from hex. Null for bytes that are no transfer or call with exactly one signature. */
export function readTransaction(hex: string): ReceivedTransaction | null {
  try {
    const fields = readMessage(Buffer.from(hex, 'hex'))
    const rawBytes = only(fields, 1)
    const signature = only(fields, 2)
    const raw = readMessage(bytes(rawBytes))
    const contract = readMessage(bytes(only(raw, 11)))
    const parameter = readMessage(bytes(only(contract, 2)))
    const value = readMessage(bytes(only(parameter, 2)))
    const body = bodyOf(number(only(contract, 1)), value)
    if (body === null || bytes(signature).length !== SIGNATURE_BYTES) return null
    const hash = createHash('sha256').update(bytes(rawBytes)).digest()
    const account = signingAccount(hash, bytes(signature))
    return {
      body,
      raw: {
        refBlockBytes: hexOf(only(raw, 1)),
        refBlockHash: hexOf(only(raw, 4)),
        expiration: Number(number(only(raw, 8))),
        timestamp: Number(number(raw.get(14)?.[0] ?? 0n)),
        signature: hexOf(signature),
      },
      rawHex: hexOf(rawBytes),
      signer: account === null ? null : `41${account}`,
    }
  } catch {
    return null
  }
}

function bodyOf(type: bigint, value: ReadonlyMap<number, readonly Value[]>): TransactionBody | null {
  const owner = hexOf(only(value, 1))
  if (type === CONTRACTS.coin) {
    return { kind: 'transfer', owner, to: hexOf(only(value, 2)), amount: number(only(value, 3)).toString() }
  }
  if (type !== CONTRACTS.token) return null
  return { kind: 'call', owner, contract: hexOf(only(value, 2)), data: hexOf(only(value, 4)) }
}

/** Fields of a message by number, each with all its values. Throws a RangeError for bytes that are none. */
function readMessage(message: Uint8Array): ReadonlyMap<number, readonly Value[]> {
  const fields = new Map<number, Value[]>()
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at]
      if (byte === undefined || shift > 63n) throw new RangeError('the message ends too early')
      at += 1
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < message.length) {
    const tag = Number(varint())
    const [field, type] = [tag >> 3, tag & 7]
    if (type !== VARINT && type !== LENGTH_DELIMITED) throw new RangeError(`fields of type ${type} are not read`)
    let value: Value = varint()
    if (type === LENGTH_DELIMITED) {
      const end = at + Number(value)
      if (end > message.length) throw new RangeError('a field is longer than its message')
      value = message.subarray(at, end)
      at = end
    }
    fields.set(field, [...(fields.get(field) ?? []), value])
  }
  return fields
}

function only(fields: ReadonlyMap<number, readonly Value[]>, field: number): Value {
  const [value, ...others] = fields.get(field) ?? []
  if (value === undefined || others.length > 0) throw new RangeError(`field ${field} is not there once`)
  return value
}

function bytes(value: Value): Uint8Array {
  if (typeof value === 'bigint') throw new RangeError('a number instead of bytes')
  return value
}

function number(value: Value): bigint {
  if (typeof value !== 'bigint') throw new RangeError('bytes instead of a number')
  return value
}

const hexOf = (value: Value): string => Buffer.from(bytes(value)).toString('hex')
