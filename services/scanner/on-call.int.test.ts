import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createChainCommandRepository } from '#shared/db/scanning/chain-command-repository.ts'
import type { ChainCommand } from '#shared/ports/chain-commands.ts'
import type { ChainClient } from '#shared/ports/scanning.ts'
import { type CommandInput, requestCommand } from '#shared/usecases/scanning/request-chain-command.ts'
import { deepTest } from '#test/support/depth.ts'
import { CONFIRMATIONS, useScanStage, WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const stage = useScanStage(stores)
const PATIENCE = { timeout: 8_000, interval: 20 }
let notified: string[] = []

beforeEach(() => {
  notified = []
  stage.deps.notifier.notify = (_queue, id) => void notified.push(id)
})

function request(kind: CommandInput['kind'], input: Partial<CommandInput> = {}) {
  const commands = createChainCommandRepository(stores.db)
  const payments = createPaymentRepository(stores.db, stores.runtime.random)
  const whole = { mode: 'test', network: 'ethereum', kind, from: null, to: null, acceptReorg: false } as const
  return requestCommand({ ...stage.deps, commands, payments }, { ...whole, dryRun: false, actor: 'cli:test', ...input })
}

/** Asks, and resolves with the request as it ended. */
async function carriedOut(kind: CommandInput['kind'], input: Partial<CommandInput> = {}): Promise<ChainCommand> {
  const { command } = await request(kind, input)
  if (command === null) throw new Error('nothing was asked')
  return vi.waitFor(async () => {
    const stored = await createChainCommandRepository(stores.db).findById(command.id)
    expect(stored?.status).not.toBe('open')
    if (stored === null) throw new Error('the request is gone')
    return stored
  }, PATIENCE)
}

const paymentDocuments = () => stores.db.connection.collection('payments').find().sort({ _id: 1 }).toArray()

/** Two confirmed payments, scanned to the head. */
async function twoPayments(): Promise<void> {
  await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 5_000_000n })
  await stage.chain.mine()
  await stage.chain.pay({ asset: 'usdc_ethereum', to: WATCHED.address, amountBase: 7n })
  await stage.chain.mine(CONFIRMATIONS + 1)
  await stage.untilPayments([{ state: 'confirmed' }, { state: 'confirmed' }])
  await stage.untilHeight(await stage.height())
}

/** A node whose blocks from `forkAt` on are others, while `forked`. */
function forkingClient(honest: ChainClient, forkAt: number) {
  const state = { forked: false, misread: 0 }
  const renamed = (hash: string) => `0x${'f'.repeat(8)}${hash.slice(10)}`
  const client: ChainClient = {
    ...honest,
    head: async () => {
      const head = await honest.head()
      return state.forked && head.height >= forkAt ? { ...head, hash: renamed(head.hash) } : head
    },
    blockAt: async (at) => {
      const block = await honest.blockAt(at)
      return state.forked && block !== null && at >= forkAt ? { ...block, hash: renamed(block.hash) } : block
    },
    scan: async (...question) => {
      const blocks = await honest.scan(...question)
      if (!state.forked) return blocks
      state.misread += 1
      return blocks.map((block) => ({
        ...block,
        hash: block.height >= forkAt ? renamed(block.hash) : block.hash,
        parentHash: block.height > forkAt ? renamed(block.parentHash) : block.parentHash,
        // The other branch holds no payment of ours.
        transfers: block.height >= forkAt ? [] : block.transfers,
      }))
    },
  }
  return { client, state }
}

describe('a rescan', () => {
  // Guarantee: reading blocks again neither changes nor announces a payment that is known.
  it('changes nothing that is known, and is recorded with who asked for it', async () => {
    stage.scan(stage.source({ batchMax: 2 }))
    await stage.untilHeight(1)
    await twoPayments()
    const before = await paymentDocuments()
    notified = []
    const ended = await carriedOut('rescan', { from: 0 })
    expect(ended).toMatchObject({ status: 'done', changed: 0 })
    // The epoch says who looked last; everything else is as it was.
    expect(await paymentDocuments()).toEqual(before)
    expect(notified).toEqual([])
    const auditWrite = await createAuditRepository(stores.db).listBySubject('test:ethereum')
    expect(auditWrite.map(({ action, actor }) => [action, actor.split(':')[0]])).toEqual([
      ['chain.rescan', 'cli'],
      ['chain.rescan_done', 'scanner'],
    ])
  })

  it('finds what an earlier scan missed, confirms it at once and leaves the cursor where it is', async () => {
    const honest = stage.source()
    let blind = true
    const client: ChainClient = {
      ...honest.client,
      scan: async (...question) => {
        const blocks = await honest.client.scan(...question)
        return blind ? blocks.map((block) => ({ ...block, transfers: [] })) : blocks
      },
    }
    stage.scan(stage.source({ client }))
    await stage.untilHeight(1)
    await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 5_000_000n })
    await stage.chain.mine(CONFIRMATIONS + 1)
    await stage.untilHeight(await stage.height())
    expect(await stage.payments()).toEqual([])
    blind = false
    const cursor = await stage.cursor()
    expect(await carriedOut('rescan', { from: 1 })).toMatchObject({ status: 'done', changed: 1 })
    await stage.untilPayments([{ state: 'confirmed', amount: '5000000' }])
    expect(await stage.cursor()).toMatchObject({ height: cursor?.height, hash: cursor?.hash })
    const inbox = stores.db.connection.collection('exceptions')
    expect(await inbox.countDocuments({ kind: 'unmatched', open: true })).toBe(1)
    // Guarantee: what a person closed in the inbox is not opened again by reading a block again.
    await inbox.updateMany({}, { $set: { open: false, closedAt: new Date() } })
    await carriedOut('rescan', { from: 1 })
    expect(await inbox.countDocuments({ open: true })).toBe(0)
  })

  // Guarantee: a node that contradicts a stored amount changes nothing and stops nothing; whoever asked is told why.
  deepTest('that is told another amount of a stored transfer is refused, and the scanner goes on', async () => {
    const honest = stage.source()
    let inflates = false
    const client: ChainClient = {
      ...honest.client,
      scan: async (...question) => {
        const blocks = await honest.client.scan(...question)
        const inflated = (one: (typeof blocks)[number]) =>
          one.transfers.map((transfer) => ({ ...transfer, amountBase: transfer.amountBase + 1n }))
        return inflates ? blocks.map((block) => ({ ...block, transfers: inflated(block) })) : blocks
      },
    }
    stage.scan(stage.source({ client }))
    await stage.untilHeight(1)
    await stage.chain.pay({ asset: 'eth_ethereum', to: WATCHED.address, amountBase: 5n })
    await stage.chain.mine(CONFIRMATIONS)
    await stage.untilPayments([{ state: 'confirmed', amount: '5' }])
    await stage.untilHeight(await stage.height())
    inflates = true
    const lease = (await stage.cursor())?.lease?.epoch
    const refused = await carriedOut('rescan', { from: 1 })
    expect(refused).toMatchObject({ status: 'refused', changed: 0 })
    expect(refused.outcome).toMatch(/stored with 5 base units, now seen with 6/)
    await stage.chain.mine()
    await stage.untilHeight(await stage.height())
    expect(await stage.payments()).toMatchObject([{ state: 'confirmed', amount: '5' }])
    expect((await stage.cursor())?.lease?.epoch).toBe(lease)

    // The same in blocks read again after a rewind: the cursor waits and says why, and goes on by itself.
    await carriedOut('rewind', { to: 1 })
    await vi.waitFor(async () => expect((await stage.cursor())?.waitReason).toMatch('now seen with 6'), PATIENCE)
    inflates = false
    await stage.untilHeight(await stage.height())
    expect((await stage.cursor())?.waitReason).toBeNull()
    expect(await stage.payments()).toMatchObject([{ state: 'confirmed', amount: '5' }])
  })

  // Guarantee: blocks of another branch never move a payment, even when a person asks for them.
  it('waits while the node is on another branch', async () => {
    const { client, state } = forkingClient(stage.source().client, 3)
    const scanner = stage.scan(stage.source({ client, development: false }))
    await stage.untilHeight(1)
    await twoPayments()
    const before = await stage.payments()
    await scanner.stop()
    const { command } = await request('rescan', { from: 1 })
    const { head } = stage.source().client
    state.forked = true
    stage.scan(stage.source({ client: { ...client, head }, development: false }))
    await vi.waitFor(() => expect(state.misread).toBeGreaterThan(1), PATIENCE)
    expect(await stage.payments()).toEqual(before)
    state.forked = false
    await vi.waitFor(async () => {
      const stored = await createChainCommandRepository(stores.db).findById(command?.id ?? '')
      expect(stored).toMatchObject({ status: 'done', changed: 0 })
    }, PATIENCE)
    expect(await stage.payments()).toEqual(before)
  })

  it('is asked for once, whoever asks again, and refuses heights that make no sense', async () => {
    await stage.deps.cursors.create(standingCursor())
    const first = await request('rescan', { from: 1 })
    const again = await request('rescan', { from: 1 })
    expect(again).toMatchObject({ repeated: true, command: { id: first.command?.id } })
    await expect(request('rescan', { from: 2 })).rejects.toMatchObject({ code: 'INVALID_STATE' })
    await expect(request('rescan', { from: 11 })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    await expect(request('rescan', { from: 5, to: 4 })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    await expect(request('rewind', { to: 10 })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    await expect(request('rewind', { network: 'bsc', to: 1 })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await request('rewind', { to: 4, dryRun: true })).plan).toMatchObject({ from: 5, to: 10, livePayments: 0 })
    expect(await createChainCommandRepository(stores.db).listAllOpen()).toHaveLength(1)
  })
})

function standingCursor() {
  return {
    id: 'test:ethereum',
    mode: 'test',
    network: 'ethereum',
    height: 10,
    hash: '0xaa',
    time: 1,
    window: [[10, '0xaa']],
    headHeight: 10,
    headSeenAt: 1,
    finalizedHeight: null,
    status: 'live',
    haltReason: null,
    genesisHash: '0x00',
    lease: null,
  } as const
}

describe('a rewind', () => {
  // Guarantee: going back on an unchanged chain takes no payment back.
  it('reads everything above again and changes no payment', async () => {
    stage.scan(stage.source({ batchMax: 2 }))
    await stage.untilHeight(1)
    await twoPayments()
    const before = await paymentDocuments()
    notified = []
    expect(await carriedOut('rewind', { to: 1 })).toMatchObject({ status: 'done' })
    await stage.untilHeight(await stage.height())
    await vi.waitFor(async () => expect((await stage.cursor())?.recheckThrough).toBeNull(), PATIENCE)
    expect(await paymentDocuments()).toEqual(before)
    expect(notified).toEqual([])
  })

  deepTest('is not done twice when the scanner died between moving the cursor and closing the request', async () => {
    const scanner = stage.scan()
    await stage.untilHeight(1)
    await twoPayments()
    await scanner.stop()
    const { command } = await request('rewind', { to: 1 })
    const height = await stage.height()
    await stores.db.connection
      .collection<{ _id: string }>('chain_cursors')
      .updateOne({ _id: 'test:ethereum' }, { $set: { lastCommand: command?.id } })
    stage.scan()
    await vi.waitFor(async () => {
      const stored = await createChainCommandRepository(stores.db).findById(command?.id ?? '')
      expect(stored).toMatchObject({ status: 'done', outcome: `The scanner resumed from block ${height}.` })
    }, PATIENCE)
  })
})

describe('a halted scanner', () => {
  async function halted() {
    const forkAt = 3
    const honest = stage.source()
    const { client, state } = forkingClient(honest.client, forkAt)
    stage.scan(stage.source({ client, development: false, finalityDepth: 2 }))
    await stage.untilHeight(1)
    await twoPayments()
    state.forked = true
    await vi.waitFor(async () => expect((await stage.cursor())?.status).toBe('halted'), PATIENCE)
    return { forkAt }
  }

  // Guarantee: money below finality is taken back only when a person says so.
  it('goes below finality only with a person who accepts the other branch, and then takes back what is gone', async () => {
    const { forkAt } = await halted()
    const refused = await carriedOut('resume')
    expect(refused).toMatchObject({ status: 'refused' })
    expect(refused.outcome).toContain(`Block ${forkAt - 1} is the newest`)
    expect(await stage.payments()).toMatchObject([{ state: 'confirmed' }, { state: 'confirmed' }])
    await expect(request('rescan', { from: 1 })).rejects.toMatchObject({ code: 'INVALID_STATE' })

    expect(await carriedOut('resume', { acceptReorg: true })).toMatchObject({ status: 'done' })
    await stage.untilHeight(await stage.height())
    expect(await stage.payments()).toMatchObject([{ state: 'confirmed' }, { state: 'orphaned' }])
    const inbox = stores.db.connection.collection('exceptions')
    expect(await inbox.countDocuments({ kind: 'halted_chain', open: true })).toBe(0)
    expect((await stage.cursor())?.status).toBe('live')
  })

  it('has nothing to resume when it is not halted', async () => {
    stage.scan()
    await stage.untilHeight(1)
    expect(await request('resume')).toMatchObject({ command: null })
  })
})
