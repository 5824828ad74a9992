import { describe, expect, it, vi } from 'vitest'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createChainCommandRepository } from '#shared/db/scanning/chain-command-repository.ts'
import { type ChainClient, NodeUnreliable } from '#shared/ports/scanning.ts'
import { requestCommand } from '#shared/usecases/scanning/request-chain-command.ts'
import { sampleOf } from '#test/support/depth.ts'
import { CONFIRMATIONS, signedTransfer, useScanStage, WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const stage = useScanStage(stores)
/** Where a scanner may die while it starts a replaced development chain over. */
const DEATHS = ['before it took payments back', 'after it took payments back'] as const

describe('a scanner', () => {
  it('marks addresses as watched, detects a transfer and confirms it when it is buried', async () => {
    stage.scan()
    await vi.waitFor(async () => {
      const [address] = await stage.deps.wallets.findAddresses('test', 'evm', [WATCHED.matchKey])
      expect(address?.watchedOn).toEqual(['ethereum'])
    }, 8_000)
    await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 1_500_000n })
    await stage.chain.pay({ asset: 'eth_ethereum', to: WATCHED.address, amountBase: 9n })
    await stage.chain.mine()
    const mined = await stage.height()
    const both = (state: string) => [
      { state, height: mined },
      { state, height: mined },
    ]
    await stage.untilPayments(both('detected'))
    await stage.chain.mine(CONFIRMATIONS - 2)
    await stage.untilHeight(mined + CONFIRMATIONS - 2)
    expect(await stage.payments()).toMatchObject(both('detected'))
    await stage.chain.mine()
    await stage.untilPayments(both('confirmed'))
    expect((await stage.payments()).map(({ amount }) => amount).sort()).toEqual(['1500000', '9'])
  })

  // Guarantee: a transfer that is no longer on the chain does not stay credited.
  it.each(sampleOf([1, 3, 5], 1))('takes back a transfer that a reorganisation of %i blocks drops', async (depth) => {
    stage.scan()
    await stage.untilHeight(1)
    await stage.chain.mine(3)
    await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 5n })
    await stage.chain.mine(depth)
    await stage.untilPayments([{ state: depth >= CONFIRMATIONS ? 'confirmed' : 'detected' }])
    await stage.untilHeight(await stage.height())
    // The other branch is exactly as high: only the hash of its head tells.
    await stage.chain.reorg(depth)
    await stage.untilPayments([{ state: 'orphaned' }])
    await stage.chain.mine(5)
    await stage.untilHeight(await stage.height())
    expect(await stage.payments()).toMatchObject([{ state: 'orphaned' }])
  })

  // Guarantee: one transfer is one payment, wherever it is mined.
  it('knows a transfer again that is mined at another height after a reorganisation', async () => {
    const raw = await signedTransfer(stage.chain, 77n)
    stage.scan()
    await stage.untilHeight(await stage.height())
    await stage.chain.rpc('eth_sendRawTransaction', [raw])
    await stage.chain.mine(2)
    const first = (await stage.height()) - 1
    await stage.untilPayments([{ state: 'detected', height: first }])
    const [before] = await stage.payments()
    await stage.untilHeight(await stage.height())
    await stage.chain.reorg(2, [[raw, 1]])
    await stage.untilPayments([{ ...before, height: first + 1 }])
    await stage.chain.mine(CONFIRMATIONS)
    await stage.untilPayments([{ ...before, state: 'confirmed', height: first + 1 }])
  })

  it('keeps its cursor before a block that the node fails on, and goes on when it is mended', async () => {
    const honest = stage.source()
    let broken = 4
    let refused = 0
    const client: ChainClient = {
      ...honest.client,
      scan: async (from, to, watches) => {
        if (from <= broken && to >= broken) {
          refused += 1
          throw new NodeUnreliable('no answer')
        }
        return honest.client.scan(from, to, watches)
      },
    }
    stage.scan(stage.source({ client, batchMax: 1 }))
    await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 5n })
    await stage.chain.mine(6)
    await stage.untilHeight(3)
    await vi.waitFor(() => expect(refused).toBeGreaterThan(1), { timeout: 5_000 })
    expect((await stage.cursor())?.height).toBe(3)
    broken = -1
    await stage.untilHeight(await stage.height())
    expect(await stage.payments()).toHaveLength(1)
  })

  it('starts a replaced development chain from its first block and takes back what was unconfirmed', async () => {
    const scanner = stage.scan()
    await stage.chain.mine(2)
    await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 5n })
    await stage.chain.mine()
    await stage.untilPayments([{ state: 'detected' }])
    await scanner.stop()
    await stage.replaceChain()
    stage.scan()
    await stage.untilPayments([{ state: 'orphaned' }])
    await vi.waitFor(async () => expect((await stage.cursor())?.height).toBe(1))
    await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 6n })
    await stage.chain.mine()
    await stage.untilPayments([{ state: 'orphaned' }, { state: 'detected', amount: '6' }])
  })

  it.each(
    sampleOf(
      [
        ['while it scans', false],
        ['after it was halted', true],
      ],
      1,
    ),
  )('starts over as well when the chain is replaced %s', async (_when, halted) => {
    let { client } = stage.source()
    const current = new Proxy(client, { get: (_first, name: keyof ChainClient) => client[name] })
    stage.scan(stage.source({ client: current, finalityDepth: 3 }))
    await stage.chain.mine(6)
    await stage.untilHeight(await stage.height())
    const before = (await stage.cursor())?.genesisHash
    if (halted) {
      await stage.chain.reorg(6)
      await untilHalted()
    }
    await stage.replaceChain()
    client = stage.source().client
    await vi.waitFor(async () => expect((await stage.cursor())?.genesisHash).not.toBe(before), 8_000)
    expect((await stage.cursor())?.status).not.toBe('halted')
    await stage.chain.mine(2)
    await stage.untilHeight(await stage.height())
  })

  /** Starts a scanner that is killed while it takes payments back, and ends it there. */
  async function dieRestarting(client: ChainClient, moment: (typeof DEATHS)[number]): Promise<void> {
    let deaths = 0
    const { payments } = stage.deps
    const orphanAbove: typeof payments.orphanAbove = async (scope) => {
      if (moment === 'after it took payments back') await payments.orphanAbove(scope)
      deaths += 1
      throw new Error('killed')
    }
    const scanner = stage.scan(stage.source({ client }), { payments: { ...payments, orphanAbove } })
    await vi.waitFor(() => expect(deaths).toBeGreaterThan(0), { timeout: 8_000 })
    await scanner.stop()
  }

  // Guarantee: a payment in a block that stands is never left orphaned because the URL showed another chain for a moment.
  it.each(sampleOf(DEATHS, 2))(
    'counts what stands when it died %s for another chain, and the node is back on ours',
    async (moment) => {
      const scanner = stage.scan()
      await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 5n })
      await stage.chain.mine()
      await stage.untilPayments([{ state: 'detected', amount: '5' }])
      await scanner.stop()
      const { client } = stage.source()
      const other = { ...(await client.blockAt(0)), height: 0, hash: '0xother', parentHash: '0x0', time: 1 }
      await dieRestarting({ ...client, genesisHash: async () => other.hash, blockAt: async () => other }, moment)
      stage.scan()
      await stage.chain.mine(CONFIRMATIONS)
      await stage.untilPayments([{ state: 'confirmed', amount: '5' }])
      expect((await stage.cursor())?.genesisHash).toBe((await client.blockAt(0))?.hash)
    },
  )

  it.each(sampleOf(DEATHS, 1))('takes back what only the chain before held when it died %s', async (moment) => {
    const scanner = stage.scan()
    await stage.chain.mine(5)
    await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 5n })
    await stage.chain.mine()
    await stage.untilPayments([{ state: 'detected' }])
    await scanner.stop()
    await stage.replaceChain()
    const { client } = stage.source()
    await dieRestarting(client, moment)
    stage.scan()
    await stage.untilPayments([{ state: 'orphaned' }])
    await vi.waitFor(async () => expect((await stage.cursor())?.genesisHash).toBe(await client.genesisHash()), 8_000)
    await stage.chain.mine(8)
    await stage.untilHeight(await stage.height())
    expect(await stage.payments()).toMatchObject([{ state: 'orphaned' }])
  })

  /** Three confirmed blocks that hold a payment, deeper than what a reorganisation of this source may take back. */
  async function paidBelowFinality(): Promise<void> {
    stage.scan(stage.source({ finalityDepth: 3 }))
    await stage.untilHeight(1)
    await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 5n })
    await stage.chain.mine(6)
    await stage.untilPayments([{ state: 'confirmed' }])
    await stage.untilHeight(await stage.height())
  }

  async function untilHalted(): Promise<void> {
    await vi.waitFor(async () => expect((await stage.cursor())?.status).toBe('halted'), 8_000)
    expect((await stage.cursor())?.haltReason).toMatch(/^The chain forked/)
  }

  async function resumed(): Promise<void> {
    const commands = createChainCommandRepository(stores.db)
    const payments = createPaymentRepository(stores.db, stores.runtime.random)
    const command = {
      mode: 'test',
      network: 'ethereum',
      kind: 'resume',
      from: null,
      to: null,
      acceptReorg: true,
    } as const
    await requestCommand({ ...stage.deps, commands, payments }, { ...command, dryRun: false, actor: 'cli:test' })
    await vi.waitFor(async () => expect((await stage.cursor())?.status).not.toBe('halted'), 8_000)
  }

  // Guarantee: a network that becomes ten times as quick is not halted by a reorganisation of the same time, which is ten times as many blocks.
  it('follows a reorganisation that is deep in blocks where the measured pace says that it is short in time', async () => {
    const scanner = stage.scan(stage.source({ finalityDepth: 3 }))
    await stage.untilHeight(1)
    await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 5n })
    await stage.chain.mine(6)
    await stage.untilPayments([{ state: 'confirmed' }])
    await stage.untilHeight(await stage.height())
    await scanner.stop()
    const until = (await stage.cursor())?.time ?? 0
    const marks = Array.from({ length: 25 }, (_, at) => [(at - 24) * 100, until - (24 - at) * 120_000])
    const cursors = stores.db.connection.collection('chain_cursors')
    await cursors.updateOne({}, { $set: { measured: { marks, finality: [], reorg: null } } })
    stage.scan(stage.source({ finalityDepth: 3 }))
    await stage.chain.reorg(6)
    await stage.chain.mine(8)
    await stage.untilPayments([{ state: 'orphaned' }])
    await stage.untilHeight(await stage.height())
    const cursor = await stage.cursor()
    expect(cursor?.status).not.toBe('halted')
    expect(cursor?.measured?.reorg?.depth).toBeGreaterThanOrEqual(6)
  })

  // Guarantee: a development chain credits no money that vanished: a deep fork halts it, as it would in production.
  it('halts on a deep reorganisation of a development chain, and takes the payment back when a person resumes it', async () => {
    await paidBelowFinality()
    await stage.chain.reorg(6)
    await untilHalted()
    expect(await stage.payments()).toMatchObject([{ state: 'confirmed' }])
    await resumed()
    await stage.chain.mine(2)
    await stage.untilPayments([{ state: 'orphaned' }])
  })

  it('halts on a development chain that was set back far, once it has other blocks', async () => {
    const snapshot = await stage.chain.rpc('evm_snapshot')
    await paidBelowFinality()
    const height = await stage.height()
    await stage.chain.rpc('evm_revert', [snapshot])
    await stage.chain.mine(2)
    expect(await stage.height()).toBeLessThan(height)
    await stage.chain.mine(height)
    await untilHalted()
    await resumed()
    await stage.untilPayments([{ state: 'orphaned' }])
    await stage.untilHeight(await stage.height())
  })

  it('waits for a node that is shorter than what it scanned, and goes back a little when its blocks are others', async () => {
    stage.scan()
    await stage.untilHeight(await stage.height())
    const snapshot = await stage.chain.rpc('evm_snapshot')
    await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 5n })
    await stage.chain.mine(2)
    await stage.untilPayments([{ state: 'detected' }])
    const height = await stage.height()
    await stage.untilHeight(height)
    await stage.chain.rpc('evm_revert', [snapshot])
    await stage.chain.mine(1)
    expect((await stage.cursor())?.height).toBe(height)
    await stage.chain.mine(2)
    await stage.untilPayments([{ state: 'orphaned' }])
    await stage.untilHeight(await stage.height())
  })

  // Guarantee: a fork deeper than finality changes no payment by itself.
  it('halts on a fork below everything it remembers, and resumes when the node is back on its chain', async () => {
    await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 5n })
    const honest = stage.source()
    let forked = false
    const other = `0x${'f'.repeat(64)}`
    const client: ChainClient = {
      ...honest.client,
      head: async () => {
        const head = await honest.client.head()
        return forked ? { ...head, hash: other } : head
      },
      blockAt: async (at) => {
        const block = await honest.client.blockAt(at)
        return forked && block !== null ? { ...block, hash: other } : block
      },
    }
    stage.scan(stage.source({ client, development: false }))
    await stage.untilHeight(1)
    await stage.chain.mine()
    await stage.untilPayments([{ state: 'detected' }])
    await stage.untilHeight(2)
    forked = true
    await vi.waitFor(async () => expect((await stage.cursor())?.status).toBe('halted'))
    const inbox = stores.db.connection.collection('exceptions')
    expect(await inbox.countDocuments({ kind: 'halted_chain', closedAt: null })).toBe(1)
    expect(await stage.payments()).toMatchObject([{ state: 'detected' }])
    forked = false
    await stage.chain.mine()
    await stage.untilHeight(3)
    expect(await inbox.countDocuments({ kind: 'halted_chain', closedAt: null })).toBe(0)
  })

  it('does not begin on a node of another chain', async () => {
    const wrong = stage.source({}, 1)
    const verify = vi.fn(wrong.client.verify)
    stage.scan({ ...wrong, client: { ...wrong.client, verify } })
    await vi.waitFor(() =>
      expect(verify.mock.settledResults[0]).toMatchObject({ type: 'rejected', value: { name: 'NodeMismatch' } }),
    )
    expect(await stage.cursor()).toBeNull()
  })
})
