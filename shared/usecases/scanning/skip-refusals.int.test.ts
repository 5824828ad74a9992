import { beforeEach, describe, expect, it, vi } from 'vitest'
import { RpcFailure } from '#shared/chains/nodes/rpc-failure.ts'
import type { ChainCommand } from '#shared/ports/chain-commands.ts'
import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { BlockUnreadable, type ChainClient, NodeUnreliable } from '#shared/ports/scanning.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { releaseDeadlines } from '#shared/usecases/networks/release-deadlines.ts'
import { recordFindings } from '#shared/usecases/payments/record-payments.ts'
import { paymentMethodOf } from '#test/support/engine.ts'
import { useMempoolStage } from '#test/support/mempool-stage.ts'
import { useStores } from '#test/support/stores.ts'
import { cancelChainCommands, requestCommand } from './request-chain-command.ts'
import { followCommands } from './scan-commands.ts'
import { moveCursor, type ScanSession } from './scan-session.ts'
import { skipBlocks } from './skip-blocks.ts'

const stores = useStores()
const { at, transfer } = useMempoolStage(stores)
const HEAD = 60
/** The lowest block that the node still has, and which heights have no block at all. */
let first = 0
let gaps: ReadonlySet<number> = new Set()
/** Blocks that the node lost behind others that it has. */
let lost: ReadonlySet<number> = new Set()
let isSilent = false
let isBusy = false
let silent: readonly string[] = []
/** Nodes that were not asked, or failed. */
let failing: readonly string[] = []
let unspent: readonly ScannedBlock[] = []
/** How many addresses each search was for. */
let searched: number[] = []
/** Why the search for unspent outputs fails, attempt by attempt. */
let searchFailures: Error[] = []
/** The last block that was not replaced while the node lost the others. */
let forkedAt = HEAD

const blockOf = (height: number): ScannedBlock => ({
  ...{ height, hash: `h${height}`, parentHash: `h${height - 1}`, time: at.engine.deps.clock.now(), transfers: [] },
})
const client: Partial<ChainClient> = {
  head: async () => ({ height: HEAD, hash: `h${HEAD}`, finalizedHeight: null }),
  async scan(from) {
    if (isSilent) throw new NodeUnreliable('no response')
    let height = from
    while (gaps.has(height)) height += 1
    if (height >= first && !lost.has(height)) return [blockOf(height)]
    const cause = isBusy ? new RpcFailure('retry', 'busy') : new RpcFailure('pruned', 'pruned data')
    throw new BlockUnreadable({ height, hash: null, method: 'getblock', reason: cause.message }, cause)
  },
  async blockAt(height) {
    const { cursor: own } = at.session
    if (height > forkedAt) return { ...blockOf(height), hash: `other${height}` }
    return { ...blockOf(height), ...(height === own.height && { hash: own.hash }) }
  },
  genesisHash: async () => 'g',
  async unspent(keys, { from }) {
    searched.push(keys.length)
    const failure = searchFailures.shift()
    if (failure !== undefined) throw failure
    return unspent.filter(({ height }) => height >= from)
  },
  silence: () => ({ hosts: silent, failing, outdated: [], answering: 1, differing: [], unheard: [] }),
}

beforeEach(async () => {
  const all = { mode: 'test', network: 'ethereum', kind: null, dryRun: false, actor: 'test' } as const
  await cancelChainCommands(at.engine.deps, all)
  ;[first, gaps, lost, isSilent, isBusy, silent, unspent] = [40, new Set(), new Set(), false, false, [], []]
  forkedAt = HEAD
  failing = []
  searchFailures = []
  searched = []
  ;(at.session as { source: ScanSession['source'] }).source = { ...at.session.source, client: client as ChainClient }
})

async function send(to: number | null = null): Promise<ChainCommand> {
  const input = { mode: 'test', network: 'ethereum', kind: 'skip', from: null, to, acceptReorg: false } as const
  const { command } = await requestCommand(at.engine.deps, {
    ...input,
    dryRun: false,
    actor: 'cli:olivia',
    reason: 'pruned',
  })
  if (command === null) throw new Error('nothing was stored')
  return command
}
/** Closes a request as the scanner does. */
const close = ({ id }: ChainCommand) =>
  at.engine.deps.commands.finish(
    id,
    { status: 'done', outcome: '', at: 1 },
    {
      ...{ id: `${id}:finished`, at: 1, actor: 'test', action: 'chain.skip_done', subject: 'x' },
      ...{ workspaceId: null, mode: 'test', detail: {} },
    },
  )
const cursor = () => at.engine.deps.cursors.find('test', 'ethereum')
async function ended(command: ChainCommand) {
  let end = await skipBlocks(at.session, command)
  for (let turn = 0; end === 'open' && turn < 50; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    end = await skipBlocks(at.session, command)
  }
  return end
}

describe('skipping blocks', () => {
  // Guarantee: no block that can be read is ever skipped.
  it.each([
    ['the next block can be read', (): unknown => (first = 0), null, /^Block 11 can be read/],
    ['a node is down', (): unknown => (silent = ['b.example']), null, /b\.example did not respond/],
    [
      'a node pauses or failed',
      (): unknown => (failing = ['b.example']),
      null,
      /b\.example did not respond.*Try again/,
    ],
    ['more are gone than were named', (): unknown => (first = 40), 20, /blocks 11 to 39\. .*--to 39/],
  ] as const)('is refused where %s', async (_, set, to, words) => {
    set()
    expect(await ended(await send(to))).toMatchObject({ status: 'refused', outcome: expect.stringMatching(words) })
    expect(await cursor()).toMatchObject({ height: 10 })
  })

  it.each([
    ['gives no answer', (): unknown => (isSilent = true)],
    ['fails for now', (): unknown => (isBusy = true)],
    ['gives not even its newest block', (): unknown => (first = HEAD + 1)],
  ] as const)('waits while the node %s', async (_, set) => {
    set()
    await expect(ended(await send())).rejects.toThrow(NodeUnreliable)
    expect(await cursor()).toMatchObject({ height: 10 })
  })

  it('ends before the first block that can be read, wherever that is and whichever heights have none', async () => {
    for (const lowest of [13, 14, 37, HEAD]) {
      await at.engine.setCursor(10, at.engine.deps.clock.now())
      at.session.cursor = (await cursor()) ?? at.session.cursor
      ;[first, gaps] = [lowest, new Set([lowest - 1, lowest + 1].filter((height) => height < HEAD))]
      const command = await send()
      expect(await ended(command)).toMatchObject({ status: 'done' })
      expect(await cursor()).toMatchObject({ height: lowest - 1, hash: `h${lowest - 1}`, skipped: { from: 11 } })
      await close(command)
    }
  })

  // Guarantee: of an installation with more addresses than one request takes, none is left out.
  it('searches what was paid to every address', async () => {
    const many = Array.from({ length: 20_001 }, (_, index) => index.toString(16).padStart(40, '0'))
    for (const key of many) at.session.index.add(key)
    const outcome = expect.stringContaining('of 20001 addresses')
    const command = await send()
    expect(await ended(command)).toMatchObject({ status: 'done', outcome })
    expect(searched).toEqual([20_000, 1])
    await close(command)
  })

  it('ends before the first block that can be read, also where more are missing behind it', async () => {
    ;[first, lost] = [14, new Set(Array.from({ length: 30 }, (_, offset) => 22 + offset))]
    expect(await ended(await send())).toMatchObject({ status: 'done' })
    expect(await cursor()).toMatchObject({ height: 13 })
  })

  // Guarantee: what replaced blocks that were read is searched with the rest. Found by the simulation.
  it('begins at the fork where the chain was reorganised before its blocks were lost', async () => {
    forkedAt = 8
    unspent = [{ ...blockOf(9), transfers: [transfer('in9', [])] }]
    const window = [
      [8, 'h8'],
      [9, 'h9'],
    ] as const
    at.session.cursor = { ...at.session.cursor, height: 10, window, skipped: null, lastCommand: null }
    expect(await ended(await send())).toMatchObject({ status: 'done' })
    expect(await cursor()).toMatchObject({ height: 39, skipped: { from: 9, to: 39 } })
    expect(await at.engine.deps.payments.listByInvoice(at.invoice.terms.id)).toMatchObject([{ txHash: 'in9' }])
  })

  // Guarantee: the same where the blocks below an earlier skip were replaced, whose deadlines nobody has let pass. Found by the simulation.
  it('searches from the lowest block that was ever skipped', async () => {
    unspent = [{ ...blockOf(12), transfers: [transfer('in12', [])] }]
    const { session } = at
    const since = session.cursor.time + 60_000
    const skipped = { ...{ from: 23, to: 24, since, until: since, at: since }, by: 'cli:olivia' }
    session.cursor = { ...session.cursor, height: 10, skipped, lastCommand: null }
    const { time } = session.cursor
    expect(await ended(await send())).toMatchObject({ status: 'done' })
    expect(await cursor()).toMatchObject({ height: 39, skipped: { from: 11, to: 39, since: time } })
    expect(await at.engine.deps.payments.listByInvoice(at.invoice.terms.id)).toMatchObject([{ txHash: 'in12' }])
  })

  // Guarantee: a crash between the move of the cursor and the search loses no payment, and stores none twice.
  it('searches again after a crash, and stores what is unspent once', async () => {
    unspent = [{ ...blockOf(30), transfers: [transfer('in30', [])] }]
    const command = await send()
    expect(await skipBlocks(at.session, command)).toBe('open')
    for (let run = 0; run < 2; run += 1) {
      at.session.searching = undefined
      expect(await ended(command)).toMatchObject({ status: 'done' })
    }
    const stored = await at.engine.deps.payments.listByInvoice(at.invoice.terms.id)
    expect(stored).toMatchObject([{ txHash: 'in30', block: { height: 30 }, version: 1 }])
  })

  // Guarantee: a rewind while the search waits for final blocks ends no skip: who may have paid in the skipped blocks is named all the same.
  it('searches also where a rewind moved the cursor meanwhile', async () => {
    const { unspent: _, ...accounts } = client
    const funds = { read: async () => ({ funds: new Map() }) } as unknown as ChainClient['funds']
    const { session, engine } = at
    ;(session as { source: ScanSession['source'] }).source = {
      ...session.source,
      client: { ...accounts, funds } as ChainClient,
    }
    session.cursor = { ...session.cursor, height: 10, finalizedHeight: 20, skipped: null, lastCommand: null }
    const skip = await send()
    await followCommands(session)
    await moveCursor(session, { height: 45, hash: 'h45', trouble: null })
    const rewind = {
      mode: 'test',
      network: 'ethereum',
      kind: 'rewind',
      from: null,
      to: 42,
      acceptReorg: false,
    } as const
    await requestCommand(engine.deps, { ...rewind, dryRun: false, actor: 'cli:olivia', reason: 'read again' })
    for (let turn = 0; turn < 3; turn += 1) await followCommands(session)
    expect(await cursor()).toMatchObject({ height: 42, skipped: { from: 11, to: 39 } })
    expect(await engine.deps.commands.findById(skip.id)).toMatchObject({ status: 'open' })
    await moveCursor(session, { finalizedHeight: 50 })
    const outcome = expect.stringMatching(new RegExp(`^Blocks 11 to 39 were skipped.*${at.invoice.terms.id}`))
    await vi.waitFor(async () => {
      await followCommands(session)
      expect(await engine.deps.commands.findById(skip.id)).toMatchObject({ status: 'done', outcome })
    })
  })

  // Guarantee: money that came above the balances hides none that came in skipped blocks, and an old balance says nothing. Found by the simulation.
  it.each([
    ['that are older than what is stored', 50, /These hold, or may hold, more/],
    ['that are no older than all of it', 55, /None of them holds more/],
    [
      'that are older than the skipped blocks',
      38,
      /What they paid was not searched \(the balances are those of block 38\)/,
    ],
  ])('compares balances %s with what was stored by then', async (_words, height, outcome) => {
    const { session, engine, invoice } = at
    const { matchKey, asset } = paymentMethodOf(invoice)
    const { unspent: _, ...accounts } = client
    const held = (key: string) => [{ asset, balanceBase: key === matchKey ? 25_000_000n : 0n }]
    const read = async (addresses: readonly { readonly matchKey: string }[]) => ({
      ...{ height, facts: [] },
      funds: new Map(addresses.map((one) => [one.matchKey, held(one.matchKey)])),
    })
    const source = { ...session.source, client: { ...accounts, funds: { read } } as unknown as ChainClient }
    ;(session as { source: ScanSession['source'] }).source = source
    const block = { height: 55, hash: 'h55', time: engine.deps.clock.now() }
    const found = [{ transfer: transfer(`above${height}`, []), block, seenAt: block.time }]
    await recordFindings(engine.deps, { mode: 'test', network: 'ethereum', epoch: 1 }, { found, outcomes: [] })
    await advanceInvoice(engine.deps, invoice.terms.id)
    session.cursor = { ...session.cursor, height: 10, finalizedHeight: 50, skipped: null }
    const command = await send()
    expect(await skipBlocks(session, command)).toBe('open')
    // For so long a search that fails is repeated.
    engine.advance(2 * 3_600_000)
    await vi.waitFor(async () => {
      const end = await skipBlocks(session, command)
      expect(end).toMatchObject({ status: 'done', outcome: expect.stringMatching(outcome) })
    })
    await close(command)
  })

  // Guarantee: what a rewind or a fork left to check above skipped blocks is still checked, and no look takes skipped blocks for read ones.
  it('leaves what the cursor knows of the blocks above and below', async () => {
    const { session } = at
    session.cursor = { ...session.cursor, height: 10, recheckThrough: 50, source: 'full', fullAbove: 5 }
    expect(await ended(await send())).toMatchObject({ status: 'done' })
    expect(await cursor()).toMatchObject({ height: 39, recheckThrough: 50, fullAbove: 39 })
  })

  // Guarantee: a node that fails the search says nothing about what was paid: it is put again, as every failed question is, …
  it('searches again where its node fails', async () => {
    unspent = [{ ...blockOf(32), transfers: [transfer('in32', [])] }]
    searchFailures = [new NodeUnreliable('no response'), new RpcFailure('late', 'no response within 1800 s')]
    expect(await ended(await send())).toMatchObject({ outcome: expect.stringContaining('1 payments') })
    expect(await at.engine.deps.payments.listByInvoice(at.invoice.terms.id)).toMatchObject([{ txHash: 'in32' }])
  })

  // … and no deadline waits for ever for a node that cannot search.
  it('says that nothing was searched where its node has refused or failed it for an hour', async () => {
    const command = await send()
    const failures = [new RpcFailure('refused', 'Method not found'), new NodeUnreliable('no response')]
    const failing = Array.from({ length: 50 }, () => failures).flat()
    searchFailures = [...failing]
    expect(await ended(command)).toBe('open')
    at.engine.advance(3_600_000)
    searchFailures = failing
    const outcome = expect.stringMatching(/was not searched \((Method not found|no response)\)/)
    expect(await ended(command)).toMatchObject({ status: 'done', outcome })
  })

  // Guarantee: what the search of a skip finds is stored before anybody lets deadlines pass.
  it('lets no deadlines pass before its search has ended', async () => {
    unspent = [{ ...blockOf(31), transfers: [transfer('in31', [])] }]
    const command = await send()
    expect(await skipBlocks(at.session, command)).toBe('open')
    const { deps } = at.engine
    const request = { mode: 'test', network: 'ethereum', actor: 'cli:olivia', reason: 'looked', dryRun: false } as const
    const release = () => releaseDeadlines(deps, { ...request, through: deps.clock.now(), opId: deps.random.uuid() })
    await expect(release()).rejects.toMatchObject({ code: 'INVALID_STATE' })
    // Also where the network waits for something else by now.
    const later = { ...deps, clock: { ...deps.clock, now: () => deps.clock.now() + 600_000 } }
    const silent = releaseDeadlines(later, { ...request, through: deps.clock.now(), opId: deps.random.uuid() })
    await expect(silent).rejects.toMatchObject({ code: 'INVALID_STATE', message: expect.stringContaining('searched') })
    expect(await ended(command)).toMatchObject({ status: 'done', outcome: expect.stringContaining('1 payments') })
    await close(command)
    expect(await release()).toMatchObject({ changed: true })
  })
})
