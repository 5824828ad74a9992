import { expect, it } from 'vitest'
import { type Answer, type Lie, useDogecoinNodes } from '#test/support/dogecoin-nodes.ts'
import { usePassingTime } from '#test/support/passing-time.ts'

const { serve, open } = useDogecoinNodes()
const pass = usePassingTime()
const TXID = 'ab'.repeat(32)

/** A node with these ids, that has read its mempool. */
const holding =
  (ids: Answer | string, loaded = true): Lie =>
  ({ method }, truth) => {
    if (method === 'getmempoolinfo') return { result: { loaded, size: 0, bytes: 0 } }
    return method === 'getrawmempool' ? ids : truth
  }

const ids = (...result: string[]): Answer => ({ result })

const started = async (...nodes: Lie[]) => open(await Promise.all(nodes.map((lie) => serve(lie))))

// Guarantee: a payment that one node evicted is not dropped because the node that has it just fails.
it.each<[string, Lie[], string[]]>([
  ['one of them has it', [holding(ids()), holding(ids(TXID))], [TXID]],
  ['none has it', [holding(ids()), holding(ids())], []],
  ['one fails', [holding(ids()), holding({ error: { code: -28, message: 'Verifying blocks...' } })], [TXID]],
  ['one is busy', [holding(ids()), holding('busy')], [TXID]],
  ['one still reads its mempool', [holding(ids()), holding(ids(), false)], [TXID]],
  ['all fail', [holding('busy'), holding('busy')], [TXID]],
])('an unconfirmed transaction is held where %s', async (_, nodes, expected) => {
  const client = await started(...nodes)
  expect([...((await client.heldUnconfirmed?.([TXID])) ?? [])]).toEqual(expected)
})

// Guarantee: a node that fails or downloads for good keeps no payment for ever. What it shows counts whatever else it lacks.
it.each<[string, Lie, string[]]>([
  ['fails', holding('busy'), []],
  ['still reads its mempool', holding(ids(), false), []],
  ['has it and still reads its mempool', holding(ids(TXID), false), [TXID]],
])('is held for ten minutes where one node %s', async (_, node, expected) => {
  const client = await started(holding(ids()), node)
  for (let times = 0; times < 2; times += 1) {
    expect([...((await client.heldUnconfirmed?.([TXID])) ?? [])]).toEqual([TXID])
    pass(300_000)
  }
  expect([...((await client.heldUnconfirmed?.([TXID])) ?? [])]).toEqual(expected)
})
