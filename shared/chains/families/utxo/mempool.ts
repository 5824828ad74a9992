import { type MempoolView, NodeUnreliable, type RawTransfer, type WatchIndex } from '#shared/usecases/ports/scanning.ts'
import { mapConcurrently } from '../../map-concurrently.ts'
import type { CoreNode } from './core-rpc.ts'
import { hashText } from './double-sha256.ts'
import { type ExtractScope, spendersAmong, transactionTransfers } from './extract.ts'
import { outpointsByWire } from './outpoint.ts'
import { type ParsedTransaction, parseTransaction } from './parse-transaction.ts'

/** Transactions asked for at the same time. */
const CONCURRENCY = 8
/** Time that one look may take, milliseconds: blocks wait for it. A full mempool of Bitcoin needs several looks after a start. */
const LOOK_MS = 3_000

/** The part of a node that is asked. */
type MempoolNode = Pick<CoreNode, 'mempoolIds' | 'mempoolTransaction'>

/**
 * Looks at a node's unconfirmed transactions: at each of them once, as long as it stays in the mempool, the newest first;
 * what one look has no time for is left to the next one. What is kept is an id per unconfirmed transaction (the node
 * itself bounds their number) and the transfers to watched scripts. Litecoin's purely confidential transactions show no outputs, so they pay nobody before they are mined.
 */
export function createMempoolReader(scope: ExtractScope, lookMs: number = LOOK_MS) {
  const looked = new Set<string>()
  const matched = new Map<string, readonly RawTransfer[]>()
  const spenders = new Map<string, string>()
  let listedBefore: ReadonlySet<string> = new Set()
  let index: WatchIndex | null = null

  /** Forgets what was mined, replaced or evicted, and everything when somebody else's addresses are watched. */
  function forget(listed: ReadonlySet<string>, watches: WatchIndex): void {
    if (index !== watches) looked.clear()
    index = watches
    for (const txid of looked) if (!listed.has(txid)) looked.delete(txid)
    for (const txid of matched.keys()) if (!looked.has(txid)) matched.delete(txid)
    for (const [outpoint, txid] of spenders) if (!listed.has(txid)) spenders.delete(outpoint)
  }

  return async (node: MempoolNode, watches: WatchIndex, outpoints: ReadonlySet<string>): Promise<MempoolView> => {
    const txids = new Set(await node.mempoolIds())
    forget(txids, watches)
    const asked = outpointsByWire(outpoints)
    const unseen = [...txids].filter((txid) => !looked.has(txid))
    const isNew = (txid: string) => !listedBefore.has(txid)
    const ordered = [...unseen.filter(isNew), ...unseen.filter((txid) => !isNew(txid))]
    listedBefore = txids
    const until = performance.now() + lookMs
    let partial = false
    await mapConcurrently(ordered, CONCURRENCY, async (txid) => {
      partial ||= performance.now() >= until
      if (partial) return
      const transaction = await read(node, txid)
      if (transaction === 'gone') return
      looked.add(txid)
      if (transaction === null) return
      const transfers = transactionTransfers(scope, transaction, watches, null)
      if (transfers.length > 0) matched.set(txid, transfers)
      for (const [outpoint, spender] of spendersAmong([transaction], asked)) spenders.set(outpoint, spender)
    })
    const transfers = [...matched.values()].flat()
    // A transaction of ours was looked at before anyone could ask for its outpoints.
    for (const { spends = [], txHash } of transfers) {
      for (const outpoint of spends) if (outpoints.has(outpoint)) spenders.set(outpoint, txHash)
    }
    return { partial, transfers, txids, spent: new Map([...spenders].filter(([outpoint]) => outpoints.has(outpoint))) }
  }
}

async function read(node: MempoolNode, txid: string): Promise<ParsedTransaction | 'gone' | null> {
  const bytes = await node.mempoolTransaction(txid)
  if (bytes === null) return 'gone'
  const transaction = parseTransaction(bytes)
  if (transaction !== null && hashText(transaction.hash) !== txid) {
    throw new NodeUnreliable('the node gave another transaction than the one asked for')
  }
  return transaction
}
