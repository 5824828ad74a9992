import type { CoreNode } from './core-rpc.ts'

/**
 * Time allowed for reloading the saved mempool, in milliseconds, on a node that does not report it. A full mempool of
 * 300 MB takes a few minutes; Dogecoin's holds some thousand transactions.
 */
const LOAD_MS = 600_000

/** Calls that show whether a node has reloaded its mempool. */
export type LoadNode = Pick<CoreNode, 'mempoolLoaded' | 'uptimeMs' | 'traffic' | 'oldestPeerSince'>

interface Contact {
  /** First response since the node's last known start, in milliseconds of `now`. */
  readonly since: number
  readonly receivedBytes: number
}

/**
 * Whether a node has reloaded the mempool of its last run. Before that, a missing transaction proves nothing.
 *
 * | the node reports | its mempool counts as read |
 * |---|---|
 * | `getmempoolinfo.loaded` | when that is true |
 * | `uptime` | after 10 minutes |
 * | neither (Dogecoin Core 1.14) | when one of its connections is older than 10 minutes by its own clock, or 10 minutes after its first response to this process |
 *
 * `getnettotals`, which counts from the start, shows a restart in between: the 10 minutes then begin again.
 */
export function createLoadWatch(now: () => number = () => performance.now()): (node: LoadNode) => Promise<boolean> {
  const contacts = new WeakMap<LoadNode, Contact>()

  async function hasRunLong(node: LoadNode): Promise<boolean> {
    const traffic = await node.traffic()
    const receivedBytes = traffic?.receivedBytes ?? 0
    const before = contacts.get(node)
    const isSameRun = before !== undefined && receivedBytes >= before.receivedBytes
    const since = isSameRun ? before.since : now()
    contacts.set(node, { since, receivedBytes })
    if (now() - since >= LOAD_MS) return true
    const peerSince = traffic === null ? null : await node.oldestPeerSince()
    return traffic !== null && peerSince !== null && traffic.nowMs - peerSince >= LOAD_MS
  }

  return async (node) => {
    const loaded = await node.mempoolLoaded()
    if (loaded !== null) return loaded
    const uptimeMs = await node.uptimeMs()
    return uptimeMs === null ? hasRunLong(node) : uptimeMs >= LOAD_MS
  }
}
