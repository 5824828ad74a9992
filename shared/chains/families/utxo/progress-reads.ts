import { z } from 'zod'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { unlessRefused } from '../../nodes/unless-refused.ts'
import { wireList } from '../wire-list.ts'

/** Dogecoin Core 1.14 does not report whether it still downloads, and some providers report the tip alone: missing is not "no". */
const progressSchema = z.object({
  blocks: z.int().nonnegative(),
  bestblockhash: z.string().regex(/^[0-9a-f]{64}$/),
  headers: z.int().nonnegative().nullable().default(null),
  initialblockdownload: z.boolean().nullable().default(null),
  verificationprogress: z.number().nullable().default(null),
})
/** `synced_headers` is -1 before a peer has shown a header, and missing at some providers. */
const peersSchema = wireList(z.object({ conntime: z.int().nonnegative(), synced_headers: z.int().default(-1) }))

/** How much of the chain a node has. Null: not reported. `verified` is a share of 1. */
export interface ChainProgress {
  readonly blocks: number
  readonly hash: string
  readonly headers: number | null
  readonly isDownloading: boolean | null
  readonly verified: number | null
}

/** Calls that show how far a node is, and which peers send it new blocks. Each throws `RpcFailure` when it returns no usable response. */
export interface ProgressReads {
  progress(): Promise<ChainProgress>
  /** Number of its connections; null when the node or its provider does not report it. */
  peerCount(): Promise<number | null>
  /** Start of each connection, milliseconds of its own clock, and height of the headers that the peer has shown; null when it does not report them. */
  peers(): Promise<readonly { readonly since: number; readonly headers: number }[] | null>
  /** Start of its oldest connection, milliseconds of its own clock; null without one, and when it does not report it. */
  oldestPeerSince(): Promise<number | null>
}

/** These calls to one node. */
export function createProgressReads(call: RpcNode['call']): ProgressReads {
  const peers: ProgressReads['peers'] = async () => {
    const listed = await unlessRefused(call('getpeerinfo', [], peersSchema))
    return listed?.map(({ conntime, synced_headers: headers }) => ({ since: conntime * 1_000, headers })) ?? null
  }
  return {
    async progress() {
      const { blocks, bestblockhash, ...reported } = await call('getblockchaininfo', [], progressSchema)
      const { headers, initialblockdownload: isDownloading, verificationprogress: verified } = reported
      return { blocks, hash: bestblockhash, headers, isDownloading, verified }
    },
    peerCount: () => unlessRefused(call('getconnectioncount', [], z.int().nonnegative())),
    peers,
    async oldestPeerSince() {
      const all = (await peers()) ?? []
      return all.reduce<number | null>((oldest, { since }) => Math.min(oldest ?? since, since), null)
    },
  }
}
