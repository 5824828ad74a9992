import { expect, it } from 'vitest'
import { type Answer, type Lie, useDogecoinNodes } from '#test/support/dogecoin-nodes.ts'

const { serve, open } = useDogecoinNodes()
const TXID = 'ab'.repeat(32)

/** A node that has read its mempool, with these ids. */
const holding =
  (ids: Answer | string): Lie =>
  ({ method }, truth) => {
    if (method === 'getmempoolinfo') return { result: { loaded: true, size: 0, bytes: 0 } }
    return method === 'getrawmempool' ? ids : truth
  }

const ids = (...result: string[]): Answer => ({ result })

async function held(...nodes: Lie[]) {
  const urls = await Promise.all(nodes.map((lie) => serve(lie)))
  return open(urls).heldUnconfirmed?.([TXID])
}

// Guarantee: a payment that one node evicted is not dropped because the node that has it just fails.
it.each<[string, Lie[], string[]]>([
  ['one of them has it', [holding(ids()), holding(ids(TXID))], [TXID]],
  ['none has it', [holding(ids()), holding(ids())], []],
  ['one fails', [holding(ids()), holding({ error: { code: -28, message: 'Verifying blocks...' } })], [TXID]],
  ['one is busy', [holding(ids()), holding('busy')], [TXID]],
  ['all fail', [holding('busy'), holding('busy')], [TXID]],
])('an unconfirmed transaction is held where %s', async (_, nodes, expected) => {
  expect([...((await held(...nodes)) ?? [])]).toEqual(expected)
})
