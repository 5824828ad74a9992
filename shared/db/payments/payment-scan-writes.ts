import type mongoose from 'mongoose'
import { toDate } from '#shared/db/connection/dates.ts'
import { bulkDuplicates } from '#shared/db/connection/duplicate-key.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { IN_FOLD } from '#shared/domain/invoice/fold-reading.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import {
  AmountContradicted,
  isSameMove,
  type ObservedTransfer,
  otherMoveKey,
  type Payment,
  ScannerFenced,
} from '#shared/ports/payments.ts'
import type { Random } from '#shared/ports/runtime.ts'
import { BY_KEY, blockToDocument, paymentFromDocument, unseenDocument } from './payment-mapping.ts'
import type { PaymentDocument } from './payment-model.ts'

type Payments = mongoose.mongo.Collection<PaymentDocument>
type Filter = mongoose.mongo.Filter<PaymentDocument>

/** What a scanner's writes need. */
interface ScanWrites {
  readonly payments: Payments
  readonly random: Random
}

/** Identity of one scanner write: its epoch, its time, and a token that marks the rows it changes. */
interface ScanWrite {
  readonly epoch: number
  readonly at: Ms
  readonly token: string
}

const DUPLICATE_RETRIES = 3

/** In no block any more; a block that contains it restores it. */
export const ORPHANED = { state: 'orphaned', block: null, confirmAt: null, confirmedAt: null }

/**
 * Upserts observations, each fenced by the epoch stored in its row. A newer holder's row does not match the filter and thus collides on
 * the unique key; that is the fence. A re-scan of known blocks changes nothing. A transaction that moves something else in
 * another block becomes a separate payment, under the key of `otherMoveKey`.
 */
export async function recordObservations(
  writes: ScanWrites,
  observations: readonly ObservedTransfer[],
  epoch: number,
  at: Ms,
): Promise<readonly Payment[]> {
  if (observations.length === 0) return []
  const { payments, random } = writes
  const write: ScanWrite = { epoch, at, token: random.uuid() }
  const stored = await upsert(writes, observations, write)
  const changed = stored.filter((row) => row.scanWrite === write.token).map(paymentFromDocument)
  const others = otherMoves(observations, stored)
  if (others.length === 0) return changed
  // The first one is in no block any more: it ends before the other one starts, so that they never count together.
  const ids = await idsUnderKeys(
    payments,
    others.map(({ observation }) => observation.key),
  )
  const undone: Filter = { _id: { $in: ids }, state: { $in: ['detected', 'confirmed'] } }
  for (const { mode, network } of others.slice(0, 1).map(({ observation }) => observation)) {
    changed.push(...(await moveAll(payments, random, { ...undone, mode, network }, ORPHANED, epoch, at)))
  }
  const renamed = others.map(({ observation, key }) => ({ ...observation, key }))
  return [...changed, ...(await recordObservations(writes, renamed, epoch, at))]
}

/** Ids of the payments under these keys. */
export async function idsUnderKeys(payments: Payments, keys: readonly string[]): Promise<string[]> {
  if (keys.length === 0) return []
  const found = await payments.find(BY_KEY.among(keys), { hint: BY_KEY.hint, projection: { _id: 1 } }).toArray()
  return found.map(({ _id }) => _id)
}

async function upsert(
  { payments, random }: ScanWrites,
  observations: readonly ObservedTransfer[],
  write: ScanWrite,
): Promise<readonly PaymentDocument[]> {
  const upserts = observations.map((observation) => ({
    key: observation.key,
    update: observationPipeline(observation, unseenDocument(observation, random.uuid(), write.at), write),
  }))
  const keys = observations.map(({ key }) => key)
  await upsertFenced(payments, upserts, write.epoch)
  return await payments.find(BY_KEY.among(keys), { hint: BY_KEY.hint }).toArray()
}

interface Upsert {
  readonly key: string
  readonly update: object[]
}

async function upsertFenced(payments: Payments, upserts: readonly Upsert[], epoch: number): Promise<void> {
  let left = upserts
  for (let round = 0; left.length > 0; round++) {
    const operations = left.map(({ key, update }) => ({
      updateOne: {
        filter: { ...BY_KEY.one(key), scanEpoch: { $lte: epoch } },
        update,
        upsert: true as const,
        hint: BY_KEY.hint,
      },
    }))
    try {
      await payments.bulkWrite(operations, { ordered: false })
      return
    } catch (error) {
      const duplicates = bulkDuplicates(error)
      if (duplicates === null) throw error
      const current = left
      left = duplicates.flatMap((index) => current[index] ?? [])
      const keys = left.map(({ key }) => key)
      // Two upserts of one holder may collide as well; only a newer epoch is a fence.
      const newer = await payments.findOne(
        { ...BY_KEY.among(keys), scanEpoch: { $gt: epoch } },
        { hint: BY_KEY.hint, projection: { _id: 1 } },
      )
      if (newer !== null || round >= DUPLICATE_RETRIES) {
        throw new ScannerFenced('a newer lease holder wrote these payments', { cause: error })
      }
    }
  }
}

/**
 * Observations that are not the payment stored under their key, with the key of each. What a contract pays, and to whom, may depend on the block
 * of its transaction, so in another block that is another payment. Throws when one block is reported with two
 * of them: either the key is not stable or a node is wrong, and neither may be credited.
 */
function otherMoves(
  observations: readonly ObservedTransfer[],
  stored: readonly PaymentDocument[],
): readonly { readonly observation: ObservedTransfer; readonly key: string }[] {
  const rows = new Map(stored.map((row) => [row.key, row]))
  return observations.flatMap((observation) => {
    const { key, block } = observation
    const row = rows.get(key)
    const first = row === undefined ? null : { ...row, amountBase: BigInt(row.amountBase) }
    if (first !== null && isSameMove(first, observation)) return []
    if (first !== null && block !== null && first.block?.hash !== block.hash) {
      return { observation, key: otherMoveKey(observation, first) }
    }
    throw new AmountContradicted(key, first, observation)
  })
}

/** Starts from the stored row, or from `unseen` when there is none, and changes only fields that the observation affects. */
function observationPipeline(observation: ObservedTransfer, unseen: PaymentDocument, write: ScanWrite): object[] {
  const { block, amountBase, matchKey, contract } = observation
  const moved = {
    $and: [
      // `isSameMove`.
      { $eq: ['$amountBase', { $literal: amountBase.toString() }] },
      { $eq: ['$matchKey', { $literal: matchKey }] },
      { $eq: ['$contract', { $literal: contract }] },
      {
        $or: [
          { $eq: ['$version', 0] },
          { $in: ['$state', ['orphaned', 'dropped', 'replaced']] },
          // A mempool view never removes a payment from its block; only a reorg does.
          ...(block === null ? [] : [{ $ne: ['$block.hash', { $literal: block.hash }] }]),
        ],
      },
    ],
  }
  const ifMoved = (value: unknown, otherwise: string) => ({ $cond: ['$moved', value, otherwise] })
  return [
    { $replaceWith: { $cond: [{ $eq: [{ $type: '$version' }, 'missing'] }, { $literal: unseen }, '$$ROOT'] } },
    { $set: { moved } },
    {
      $set: {
        state: ifMoved('detected', '$state'),
        block: block === null ? '$block' : ifMoved({ $literal: blockToDocument(block) }, '$block'),
        confirmAt:
          block === null ? '$confirmAt' : ifMoved({ $add: ['$requiredConfirmations', block.height - 1] }, '$confirmAt'),
        confirmedAt: ifMoved(null, '$confirmedAt'),
        bookedAt: bookedWhen({ $and: ['$moved', { $eq: ['$state', 'confirmed'] }] }, write),
        replacedBy: ifMoved(null, '$replacedBy'),
        scanEpoch: write.epoch,
        ...stampWhen('$moved', write),
      },
    },
    { $unset: 'moved' },
  ]
}

/** What is aside is read again when it changes; what a fold always reads stays where it is. */
export const PLACE_AFTER_CHANGE = { $cond: [{ $eq: ['$place', IN_FOLD] }, IN_FOLD, '$$REMOVE'] }

/** The times at which the payment began and ceased to be confirmed, with this one added when `condition` holds. */
const bookedWhen = (condition: unknown, write: ScanWrite) => ({
  $cond: [condition, { $concatArrays: ['$bookedAt', [toDate(write.at)]] }, '$bookedAt'],
})

/** Version, times and the sweep's hint, changed only when `condition` holds. Unmatched money has no invoice to be applied to. */
const stampWhen = (condition: unknown, write: ScanWrite) => ({
  version: { $cond: [condition, { $add: ['$version', 1] }, '$version'] },
  updatedAt: { $cond: [condition, toDate(write.at), '$updatedAt'] },
  scanWrite: { $cond: [condition, write.token, '$scanWrite'] },
  dirtyAt: {
    $cond: [
      { $and: [condition, { $ne: ['$invoiceId', null] }] },
      toDate(write.at),
      { $ifNull: ['$dirtyAt', '$$REMOVE'] },
    ],
  },
  place: { $cond: [condition, PLACE_AFTER_CHANGE, { $ifNull: ['$place', '$$REMOVE'] }] },
})

/**
 * Applies `change` to every payment that `filter` finds on one network, fenced by epoch; returns the changed rows.
 * Throws `ScannerFenced` when one of them carries a newer epoch.
 */
export async function moveAll(
  payments: Payments,
  random: Random,
  filter: Filter & { mode: Mode; network: NetworkId },
  change: Readonly<Record<string, unknown>>,
  epoch: number,
  at: Ms,
): Promise<readonly Payment[]> {
  const found = await payments.find(filter, { projection: { scanEpoch: 1 } }).toArray()
  if (found.length === 0) return []
  if (found.some((row) => row.scanEpoch > epoch)) throw new ScannerFenced('a newer lease holder wrote these payments')
  const write: ScanWrite = { epoch, at, token: random.uuid() }
  const ids = { _id: { $in: found.map((row) => row._id) } }
  await payments.updateMany({ ...filter, ...ids, scanEpoch: { $lte: epoch } }, [
    {
      $set: {
        ...change,
        bookedAt: bookedWhen({ $ne: [{ $eq: ['$state', 'confirmed'] }, change['state'] === 'confirmed'] }, write),
        scanEpoch: epoch,
        ...stampWhen(true, write),
      },
    },
  ])
  const moved = await payments.find({ ...ids, scanWrite: write.token }).toArray()
  return moved.map(paymentFromDocument)
}
