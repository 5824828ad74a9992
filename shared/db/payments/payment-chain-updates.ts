import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { CHAIN_CURSORS } from '#shared/db/scanning/cursor-model.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Payment, PaymentRepository, UnconfirmedFate } from '#shared/ports/payments.ts'
import type { Random } from '#shared/ports/runtime.ts'
import { paymentFromDocument } from './payment-mapping.ts'
import type { PaymentDocument } from './payment-model.ts'
import { moveAll, ORPHANED } from './payment-scan-writes.ts'

/** What a chain does to payments that are stored already. */
type ChainMoves = Pick<
  PaymentRepository,
  | 'dueForConfirmation'
  | 'confirmThrough'
  | 'unconfirmed'
  | 'endUnconfirmed'
  | 'orphanAbove'
  | 'orphanStrangers'
  | 'listStrangers'
  | 'orphanRepeats'
  | 'placeFormer'
>

/** The part of the payment repository that confirms, ends and takes back, every write fenced by the scanner's epoch. */
export function createChainMoves(
  db: Database,
  payments: mongoose.mongo.Collection<PaymentDocument>,
  random: Random,
): ChainMoves {
  return {
    dueForConfirmation: async (scope) => (await payments.find(dueFilter(scope)).toArray()).map(paymentFromDocument),
    confirmThrough: async ({ mode, network, height, finalizedHeight, except = [], epoch, at }) => {
      const all = dueFilter({ mode, network, height, finalizedHeight })
      const due = except.length === 0 ? all : { ...all, key: { $nin: [...except] } }
      const found = await payments.find(due, { projection: { block: 1 } }).toArray()
      if (found.length === 0) return []
      const scanned = await scannedHashes(db, mode, network)
      const isStranger = ({ block }: (typeof found)[number]) =>
        block !== null && (scanned.get(block.height) ?? block.hash) !== block.hash
      const only = (rows: typeof found) => ({ ...due, _id: { $in: rows.map((row) => row._id) } })
      const sound = only(found.filter((row) => !isStranger(row)))
      const confirmed = { state: 'confirmed', confirmedAt: toDate(at) }
      return [
        ...(await moveAll(payments, random, sound, confirmed, epoch, at)),
        ...(await moveAll(payments, random, only(found.filter(isStranger)), ORPHANED, epoch, at)),
      ]
    },
    unconfirmed: async (mode, network) =>
      (await payments.find(unconfirmedFilter(mode, network)).toArray()).map(paymentFromDocument),
    endUnconfirmed: async ({ mode, network, fates, epoch, at }) => {
      const ended: Payment[] = []
      for (const { keys, change } of sameFates(fates)) {
        const filter = { ...unconfirmedFilter(mode, network), key: { $in: keys } }
        ended.push(...(await moveAll(payments, random, filter, change, epoch, at)))
      }
      return ended
    },
    orphanAbove: ({ mode, network, forkHeight, unconfirmedOnly = false, epoch, at }) => {
      const above: mongoose.mongo.Filter<PaymentDocument> = {
        kind: 'onchain',
        state: { $in: unconfirmedOnly ? ['detected'] : ['detected', 'confirmed'] },
        'block.height': { $gt: forkHeight },
      }
      return moveAll(payments, random, { ...above, network, mode }, ORPHANED, epoch, at)
    },
    orphanStrangers: async ({ epoch, at, ...scope }) =>
      scope.blocks.length === 0 ? [] : moveAll(payments, random, strangerFilter(scope), ORPHANED, epoch, at),
    listStrangers: async (scope) =>
      scope.blocks.length === 0 ? [] : (await payments.find(strangerFilter(scope)).toArray()).map(paymentFromDocument),
    orphanRepeats: async ({ mode, network, keys, confirmedToo = false, epoch, at }) => {
      if (keys.length === 0) return []
      const states: PaymentDocument['state'][] = confirmedToo ? ['detected', 'confirmed'] : ['detected']
      const repeats = { key: { $in: [...keys] }, state: { $in: states }, kind: 'onchain' as const }
      return moveAll(payments, random, { ...repeats, network, mode }, ORPHANED, epoch, at)
    },
    placeFormer: async (places) => {
      if (places.length === 0) return
      const operations = places.map(({ key, currentKey }) => ({
        updateOne: { filter: { key, currentKey: { $exists: false } }, update: { $set: { currentKey } } },
      }))
      await payments.bulkWrite(operations, { ordered: false })
    },
  }
}

/** Payments at the heights of these blocks, of which there is at least one, that stand in none of them. */
function strangerFilter(scope: Parameters<PaymentRepository['listStrangers']>[0]) {
  const { mode, network, from = Number.MAX_SAFE_INTEGER, confirmedToo = false, blocks } = scope
  const heights = blocks.map((block) => block.height)
  const states: PaymentDocument['state'][] = confirmedToo ? ['detected', 'confirmed'] : ['detected']
  return {
    network,
    mode,
    kind: 'onchain' as const,
    state: { $in: states },
    'block.height': { $gte: Math.min(from, ...heights), $lte: Math.max(...heights) },
    'block.hash': { $nin: blocks.map((block) => block.hash) },
  }
}

/** Unconfirmed payments that are deep enough, and final where they must be. */
function dueFilter(scope: Parameters<PaymentRepository['dueForConfirmation']>[0]) {
  const { mode, network, height, finalizedHeight } = scope
  return {
    network,
    mode,
    state: 'detected' as const,
    confirmAt: { $lte: height },
    $or: [{ needsFinality: { $ne: true } }, { 'block.height': { $lte: finalizedHeight ?? -1 } }],
  }
}

const unconfirmedFilter = (mode: Mode, network: NetworkId) => ({
  network,
  mode,
  state: 'detected' as const,
  confirmAt: null,
  kind: 'onchain' as const,
})

/** One change for all payments that end in the same way. */
function sameFates(fates: readonly UnconfirmedFate[]) {
  const groups = new Map<string, { keys: string[]; change: Readonly<Record<string, unknown>> }>()
  for (const fate of fates) {
    const replacedBy = fate.state === 'replaced' ? fate.replacedBy : null
    const group = groups.get(replacedBy ?? '') ?? { keys: [], change: { state: fate.state, replacedBy } }
    group.keys.push(fate.key)
    groups.set(replacedBy ?? '', group)
  }
  return groups.values()
}

/** Hashes by height of the blocks that the network's cursor remembers: the newest ones without gaps. */
async function scannedHashes(db: Database, mode: Mode, network: NetworkId): Promise<ReadonlyMap<number, string>> {
  const cursor = await db
    .collection(CHAIN_CURSORS)
    .findOne({ _id: `${mode}:${network}` }, { projection: { window: 1 } })
  return new Map(cursor?.window ?? [])
}
