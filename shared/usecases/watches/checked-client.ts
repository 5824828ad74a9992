import type { MempoolView, RawTransfer, ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import type { ChainClient, WatchIndex } from '#shared/ports/scanning.ts'

/**
 * The client with only transfers to watched addresses in its answers: where the index takes a stranger for a watch, the store decides before
 * anybody sees the transfer. Rejects when the store does not respond, so that the caller's cursor stays.
 */
export function checkedClient(client: ChainClient): ChainClient {
  const scan: ChainClient['scan'] = async (from, to, watches, ...rest) =>
    checkBlocks(await client.scan(from, to, watches, ...rest), watches)
  const mempool = async (watches: WatchIndex, outpoints: ReadonlySet<string>): Promise<MempoolView> => {
    const view = await client.mempool?.(watches, outpoints)
    if (view === undefined) throw new TypeError('the client has no mempool')
    return { ...view, transfers: onlyWatched(view.transfers, await watchedAmong(view.transfers, watches)) }
  }
  return new Proxy(client, {
    get(target, name) {
      if (name === 'scan') return scan
      if (name === 'mempool') return target.mempool === undefined ? undefined : mempool
      return Reflect.get(target, name)
    },
  })
}

async function checkBlocks(blocks: readonly ScannedBlock[], watches: WatchIndex): Promise<readonly ScannedBlock[]> {
  const watched = await watchedAmong(
    blocks.flatMap(({ transfers }) => transfers),
    watches,
  )
  return blocks.map((block) => ({ ...block, transfers: onlyWatched(block.transfers, watched) }))
}

/** Null where every transfer is to a watched address. */
async function watchedAmong(
  transfers: readonly RawTransfer[],
  watches: WatchIndex,
): Promise<ReadonlySet<string> | null> {
  if (watches.among === undefined || transfers.length === 0) return null
  return watches.among([...new Set(transfers.map(({ matchKey }) => matchKey))])
}

const onlyWatched = (transfers: readonly RawTransfer[], watched: ReadonlySet<string> | null): readonly RawTransfer[] =>
  watched === null ? transfers : transfers.filter(({ matchKey }) => watched.has(matchKey))
