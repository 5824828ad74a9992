import { describe, expect, it } from 'vitest'
import type { CursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { increase, readsFunds, useBalanceStage } from '#test/support/balance-stage.ts'
import { CONFIRMATIONS, WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const { stage, source, clientOf, untilHead, scanOnce, scanAndDie, waitForEther, send, lying, prunedNode, credited } =
  useBalanceStage(stores)

describe('a node', () => {
  // Guarantee: what a node offers beside what is needed makes nothing different: it is not asked for it.
  it('that offers traces is asked for none', async () => {
    const seen: string[] = []
    const tracing = await lying(({ method }, truth) => {
      seen.push(method)
      return truth
    })
    await waitForEther()
    stage.scan(source(clientOf([tracing])))
    await untilHead()
    await send(5n)
    await stage.chain.mine()
    await stage.untilPayments([increase(5n)])
    expect(seen.filter((method) => method.includes('trace'))).toEqual([])
  })

  it('is asked for no balance while no invoice waits', async () => {
    const calls: unknown[] = []
    const url = await lying((call, truth) => {
      if (readsFunds(call)) calls.push(call)
      return truth
    })
    stage.scan(source(clientOf([url])))
    await stage.chain.mine(3)
    await untilHead()
    expect(calls).toEqual([])
    await waitForEther()
    await stage.chain.mine()
    await untilHead()
    expect(calls.length).toBeGreaterThan(0)
  })

  it('that will not run code is asked for each balance', async () => {
    const url = await lying((call, truth) =>
      call.method === 'eth_call' && readsFunds(call) ? { result: '0x' } : truth,
    )
    await waitForEther()
    stage.scan(source(clientOf([url])))
    await untilHead()
    await send(5n)
    await stage.chain.mine()
    await stage.untilPayments([increase(5n)])
  })

  // Guarantee: a scanner that was away for longer than its node keeps old state credits what came meanwhile, whatever dies then.
  it('that dropped the state of old blocks shows the whole rise in the first block that it can read', async () => {
    await scanOnce()
    await waitForEther()
    await stage.chain.mine()
    await scanOnce()
    await send(5n)
    await stage.chain.mine()
    await send(7n, WATCHED.address)
    await stage.chain.mine(5)
    const pruned = await prunedNode()
    const { cursors } = stage.deps
    for (const batchMax of [2, 3]) {
      await scanAndDie((_deps, die) => ({ cursors: { ...cursors, advance: dieOnceMoved(cursors, die) } }), {
        batchMax,
        client: clientOf([pruned]),
      })
    }
    stage.scan(source(clientOf([pruned])))
    await untilHead()
    expect(await credited()).toEqual([5n, 7n])
    expect(await stage.payments()).toContainEqual(
      expect.objectContaining({ ...increase(5n), height: await stage.height() }),
    )
  })

  // Guarantee: a plan without an archive, which says so under the code of wrong parameters, stops no scanner that fell behind.
  it('that sells old state apart is a pruned one', async () => {
    await waitForEther()
    await scanOnce()
    await send(5n)
    await send(7n, WATCHED.address)
    await stage.chain.mine(6)
    const message = 'Archive requests require a personal token'
    stage.scan(source(clientOf([await prunedNode({ code: -32_602, message })]), { batchMax: 2 }))
    await untilHead()
    expect(await credited()).toEqual([5n, 7n])
  })

  // Guarantee: however long nobody scanned, what came for an invoice meanwhile shows when balances can be read again.
  it('that dropped the state of three days shows what came for invoices that ended since', async () => {
    await waitForEther()
    await scanOnce()
    await send(5n)
    await stage.chain.mine()
    await stage.chain.rpc('evm_increaseTime', [3 * 86_400])
    await stage.chain.mine(6)
    stage.scan(source(clientOf([await prunedNode()]), { batchMax: 2 }))
    await untilHead()
    expect(await credited()).toEqual([5n])
  })

  // Guarantee: one node's word about a balance confirms nothing where there is a second one.
  it('that is contradicted by a second one confirms nothing', async () => {
    await waitForEther()
    let contradicts = true
    const second = await lying((call, truth) =>
      contradicts && readsFunds(call) ? { result: `0x${'0'.repeat(64)}` } : truth,
    )
    stage.scan(source(clientOf([stage.chain.url, second])))
    await untilHead()
    await send(5n)
    await stage.chain.mine(CONFIRMATIONS + 1)
    await untilHead()
    await stage.chain.mine()
    await untilHead()
    expect(await stage.payments()).toMatchObject([{ ...increase(5n), state: 'detected' }])
    contradicts = false
    await stage.chain.mine()
    await stage.untilPayments([{ ...increase(5n), state: 'confirmed' }])
  })

  // Guarantee: where nodes keep the state for seconds and confirmations take minutes, what the second one said in time still counts.
  it.each([
    ['agreed', false, 'confirmed'],
    ['contradicted', true, 'detected'],
  ] as const)('that %s before it dropped the state is remembered', async (_what, contradicts, state) => {
    await waitForEther()
    let isPruned = false
    let refusals = 0
    const second = await lying((call, truth) => {
      if (!readsFunds(call)) return truth
      if (!isPruned) return contradicts ? { result: `0x${'0'.repeat(64)}` } : truth
      refusals += 1
      return { error: { code: -32_000, message: 'missing trie node 0b1c (path ) state 0x0b is not available' } }
    })
    stage.scan(source(clientOf([stage.chain.url, second])))
    await untilHead()
    await send(5n)
    await stage.chain.mine()
    await stage.untilPayments([{ ...increase(5n), state: 'detected' }])
    const [stored] = await stores.db.connection.collection('payments').find().toArray()
    expect(stored?.['block'].rise).toMatchObject({ second: contradicts ? 'other' : 'same' })
    isPruned = true
    await stage.chain.mine(CONFIRMATIONS + 1)
    await untilHead()
    await stage.chain.mine()
    await untilHead()
    await stage.untilPayments([{ ...increase(5n), state }])
    // Once agreed, only the block is asked for.
    expect(refusals > 0).toBe(contradicts)
  })
})

/** Lets the cursor move once and dies at the next move. */
function dieOnceMoved({ advance }: CursorRepository, die: () => Promise<never>): CursorRepository['advance'] {
  let moved = 0
  return (mode, network, expected, next) => {
    if (next.height !== undefined) moved += 1
    return moved > 1 ? die() : advance(mode, network, expected, next)
  }
}
