import type { NetworkId } from '#shared/domain/enumerations.ts'

// Earlier use of keys, recorded step by step. Each step is one conditional update that only raises indexes.

/** The index that a key started at, which is the next one until an address is offered. */
const START = { $ifNull: ['$history.startIndex', 0] }

/** An unchanged history; written whole, so that a change sets every field. */
const KEPT = {
  state: '$history.state',
  waitingFor: '$history.waitingFor',
  searched: '$history.searched',
  lastUsedIndex: '$history.lastUsedIndex',
  startIndex: '$history.startIndex',
  givenIndex: '$history.givenIndex',
}

/** A searched key starts after a used index, and all its networks are searched again from there. */
export function foundUse(materialId: string, index: number) {
  const start = index + 1
  return {
    filter: { _id: materialId, 'history.state': 'searching' as const, 'history.startIndex': { $lt: start } },
    update: [
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
    ],
  }
}

/** The search on a network found no use from `startIndex` on; the whole search ends with the last network. */
export function endedSearch(materialId: string, network: NetworkId, startIndex: number) {
  const others = { $filter: { input: '$history.waitingFor', cond: { $ne: ['$$this', network] } } }
  return {
    filter: { _id: materialId, 'history.waitingFor': network, 'history.startIndex': startIndex },
    update: [
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
    ],
  }
}

/** An operator's start index replaces the search, never below a used or offered index. */
export function givenStart(materialId: string, startIndex: number) {
  const start = { $max: [startIndex, '$nextIndex', START] }
  // Nothing was offered while the key was searched, nor as long as the next index is the first one.
  const unoffered = [{ 'history.state': 'searching' as const }, { $expr: { $eq: ['$nextIndex', START] } }]
  return {
    filter: { _id: materialId, kind: 'xpub' as const, $or: unoffered },
    update: [
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
    ],
  }
}

function raisedTo(start: unknown) {
  return { nextIndex: { $max: ['$nextIndex', start] }, reclaimFrom: { $max: ['$reclaimFrom', start] } }
}
