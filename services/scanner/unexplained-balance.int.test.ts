import { describe, expect, it, vi } from 'vitest'
import { knownUntil } from '#shared/usecases/networks/known-until.ts'
import { ETHER, increase, readsFunds, TIMED_OUT, useBalanceStage } from '#test/support/balance-stage.ts'
import { CONFIRMATIONS, WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const { stage, source, clientOf, untilHead, scanOnce, waitForEther, send, lying, scanBlind, credited } =
  useBalanceStage(stores)

const rows = () => stores.db.connection.collection('exceptions').find({ kind: 'unexplained_balance' }).toArray()

/** Credits an account as a withdrawal of a validator does: no transaction, no log. */
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
  // Guarantee: they are a payment in their block, before the invoice ends.
  it('are a payment of the invoice', async () => {
    await waitForEther()
    stage.scan(source())
    await untilHead()
    await withdraw(ETHER)
    const height = await stage.height()
    await stage.untilPayments([{ ...increase(ETHER), state: 'detected', height }])
    await stage.chain.mine(CONFIRMATIONS)
    await stage.untilPayments([{ ...increase(ETHER), state: 'confirmed', height }])
    expect(await rows()).toEqual([])
  })

  it('are none that were there before', async () => {
    await withdraw(3n * ETHER)
    stage.scan(source())
    await untilHead()
    await waitForEther()
    await send(5n)
    await send(ETHER, WATCHED.address)
    await stage.chain.mine()
    await passDeadlines()
    await untilHead()
    expect(await credited()).toEqual([5n, ETHER])
    expect(await rows()).toEqual([])
  })

  // Guarantee: what a merchant moves on between two invoices hides nothing of the second one.
  it('are found at an address that is handed on after its coins were moved', async () => {
    await waitForEther()
    stage.scan(source())
    await untilHead()
    await send(5n * ETHER, WATCHED.address)
    await stage.chain.mine()
    await passDeadlines()
    await untilHead()
    await stores.db.connection.collection('invoices').updateMany({}, { $set: { claims: [] } })
    await stage.chain.rpc('anvil_setBalance', [WATCHED.address, '0x0'])
    await stage.chain.mine()
    await untilHead()
    await waitForEther(Date.now() + 2 * 86_400_000, 2)
    await stage.chain.mine()
    await untilHead()
    await withdraw(3n * ETHER)
    await untilHead()
    expect(await credited()).toEqual([3n * ETHER, 5n * ETHER])
  })
})

describe('a node that does not answer for balances', () => {
  const NOT_OFFERED = { error: { code: -32_601, message: 'the method does not exist' } }

  // Guarantee: what blocks and logs show is credited at once; deadlines wait a minute; no network stands still; nothing is lost.
  it.each([
    ['times out', TIMED_OUT],
    ['refuses', NOT_OFFERED],
  ])('and %s holds up nothing but deadlines, for a minute', async (_what, answer) => {
    await waitForEther()
    await scanOnce()
    let isSilent = true
    let refusals = 0
    let skippedMs = 0
    const url = await lying((call, truth) => {
      if (!isSilent || !readsFunds(call)) return truth
      refusals += 1
      return answer
    })
    const clock = { ...stage.deps.clock, now: () => stage.deps.clock.now() + skippedMs }
    await send(5n)
    await send(7n, WATCHED.address)
    await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 1_500_000n })
    await passDeadlines()
    const height = await stage.height()
    stage.scan(source(clientOf([url])), { clock })
    await vi.waitFor(async () => expect(await credited()).toEqual([7n, 1_500_000n]), { timeout: 20_000 })
    await vi.waitUntil(() => refusals > 2, 20_000)
    expect((await stage.cursor())?.height).toBeLessThan(height)
    expect(await rows()).toEqual([])
    skippedMs = 61_000
    await stage.untilHeight(height)
    expect(await rows()).toMatchObject([{ invoiceId: null, workspaceId: null, open: true }])
    expect((await rows())[0]?.['detail']).toContain('No node of ethereum (test) returns account balances')
    await stage.chain.mine()
    await untilHead()
    const passed = await stage.cursor()
    const passedAt = passed === null ? Number.NaN : knownUntil(passed, 12_000)
    isSilent = false
    await stage.chain.mine()
    await stage.untilPayments([{ amount: '7' }, { amount: '1500000' }, increase(5n)])
    expect(await rows()).toHaveLength(1)
    // Deadlines passed meanwhile because nothing had come: what is found later came later.
    const sum = await stores.db.connection.collection('payments').findOne({ key: increase(5n).key })
    expect(sum?.['firstSeenAt'].getTime()).toBeGreaterThanOrEqual(passedAt)
  })

  /** Blocks pass without balances once more, and then balances answer again. */
  async function untilFound({ answer }: { readonly answer: () => void }): Promise<void> {
    await stage.chain.mine()
    await untilHead()
    answer()
    await stage.chain.mine()
    await stage.untilPayments([increase(ETHER)])
    await vi.waitFor(async () => expect(await stage.cursor()).toMatchObject({ unproven: null }))
  }

  // Guarantee: what came while nobody knew what an address had before is credited before a deadline passes, not a look later.
  it('when an invoice is opened hides no coins that come inside of calls', async () => {
    await scanOnce()
    await waitForEther()
    await send(ETHER)
    await stage.chain.mine()
    await untilFound(await scanBlind())
  })

  // Guarantee: a network whose nodes never answer for balances does not stand still because an invoice is opened.
  it('holds up no deadlines for longer, whenever their invoices were opened', async () => {
    await scanOnce()
    await waitForEther()
    await stage.chain.mine()
    await scanBlind()
    for (const _ of [1, 2]) {
      await stage.chain.mine()
      await untilHead()
    }
    expect((await stage.cursor())?.unproven ?? null).toBeNull()
  })

  // Guarantee: the same where blocks that passed without balances are replaced, and the coins came before those.
  it('hides no coins below a reorganisation of blocks that passed without it', async () => {
    await waitForEther()
    await scanOnce()
    await send(ETHER)
    await stage.chain.mine(4)
    const node = await scanBlind()
    await stage.chain.reorg(2)
    await untilFound(node)
  })
})
