import { createHash } from 'node:crypto'
import { z } from 'zod'
import { encodeMessage } from '#shared/chains/families/tron/protobuf.ts'

const text = z.string()

/** An event: contract and topics without `0x` and without the 0x41 of accounts. */
const log = z.object({ address: text, topics: z.array(text).readonly(), data: text }).readonly()

/** Coins moved inside a contract call. Accounts are 21 bytes in hex; amounts are digits; `note` is text such as `call`. */
const internalTransfer = z
  .object({
    ...{ from: text, to: text, amount: text, note: text },
    tokenId: text.exactOptional(),
    rejected: z.boolean().exactOptional(),
  })
  .readonly()

const body = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('transfer'), owner: text, to: text, amount: text }).readonly(),
  z.object({ kind: z.literal('call'), owner: text, contract: text, data: text }).readonly(),
])

const outcome = z
  .object({
    /** As `Transaction.Result.contractResult`. */
    result: z.enum(['SUCCESS', 'REVERT', 'OUT_OF_ENERGY']),
    logs: z.array(log).readonly(),
    internals: z.array(internalTransfer).readonly(),
  })
  .readonly()

/** A transaction as stored by the node. */
export const tronTransaction = z
  .object({
    body,
    outcome,
    /** Milliseconds. */
    timestamp: z.int(),
    refBlockBytes: text,
    refBlockHash: text,
    /** When it ends, milliseconds; absent where this node made it, which gives it a minute. */
    expiration: z.int().exactOptional(),
    /** Hex; absent where this node made it, which needs none. */
    signature: text.exactOptional(),
  })
  .readonly()

/** The request of a transaction. Accounts are 21 bytes in hex, amounts digits. */
export type TransactionBody = z.output<typeof body>

/** Effects of a transaction when it is mined. */
export type TransactionOutcome = z.output<typeof outcome>

/** One transaction as stored by the node; its id follows from everything but the outcome. */
export type TronTransaction = z.output<typeof tronTransaction>

/** How long after its creation a transaction may be mined, milliseconds; java-tron's default. */
const EXPIRATION_MS = 60_000
const FEE_LIMIT = 100_000_000n
const TYPES = {
  transfer: { name: 'TransferContract', number: 1n },
  call: { name: 'TriggerSmartContract', number: 31n },
} as const

const bytes = (hex: string) => Buffer.from(hex, 'hex')
const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest('hex')

/** Bytes of `Transaction.raw` (Tron.proto) as hex. */
export function rawDataHex(transaction: Omit<TronTransaction, 'outcome'>): string {
  const { body, timestamp, refBlockBytes, refBlockHash } = transaction
  const { name, number } = TYPES[body.kind]
  const value =
    body.kind === 'transfer'
      ? encodeMessage([
          [1, bytes(body.owner)],
          [2, bytes(body.to)],
          [3, BigInt(body.amount)],
        ])
      : encodeMessage([
          [1, bytes(body.owner)],
          [2, bytes(body.contract)],
          [4, bytes(body.data)],
        ])
  const parameter = encodeMessage([
    [1, Buffer.from(typeUrl(name))],
    [2, value],
  ])
  const raw = encodeMessage([
    [1, bytes(refBlockBytes)],
    [4, bytes(refBlockHash)],
    [8, BigInt(endOf(transaction))],
    [
      11,
      encodeMessage([
        [1, number],
        [2, parameter],
      ]),
    ],
    [14, BigInt(timestamp)],
    [18, body.kind === 'call' ? FEE_LIMIT : 0n],
  ])
  return Buffer.from(raw).toString('hex')
}

const endOf = ({ timestamp, expiration }: Pick<TronTransaction, 'timestamp' | 'expiration'>): number =>
  expiration ?? timestamp + EXPIRATION_MS

/** Transaction id: SHA-256 of the raw data. */
export function transactionId(transaction: TronTransaction): string {
  return sha256(bytes(rawDataHex(transaction)))
}

/** The transaction as in blocks and `gettransactionbyid`; before it is mined it has no `ret`. */
export function transactionJson(transaction: TronTransaction, mined: boolean): Readonly<Record<string, unknown>> {
  const { body, timestamp, refBlockBytes, refBlockHash, outcome } = transaction
  const { name } = TYPES[body.kind]
  const value =
    body.kind === 'transfer'
      ? { amount: BigInt(body.amount), owner_address: body.owner, to_address: body.to }
      : { data: body.data, owner_address: body.owner, contract_address: body.contract }
  return {
    ...(mined ? { ret: [{ contractRet: outcome.result }], signature: [transaction.signature ?? '0'.repeat(130)] } : {}),
    txID: transactionId(transaction),
    raw_data: {
      contract: [{ parameter: { value, type_url: typeUrl(name) }, type: name }],
      ref_block_bytes: refBlockBytes,
      ref_block_hash: refBlockHash,
      expiration: endOf(transaction),
      ...(body.kind === 'call' ? { fee_limit: Number(FEE_LIMIT) } : {}),
      timestamp,
    },
    raw_data_hex: rawDataHex(transaction),
  }
}

/** The effects of the transaction, as in `gettransactioninfobyblocknum`. */
export function infoJson(
  transaction: TronTransaction,
  block: { readonly number: number; readonly time: number },
): Readonly<Record<string, unknown>> {
  const { body, outcome } = transaction
  const id = transactionId(transaction)
  const shared = { id, blockNumber: block.number, blockTimeStamp: block.time }
  if (body.kind === 'transfer') return { ...shared, contractResult: [''], receipt: { net_usage: 268 } }
  const failed = outcome.result !== 'SUCCESS'
  return {
    ...shared,
    ...(failed ? { fee: Number(FEE_LIMIT), result: 'FAILED', resMessage: hexText(outcome.result) } : {}),
    contractResult: [failed ? '' : '1'.padStart(64, '0')],
    contract_address: body.contract,
    receipt: { energy_usage_total: 64_285, net_usage: 345, result: outcome.result },
    ...(failed || outcome.logs.length === 0 ? {} : { log: outcome.logs }),
    ...(outcome.internals.length === 0
      ? {}
      : { internal_transactions: outcome.internals.map((entry, index) => internalJson(entry, `${id}${index}`)) }),
  }
}

function internalJson(entry: z.output<typeof internalTransfer>, seed: string): Readonly<Record<string, unknown>> {
  const { from, to, amount, note, tokenId, rejected } = entry
  return {
    hash: sha256(Buffer.from(seed)),
    caller_address: from,
    transferTo_address: to,
    callValueInfo: [
      { ...(amount === '0' ? {} : { callValue: BigInt(amount) }), ...(tokenId === undefined ? {} : { tokenId }) },
    ],
    note: hexText(note),
    ...(rejected === true ? { rejected } : {}),
  }
}

function typeUrl(name: string): string {
  return `type.googleapis.com/protocol.${name}`
}

function hexText(text: string): string {
  return Buffer.from(text, 'ascii').toString('hex')
}
