import { z } from 'zod'
import { TIME_MAX_MS } from '../time-max.ts'
import { wireList } from '../wire-list.ts'

const hash = z.string().regex(/^[0-9a-f]{64}$/)
/** The group captures nothing: with one that does, the pattern overflows the stack at 8 million characters. */
const bytes = z.string().regex(/^(?:[0-9a-f]{2})*$/)
const INT64_MAX = 2n ** 63n - 1n

/** An amount in sun: int64 in the protocol, and a string of digits where a JavaScript number could not hold it. */
const amount = z
  .union([z.int().nonnegative(), z.string().regex(/^\d{16,19}$/)])
  .transform(BigInt)
  .refine((value) => value <= INT64_MAX)

/** The response to every request for something that does not exist. */
const nothing = z.strictObject({}).transform(() => null)

/**
 * The block fields needed to check a chain of blocks, from any request that returns a block. Fields with the value 0 are
 * omitted (proto3): block 0 has neither number nor time.
 */
export const headerSchema = z.object({
  blockID: hash,
  block_header: z.object({
    raw_data: z.object({
      number: z.int().nonnegative().default(0),
      timestamp: z.int().nonnegative().max(TIME_MAX_MS).default(0),
      parentHash: hash,
    }),
  }),
})
export type Header = z.infer<typeof headerSchema>
export const maybeHeaderSchema = z.union([nothing, headerSchema])

const transaction = z.object({
  txID: hash,
  raw_data_hex: bytes,
  raw_data: z.object({
    contract: wireList(z.object({ type: z.string(), parameter: z.object({ value: z.unknown().optional() }) })).default(
      [],
    ),
  }),
  ret: wireList(z.object({ contractRet: z.string().optional() })).default([]),
})

export type Transaction = z.infer<typeof transaction>
/** One transaction, `gettransactionbyid`. */
export const maybeTransactionSchema = z.union([nothing, transaction])
/** How many transactions a block has, `gettransactioncountbyblocknum`; -1 for a block that the node does not have. */
export const countSchema = z.object({ count: z.int().min(-1) })

/** A block with its transactions, `getblockbynum`. */
export const blockSchema = headerSchema.extend({ transactions: wireList(transaction).default([]) })
export type Block = z.infer<typeof blockSchema>
export const maybeBlockSchema = z.union([nothing, blockSchema])
/** The newest block; without transactions while that is block 0, whose transactions have another form. */
export const newestSchema = z.union([blockSchema, headerSchema])
/** Blocks in their order, `getblockbylimitnext`. */
export const blocksSchema = z.object({ block: wireList(blockSchema).default([]) }).transform(({ block }) => block)

/** An account as requests with `visible: false` return it: 0x41 and the 20 bytes. */
export const accountPattern = /^41[0-9a-f]{40}$/

/** An account, `getaccount`; null when it was never activated. */
export const maybeAccountSchema = z.union([nothing, z.object({ address: z.string().regex(accountPattern) })])

/** An account with its balance in sun, which is omitted where it is 0 (proto3); `none` when it was never activated. */
export const fundedAccountSchema = z.union([
  z.strictObject({}).transform(() => 'none' as const),
  z.object({ address: z.string().regex(accountPattern), balance: amount.default(0n) }),
])

/** Prices that the chain's committee sets, `getchainparameters`, by name; sun. Entries without a value are 0 (proto3). */
export const chainParametersSchema = z
  .object({ chainParameter: wireList(z.object({ key: z.string(), value: z.int().default(0) })) })
  .refine(({ chainParameter }) => chainParameter.length > 0)
  .transform(
    ({ chainParameter }) =>
      new Map(chainParameter.filter(({ value }) => value >= 0).map(({ key, value }) => [key, BigInt(value)])),
  )

/** Parameters of a `TransferContract`: native coin from one account to another. */
export const transferContractSchema = z.object({
  owner_address: z.string().regex(accountPattern),
  to_address: z.string().regex(accountPattern),
  amount,
})

/** An event of a contract. The contract's address lacks the 0x41 of other addresses. */
const log = z.object({
  address: z.string().regex(/^(41)?[0-9a-f]{40}$/),
  topics: wireList(hash).default([]),
  data: bytes.default(''),
})
export type Log = z.infer<typeof log>

const internalTransaction = z.object({
  caller_address: z.string().optional(),
  transferTo_address: z.string().optional(),
  callValueInfo: wireList(z.object({ callValue: amount.default(0n), tokenId: z.string().default('') })).default([]),
  note: z.string().default(''),
  rejected: z.boolean().default(false),
})
export type InternalTransaction = z.infer<typeof internalTransaction>

const info = z.object({
  id: hash,
  blockNumber: z.int().nonnegative(),
  blockTimeStamp: z.int().nonnegative(),
  result: z.string().optional(),
  receipt: z.object({ result: z.string().optional() }).default({}),
  log: wireList(log).default([]),
  internal_transactions: wireList(internalTransaction).default([]),
})
/** Effects of a transaction, `gettransactioninfobyblocknum`. */
export type TransactionInfo = z.infer<typeof info>
export const infosSchema = wireList(info)
/** The same of one transaction, `gettransactioninfobyid`. */
export const maybeInfoSchema = z.union([nothing, info])

/** Response of `triggerconstantcontract`. `code` is absent on success. */
export const constantCallSchema = z.object({
  result: z.object({ result: z.boolean().default(false), code: z.string().default('SUCCESS') }),
  constant_result: wireList(bytes).default([]),
})
/** The same with the energy that the call took, its penalty included. */
export const measuredCallSchema = constantCallSchema.extend({ energy_used: z.int().positive().optional() })

/** Response of `getcontract`; empty where there is no contract. */
export const contractSchema = z.union([nothing, z.object({ contract_address: z.string() })])

/** Response of `broadcasthex`; the code is a name of `Return.response_code` (api.proto). */
export const broadcastSchema = z.object({ result: z.boolean().default(false), code: z.string().default('SUCCESS') })
