import type mongoose from 'mongoose'
import type { WalletRepository } from '#shared/ports/wallets.ts'
import type { KeyMaterialDocument } from './wallet-models.ts'

type KeyHistories = Pick<WalletRepository, 'recordUsedIndex' | 'endHistorySearch' | 'setStartIndex'>

/** The index that a key started at, hence the next one until an address is offered. */
const START = { $ifNull: ['$history.startIndex', 0] }

/** A history as it is; written whole, so that a change names every field. */
const KEPT = {
  state: '$history.state',
  waitingFor: '$history.waitingFor',
  searched: '$history.searched',
  lastUsedIndex: '$history.lastUsedIndex',
  startIndex: '$history.startIndex',
  givenIndex: '$history.givenIndex',
}

/** What becomes known of the use of keys before they were added. Each step is one conditional update that only raises indexes. */
export function keyHistories(materials: mongoose.mongo.Collection<KeyMaterialDocument>): KeyHistories {
  return {
    recordUsedIndex: async (materialId, index) => {
      const start = index + 1
      const behind = { _id: materialId, 'history.state': 'searching', 'history.startIndex': { $lt: start } } as const
      const { modifiedCount } = await materials.updateOne(behind, [
        {
          $set: {
            history: {
              ...KEPT,
              waitingFor: { $setUnion: ['$history.waitingFor', '$history.searched'] },
              searched: [],
              lastUsedIndex: index,
              startIndex: start,
            },
            ...raisedTo(start),
          },
        },
      ])
      return modifiedCount === 1
    },
    endHistorySearch: async (materialId, network, startIndex) => {
      const waiting = { _id: materialId, 'history.waitingFor': network, 'history.startIndex': startIndex }
      const others = { $filter: { input: '$history.waitingFor', cond: { $ne: ['$$this', network] } } }
      const { modifiedCount } = await materials.updateOne(waiting, [
        {
          $set: {
            history: {
              ...KEPT,
              state: { $cond: [{ $eq: [{ $size: others }, 0] }, 'known', 'searching'] },
              waitingFor: others,
              searched: { $setUnion: ['$history.searched', [network]] },
            },
          },
        },
      ])
      return modifiedCount === 1
    },
    setStartIndex: async (materialId, startIndex) => {
      const start = { $max: [startIndex, '$nextIndex', START] }
      // Nothing was offered while the key was searched, nor as long as the next index is the first one.
      const unoffered = [{ 'history.state': 'searching' as const }, { $expr: { $eq: ['$nextIndex', START] } }]
      const { matchedCount } = await materials.updateOne({ _id: materialId, kind: 'xpub', $or: unoffered }, [
        {
          $set: {
            history: {
              state: 'known',
              waitingFor: [],
              searched: { $ifNull: ['$history.searched', []] },
              lastUsedIndex: { $ifNull: ['$history.lastUsedIndex', null] },
              startIndex: start,
              givenIndex: { $literal: startIndex },
            },
            ...raisedTo(start),
          },
        },
      ])
      return matchedCount === 1
    },
  }
}

function raisedTo(start: unknown) {
  return { nextIndex: { $max: ['$nextIndex', start] }, reclaimFrom: { $max: ['$reclaimFrom', start] } }
}
