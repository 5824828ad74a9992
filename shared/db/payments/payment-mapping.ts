import { toDate, toDateOrNull, toMs, toMsOrNull } from '#shared/db/connection/dates.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Payment, PaymentBlock, PaymentSighting } from '#shared/ports/payments.ts'
import type { PaymentDocument } from './payment-model.ts'

/** A block position as stored. */
export const blockToDocument = (block: PaymentBlock): NonNullable<PaymentDocument['block']> => ({
  height: block.height,
  hash: block.hash,
  time: toDate(block.time),
  ...(block.rise !== undefined && { rise: block.rise }),
})

/** A stored payment with its amount as bigint and its times in milliseconds. */
export function paymentFromDocument(stored: PaymentDocument): Payment {
  const { _id, scanWrite: _scanWrite, dirtyAt, ...same } = stored
  return {
    ...same,
    id: _id,
    amountBase: BigInt(stored.amountBase),
    block: stored.block === null ? null : { ...stored.block, time: toMs(stored.block.time) },
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

/** A sighting as a payment of version 0 in no block: what the upsert starts from before it applies the block position. */
export function unseenDocument(sighting: PaymentSighting, id: string, at: Ms): PaymentDocument {
  return {
    _id: id,
    key: sighting.key,
    mode: sighting.mode,
    network: sighting.network,
    asset: sighting.asset,
    invoiceId: sighting.invoiceId,
    workspaceId: sighting.workspaceId,
    matchKey: sighting.matchKey,
    toAddress: sighting.toAddress,
    fromAddress: sighting.fromAddress,
    amountBase: sighting.amountBase.toString(),
    txHash: sighting.txHash,
    outputIndex: sighting.outputIndex,
    contract: sighting.contract,
    kind: 'onchain',
    state: 'detected',
    block: null,
    requiredConfirmations: sighting.requiredConfirmations,
    confirmAt: null,
    confirmedAt: null,
    needsFinality: sighting.needsFinality,
    spends: [...sighting.spends],
    replacedBy: null,
    firstSeenAt: toDate(sighting.firstSeenAt),
    version: 0,
    scanEpoch: 0,
    scanWrite: '',
    counted: false,
    uncountedReason: sighting.uncountedReason,
    late: false,
    opId: null,
    createdAt: toDate(at),
    updatedAt: toDate(at),
  }
}
