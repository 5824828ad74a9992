import { toDate, toMs } from '#shared/db/connection/dates.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ObservedTransfer, Payment, PaymentBlock } from '#shared/ports/payments.ts'
import { paymentKeyDigest } from './payment-key-digest.ts'
import { PAYMENTS, type PaymentDocument } from './payment-model.ts'

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
