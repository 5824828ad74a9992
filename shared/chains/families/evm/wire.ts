import { z } from 'zod'

const quantity = z.string().regex(/^0x[0-9a-fA-F]+$/)
const hash = z.string().regex(/^0x[0-9a-f]{64}$/)
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/)
const bytes = z.string().regex(/^0x([0-9a-fA-F]{2})*$/)
const height = quantity.transform(Number)

/** A block as `eth_getBlockByNumber(n, false)` returns it; the fields needed to check a chain of blocks. */
export const headerSchema = z.object({
  number: height,
  hash,
  parentHash: hash,
  timestamp: height,
  logsBloom: z.string().regex(/^0x[0-9a-f]{512}$/i),
})
export type Header = z.infer<typeof headerSchema>

/** A block with its transactions, `eth_getBlockByNumber(n, true)`. */
export const blockSchema = headerSchema.extend({
  transactions: z.array(
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
export const blockRefsSchema = headerSchema.extend({ transactions: z.array(hash) })

/** One event of a contract, `eth_getLogs`. */
export const logSchema = z.object({
  address,
  topics: z.array(hash),
  data: bytes,
  blockNumber: height,
  blockHash: hash,
  transactionHash: hash,
  transactionIndex: height,
  logIndex: height,
  removed: z.boolean().optional(),
})
export type Log = z.infer<typeof logSchema>

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
export const loggedReceiptSchema = receiptSchema.extend({ blockNumber: height, logs: z.array(logSchema) })

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

/** One frame as `trace_block` returns it (OpenEthereum's form, also of Erigon, Nethermind, Reth and anvil), in order of execution. */
export const parityTraceSchema = z.object({
  type: z.string(),
  action: z.object({
    callType: z.string().optional(),
    from: address.optional(),
    to: address.nullable().optional(),
    value: quantity.optional(),
    /** For a self-destruct: the contract, the beneficiary, and the amount. */
    address: address.optional(),
    refundAddress: address.optional(),
    balance: quantity.optional(),
  }),
  result: z.object({ address: address.optional() }).nullable().optional(),
  error: z.string().nullable().optional(),
  traceAddress: z.array(z.int().nonnegative()),
  blockHash: hash,
  /** Null on rewards, which are not part of a transaction. */
  transactionHash: hash.nullable().optional(),
  transactionPosition: z.int().nonnegative().nullable().optional(),
})
export type ParityTrace = z.infer<typeof parityTraceSchema>

/** One frame of the `callTracer` (go-ethereum) with its calls, in order. */
export const callFrameSchema = z.object({
  type: z.string(),
  from: address,
  to: address.nullable().optional(),
  value: quantity.nullable().optional(),
  error: z.string().optional(),
  get calls() {
    return z.array(callFrameSchema).optional()
  },
})
export type CallFrame = z.infer<typeof callFrameSchema>

/** One transaction of `debug_traceBlockByNumber`; older nodes omit its hash. */
export const callTraceSchema = z.object({ txHash: hash.optional(), result: callFrameSchema })
export type CallTrace = z.infer<typeof callTraceSchema>
