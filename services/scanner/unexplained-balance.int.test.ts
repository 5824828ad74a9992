import { describe, expect, it, vi } from 'vitest'
import { explainInvoice } from '#shared/usecases/diagnostics/explain-invoice.ts'
import { asksBalances, ETHER, useBalanceStage } from '#test/support/balance-stage.ts'
import { deepTest } from '#test/support/depth.ts'
import { openEngine } from '#test/support/engine.ts'
import { WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const { stage, source, clientOf, untilHead, waitForEther, send, lying } = useBalanceStage(stores)

const balances = () => stores.db.connection.collection('coin_balances').find().toArray()
const rows = () => stores.db.connection.collection('exceptions').find({ kind: 'unexplained_balance' }).toArray()

/** Credits an account as a withdrawal of a validator does: no transaction, no trace, no log. */
async function withdraw(wei: bigint): Promise<void> {
  const before = BigInt((await stage.chain.rpc('eth_getBalance', [WATCHED.address, 'latest'])) as string)
  await stage.chain.rpc('anvil_setBalance', [WATCHED.address, `0x${(before + wei).toString(16)}`])
  await stage.chain.mine()
}

/** The next block stands behind every deadline of the stage. */
async function passDeadlines(): Promise<void> {
  await stage.chain.rpc('evm_increaseTime', [2 * 86_400])
  await stage.chain.mine()
}

describe('coins that come outside of any transaction', () => {
  // Guarantee: an invoice never ends while its address holds money that nobody was told of.
  it('open an inbox row before the invoice ends, and its explanation says so', async () => {
    const invoiceId = await waitForEther()
    stage.scan()
    await untilHead()
    await withdraw(ETHER)
    await untilHead()
    expect(await rows()).toEqual([])
    await passDeadlines()
    await untilHead()
    expect(await rows()).toMatchObject([{ invoiceId, mode: 'test', open: true, paymentKey: null }])
    const [row] = await rows()
    expect(row?.['detail']).toContain(`${WATCHED.address} on ethereum holds 1 ETH more than payments explain`)
    const { deps } = await openEngine(stores)
    const { conclusion, openExceptions } = await explainInvoice(deps, invoiceId)
    expect(conclusion).toContain('holds 1 ETH more than payments explain')
    expect(openExceptions).toMatchObject([{ kind: 'unexplained_balance' }])
  })

  it('open none when payments explain the balance, or it was there before', async () => {
    await withdraw(3n * ETHER)
    stage.scan()
    await untilHead()
    await waitForEther()
    await send(5n)
    await send(ETHER, WATCHED.address)
    await stage.chain.mine()
    await passDeadlines()
    await untilHead()
    expect(await stage.payments()).toHaveLength(2)
    expect(await rows()).toEqual([])
  })

  // Guarantee: what a merchant moves on between two invoices hides nothing of the second one.
  deepTest('open one at an address that is handed on after its coins were moved', async () => {
    await waitForEther()
    stage.scan()
    await untilHead()
    await send(5n * ETHER, WATCHED.address)
    await stage.chain.mine()
    await passDeadlines()
    await untilHead()
    await stores.db.connection.collection('invoices').updateMany({}, { $set: { claims: [] } })
    await stage.chain.rpc('anvil_setBalance', [WATCHED.address, '0x0'])
    await stage.chain.mine()
    await untilHead()
    const second = await waitForEther(Date.now() + 2 * 86_400_000, 2)
    await vi.waitUntil(
      async () => {
        await stage.chain.mine()
        await untilHead()
        return (await balances())[0]?.['checks'].length > 0
      },
      { timeout: 20_000, interval: 200 },
    )
    await withdraw(3n * ETHER)
    await untilHead()
    expect(await rows()).toEqual([])
    await passDeadlines()
    await untilHead()
    expect(await rows()).toMatchObject([{ invoiceId: second, open: true }])
  })

  /** The deadline of an invoice passes while its network rests: no balance is compared with it. */
  async function restPast(invoiceId: string): Promise<void> {
    const past = { claims: [], status: 'paid', expiresAt: new Date(0), nextActionAt: null }
    await stores.db.connection.collection<{ _id: string }>('invoices').updateOne({ _id: invoiceId }, { $set: past })
  }

  async function untilStarted(invoiceId: string): Promise<void> {
    await vi.waitUntil(
      async () => {
        await stage.chain.mine()
        await untilHead()
        return JSON.stringify(await balances()).includes(invoiceId)
      },
      { timeout: 20_000, interval: 200 },
    )
  }

  // Guarantee: a starting balance is that of one invoice; one that was left over hides nothing of the next.
  it('open one at an address whose former invoice ended while the network rested', async () => {
    const first = await waitForEther()
    const scanner = stage.scan()
    await untilStarted(first)
    await send(5n * ETHER, WATCHED.address)
    await stage.chain.mine()
    await untilHead()
    await scanner.stop()
    await restPast(first)
    await stage.chain.rpc('anvil_setBalance', [WATCHED.address, '0x0'])
    await stage.chain.mine()
    stage.scan()
    await untilHead()
    const second = await waitForEther(Date.now(), 2)
    await untilStarted(second)
    await withdraw(3n * ETHER)
    await passDeadlines()
    await untilHead()
    expect(await rows()).toMatchObject([{ invoiceId: second, open: true }])
  })

  // Guarantee: nor is money of the former invoice's time asked of the next.
  it('name no later invoice of the same address', async () => {
    const first = await waitForEther()
    const scanner = stage.scan()
    await untilStarted(first)
    await withdraw(2n * ETHER)
    await untilHead()
    await scanner.stop()
    await restPast(first)
    stage.scan()
    await stage.chain.mine()
    await untilHead()
    const second = await waitForEther(Date.now(), 2)
    await untilStarted(second)
    await passDeadlines()
    await untilHead()
    expect(await rows()).toEqual([])
    expect(await stores.db.connection.collection('coin_balances').findOne()).toMatchObject({ checks: [] })
  })

  it('open one row, however often the scanner dies before its cursor', async () => {
    await waitForEther()
    const first = stage.scan()
    await untilHead()
    await first.stop()
    await withdraw(ETHER)
    await passDeadlines()
    const killed = vi.fn()
    const height = await stage.height()
    const cursors: typeof stage.deps.cursors = {
      ...stage.deps.cursors,
      async advance(...asked) {
        if ((asked[3].height ?? 0) < height || killed.mock.calls.length > 1) return stage.deps.cursors.advance(...asked)
        killed()
        throw new Error('killed')
      },
    }
    stage.scan(source(clientOf(null)), { cursors })
    await untilHead()
    expect(killed).toHaveBeenCalledTimes(2)
    expect(await rows()).toHaveLength(1)
  })

  // Guarantee: an address whose first balance stands in a block that the node has dropped ends as any other.
  deepTest('hold up no deadline when the node has dropped the block of the first balance', async () => {
    await waitForEther()
    let dropped: string | null = null
    const url = await lying(({ method, params }, truth) =>
      method === 'eth_getBlockByNumber' && params[0] === dropped
        ? { error: { code: -32_000, message: 'pruned history unavailable' } }
        : truth,
    )
    stage.scan(source(clientOf(null, [url])))
    await untilHead()
    const [account] = await balances()
    dropped = `0x${Number(account?.['checks'][0].height).toString(16)}`
    await stores.db.connection.collection('chain_cursors').updateMany({}, { $set: { window: [] } })
    await passDeadlines()
    await untilHead()
  })

  // Guarantee: a node that keeps balances to itself delays a deadline by a minute, and never stops the network.
  it('are named as unseen when the node has been silent for a minute', async () => {
    await waitForEther()
    let silent = false
    let refusals = 0
    let skippedMs = 0
    const url = await lying((call, truth) => {
      if (!silent || !asksBalances(call)) return truth
      refusals += 1
      return { error: { code: -32_000, message: 'timed out' } }
    })
    const clock = { ...stage.deps.clock, now: () => stage.deps.clock.now() + skippedMs }
    stage.scan(source(clientOf(null, [url])), { clock })
    await untilHead()
    silent = true
    await withdraw(ETHER)
    await passDeadlines()
    const height = await stage.height()
    await vi.waitUntil(() => refusals > 1, 8_000)
    expect((await stage.cursor())?.height).toBeLessThan(height)
    skippedMs = 61_000
    await stage.untilHeight(height)
    expect(await rows()).toMatchObject([{ invoiceId: null, workspaceId: null }])
    expect((await rows())[0]?.['detail']).toContain('No node of ethereum (test) returns account balances')
  })
})
