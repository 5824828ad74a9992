import { z } from 'zod'
import { TIME_MAX_MS } from '../time-max.ts'
import { wireList } from '../wire-list.ts'

/** A number of at most 256 bits: what a node could write beyond that would only cost time. */
const quantity = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/)
const hash = z.string().regex(/^0x[0-9a-f]{64}$/)
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/)
/** The group captures nothing: with one that does, the pattern overflows the stack at 8 million characters. */
const bytes = z.string().regex(/^0x(?:[0-9a-fA-F]{2})*$/)
const height = quantity.transform(Number).refine(Number.isSafeInteger)
const seconds = height.refine((time) => time * 1_000 <= TIME_MAX_MS)

/** A block as `eth_getBlockByNumber(n, false)` returns it; the fields needed to check a chain of blocks. */
export const headerSchema = z.object({
  number: height,
  hash,
  parentHash: hash,
  timestamp: seconds,
  logsBloom: z.string().regex(/^0x[0-9a-f]{512}$/i),
})
export type Header = z.infer<typeof headerSchema>

/** A block with its transactions, `eth_getBlockByNumber(n, true)`. */
export const blockSchema = headerSchema.extend({
  transactions: wireList(
    z.object({
      hash,
      blockHash: hash,
      from: address,
      to: address.nullable().optional(),
      value: quantity,
    }),
  ),
})
export type Block = z.infer<typeof blockSchema>

/** A block with the ids of its transactions, `eth_getBlockByNumber(n, false)`. */
export const blockRefsSchema = headerSchema.extend({ transactions: wireList(hash) })

/** One event of a contract, `eth_getLogs`. */
export const logSchema = z.object({
  address,
  topics: wireList(hash),
  data: bytes,
  blockNumber: height,
  blockHash: hash,
  transactionHash: hash,
  transactionIndex: height,
  logIndex: height,
  removed: z.boolean().optional(),
})
export type Log = z.infer<typeof logSchema>

/** `eth_getLogs`. */
export const logsSchema = wireList(logSchema)

/** Success and cost in a receipt, `eth_getTransactionReceipt`; `status` is absent only before Byzantium. */
export const receiptSchema = z.object({
  transactionHash: hash,
  blockHash: hash,
  blockNumber: height.optional(),
  status: z.enum(['0x0', '0x1']),
  gasUsed: quantity.optional(),
  effectiveGasPrice: quantity.optional(),
  /** For transactions with blobs (EIP-4844). */
  blobGasUsed: quantity.optional(),
  blobGasPrice: quantity.optional(),
  /** The additional fee of an OP stack rollup for the layer below. */
  l1Fee: quantity.nullable().optional(),
})
export type Receipt = z.infer<typeof receiptSchema>

/** The same with its events. */
export const loggedReceiptSchema = receiptSchema.extend({ blockNumber: height, logs: logsSchema })

/** One transaction, `eth_getTransactionByHash`; its block is null while it waits. */
export const transactionSchema = z.object({
  hash,
  blockHash: hash.nullable(),
  from: address,
  to: address.nullable().optional(),
  value: quantity,
})

/** Returned bytes of `eth_call`. */
export const bytesSchema = bytes

/** Response of `eth_blockNumber`. */
export const heightSchema = height

/** An amount or another number that need not be exact in JavaScript. */
export const quantitySchema = quantity
