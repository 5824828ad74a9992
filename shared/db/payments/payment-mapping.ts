import { toDate, toDateOrNull, toMs, toMsOrNull } from '#shared/db/connection/dates.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ObservedTransfer, Payment, PaymentBlock } from '#shared/ports/payments.ts'
import { paymentKeyDigest } from './payment-key-digest.ts'
import type { PaymentDocument } from './payment-model.ts'

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
  const { _id, keyDigest: _keyDigest, scanWrite: _scanWrite, dirtyAt, ...same } = stored
  return {
    ...same,
    id: _id,
    amountBase: BigInt(stored.amountBase),
    block: stored.block === null ? null : blockFromDocument(stored.block),
    confirmedAt: toMsOrNull(stored.confirmedAt),
    firstSeenAt: toMs(stored.firstSeenAt),
    dirtyAt: dirtyAt === undefined ? null : toMs(dirtyAt),
    createdAt: toMs(stored.createdAt),
    updatedAt: toMs(stored.updatedAt),
  }
}

/** A whole payment as stored; for payments that no scanner writes. */
export function paymentToDocument(payment: Payment): PaymentDocument {
  const { id, dirtyAt, ...same } = payment
  return {
    ...same,
    _id: id,
    keyDigest: paymentKeyDigest(payment.key),
    spends: [...payment.spends],
    amountBase: payment.amountBase.toString(),
    block: payment.block === null ? null : blockToDocument(payment.block),
    confirmedAt: toDateOrNull(payment.confirmedAt),
    firstSeenAt: toDate(payment.firstSeenAt),
    ...(dirtyAt !== null && { dirtyAt: toDate(dirtyAt) }),
    scanWrite: '',
    createdAt: toDate(payment.createdAt),
    updatedAt: toDate(payment.updatedAt),
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
