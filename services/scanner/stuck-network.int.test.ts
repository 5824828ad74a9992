import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Invoice } from '#shared/ports/invoices.ts'
import { NodeMismatch, type ScannedBlock } from '#shared/ports/scanning.ts'
import { advanceInvoice, overdueInvoices } from '#shared/usecases/invoices/advance-invoice.ts'
import { type ChainStatus, chainStatus } from '#shared/usecases/networks/chain-status.ts'
import { planRelease, releaseDeadlines } from '#shared/usecases/networks/release-deadlines.ts'
import { createStuckReporter } from '#shared/usecases/networks/report-stuck-networks.ts'
import { askChain } from '#shared/usecases/scanning/request-chain-command.ts'
import { startChainScanner } from '#shared/usecases/scanning/scan-chain.ts'
import type { ScanSource } from '#shared/usecases/scanning/scan-session.ts'
import { type Engine, lockOf, openEngine } from '#test/support/engine.ts'
import { startLyingNode } from '#test/support/lying-node.ts'
import { CONFIRMATIONS, useScanStage } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'

const MINUTE = 60_000
const DUE = 25_000_000n
const ETHEREUM = { mode: 'test', network: 'ethereum' } as const
const WHY = { actor: 'user:olivia@example.com', reason: 'The provider cannot serve block data today.' }

const stores = useStores()
const stage = useScanStage(stores)
const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** An installation whose only node answers everything except one block, from when it is told. */
async function openStage() {
  const node: { badHeight: number | null } = { badHeight: null }
  const lying = await startLyingNode(stage.chain.url, ({ method, params }, truth) =>
    method === 'eth_getBlockByNumber' && node.badHeight !== null && Number(params[0]) === node.badHeight
      ? { error: { code: -32_000, message: 'missing trie node' } }
      : truth,
  )
  ends.push(lying.close)
  const engine = await openEngine(stores, { ethereum: { rpcUrls: [stage.chain.url], confirmations: CONFIRMATIONS } })
  const scanner = () => scan(engine, { client: stage.source({}, 31_337, [lying.url]).client })
  return { engine, node, host: new URL(lying.url).host, scanner, reporter: createStuckReporter(engine.deps) }
}

/** A scanner by the engine's clock. */
function scan(engine: Engine, change: Partial<ScanSource>) {
  const { clock, kicker, catalog } = engine.deps
  const scanner = startChainScanner(
    { ...stage.deps, clock, kicker, catalog },
    stage.source({ development: false, ...change }),
  )
  ends.push(() => scanner.stop())
  return scanner
}

/** Moves the clock, and mines a block of that very time. */
async function moveOn(engine: Engine, ms: number): Promise<void> {
  engine.advance(ms)
  await engine.publishRates()
  await stage.chain.rpc('evm_setNextBlockTimestamp', [Math.floor(engine.deps.clock.now() / 1_000)])
  await stage.chain.mine()
}

async function sweep(engine: Engine): Promise<void> {
  for (const id of await overdueInvoices(engine.deps)) await advanceInvoice(engine.deps, id)
}

const statusOf = async (engine: Engine, { terms }: Invoice) =>
  (await engine.deps.invoices.findById(terms.id))?.state.status

async function shown(engine: Engine): Promise<ChainStatus> {
  const found = (await chainStatus(engine.deps)).find(({ network }) => network === 'ethereum')
  if (found === undefined) throw new Error('no status')
  return found
}

const rows = async (engine: Engine) =>
  (await engine.deps.exceptions.listOpen(null)).filter(({ kind }) => kind === 'halted_chain')

type Stage = Awaited<ReturnType<typeof openStage>>

/**
 * Invoices whose time is over by twenty minutes; one was paid in time, in the block that nobody can read, and one ended two
 * minutes after the others. The scanner has failed on that block for all that time.
 */
async function stuckFor20Minutes({ engine, node, scanner }: Stage) {
  await moveOn(engine, MINUTE)
  const running = scanner()
  await stage.untilHeight(await stage.height())
  const paid = await engine.open({ asset: 'usdt_ethereum' })
  const unpaid = await engine.open({ asset: 'usdt_ethereum' })
  const last = (await stage.height()) + 1
  node.badHeight = last + 1
  await moveOn(engine, MINUTE)
  await stage.chain.pay({ asset: 'usdt_ethereum', to: lockOf(paid).address, amountBase: DUE })
  await moveOn(engine, MINUTE)
  const later = await engine.open({ asset: 'usdt_ethereum' })
  for (let minute = 0; minute < 40; minute += 5) {
    await moveOn(engine, 5 * MINUTE)
    running.wake()
    await vi.waitFor(async () => {
      running.wake()
      expect((await stage.cursor())?.trouble?.lastAt).toBeGreaterThan(engine.deps.clock.now() - MINUTE)
    })
    await sweep(engine)
  }
  // A failure that goes on is written down every few seconds.
  engine.advance(10_000)
  const head = await stage.height()
  await vi.waitFor(async () => {
    running.wake()
    expect((await stage.cursor())?.headHeight).toBe(head)
  })
  return { paid, unpaid, later, last, running }
}

const goOn = async ({ node }: Stage, running: { wake(): void }) => {
  node.badHeight = null
  await stage.chain.mine(CONFIRMATIONS)
  const head = await stage.height()
  await vi.waitFor(
    async () => {
      running.wake()
      expect((await stage.cursor())?.height).toBe(head)
    },
    { timeout: 10_000 },
  )
}

// Guarantee: a deadline never passes over a block that nobody has read, and people are told which block, which call and why.
describe('a node that fails on one block for ever', () => {
  it('expires neither a paid nor an unpaid invoice, and everything is settled once the block is read', async () => {
    const at = await openStage()
    const { engine, host, reporter } = at
    const { paid, unpaid, last, running } = await stuckFor20Minutes(at)
    expect([await statusOf(engine, paid), await statusOf(engine, unpaid)]).toEqual(['pending', 'pending'])

    const status = await shown(engine)
    expect(status).toMatchObject({ status: 'stuck', height: last, stuck: { cause: 'block_unreadable' } })
    expect(status.lagBlocks).toBe((await stage.height()) - last)
    expect(status.trouble).toMatchObject({ height: last + 1, method: 'eth_getBlockByNumber', host })
    for (const part of [`Block ${last + 1} `, 'eth_getBlockByNumber', host, 'error -32000']) {
      expect(status.stuck?.sentence).toContain(part)
    }
    expect(status.trouble?.tries).toBeGreaterThan(7)

    await reporter.run()
    const [row, ...more] = await rows(engine)
    expect(more).toEqual([])
    expect(row?.detail).toContain(`Block ${last + 1} cannot be read`)
    expect(row?.detail).toContain('eth_getBlockByNumber')
    expect(row?.detail).toContain(`${status.lagBlocks} blocks behind its node`)
    expect(row?.detail).toContain('release-deadlines')

    await goOn(at, running)
    await sweep(engine)
    await advanceInvoice(engine.deps, paid.terms.id)
    expect([await statusOf(engine, paid), await statusOf(engine, unpaid)]).toEqual(['paid', 'expired'])
    expect(await shown(engine)).toMatchObject({ status: 'live', stuck: null, trouble: null, lagBlocks: 0 })
    await reporter.run()
    expect(await rows(engine)).toEqual([])
  })

  it('credits what lies before the block, however many blocks are read at a time', async () => {
    const at = await openStage()
    const { engine, node, scanner } = at
    await moveOn(engine, MINUTE)
    const first = scanner()
    await stage.untilHeight(await stage.height())
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    await first.stop()
    await stage.chain.pay({ asset: 'usdt_ethereum', to: lockOf(invoice).address, amountBase: DUE })
    await moveOn(engine, MINUTE)
    await stage.chain.mine(10)
    node.badHeight = (await stage.height()) - 3
    const second = scanner()
    await vi.waitFor(
      async () => {
        second.wake()
        expect((await stage.cursor())?.height).toBe((node.badHeight ?? 0) - 1)
      },
      { timeout: 15_000 },
    )
    // Payments are confirmed behind the move of the cursor.
    await vi.waitFor(async () => {
      await advanceInvoice(engine.deps, invoice.terms.id)
      expect(await statusOf(engine, invoice)).toBe('paid')
    })
    await vi.waitFor(async () => expect((await stage.cursor())?.trouble?.height).toBe(node.badHeight))
  })

  it('is no matter for the network when the block lies behind the cursor and a person wants it read again', async () => {
    const at = await openStage()
    const { engine, node, scanner } = at
    await moveOn(engine, MINUTE)
    const running = scanner()
    await stage.untilHeight(await stage.height())
    await moveOn(engine, MINUTE)
    await stage.untilHeight(await stage.height())
    node.badHeight = (await stage.height()) - 1
    const rescan = {
      ...ETHEREUM,
      kind: 'rescan',
      from: node.badHeight,
      to: node.badHeight,
      acceptReorg: false,
    } as const
    await askChain({ ...engine.deps }, { ...rescan, dryRun: false, actor: 'cli:olivia' })
    for (let minute = 0; minute < 5; minute += 1) {
      engine.advance(MINUTE)
      await vi.waitFor(async () => {
        running.wake()
        expect((await stage.cursor())?.headSeenAt).toBeGreaterThan(engine.deps.clock.now() - 10_000)
      })
    }
    expect(await shown(engine)).toMatchObject({
      status: 'live',
      stuck: null,
      trouble: null,
      open: [{ kind: 'rescan' }],
    })
  })

  it('keeps no other network and no invoice without a network waiting', async () => {
    const at = await openStage()
    const { engine } = at
    const [elsewhere, nowhere] = [await engine.open({ asset: 'usdt_polygon' }), await engine.open()]
    const { unpaid } = await stuckFor20Minutes(at)
    expect(await Promise.all([elsewhere, nowhere, unpaid].map((one) => statusOf(engine, one)))).toEqual([
      'expired',
      'expired',
      'pending',
    ])
    // A payer can still be sent to another network.
    expect((await engine.open({ asset: 'usdt_polygon' })).state.status).toBe('pending')
  })
})

// Guarantee: only a person lets a deadline pass unread; it is bounded, audited once, and takes nothing from whoever had paid.
describe('a release of deadlines', () => {
  const audits = async (engine: Engine) =>
    (await engine.deps.audits.listBySubject('test:ethereum')).filter(({ action }) =>
      action.startsWith('chain.deadlines'),
    )

  it('expires what was due by then, is audited once, and ends when the scanner goes on', async () => {
    const at = await openStage()
    const { engine } = at
    const { paid, unpaid, later, last, running } = await stuckFor20Minutes(at)
    const through = unpaid.state.expiresAt + 1
    const plan = await planRelease(engine.deps, { ...ETHEREUM, through: null })
    expect(plan).toMatchObject({ height: last, waiting: 3, stuck: { cause: 'block_unreadable' } })
    const request = { ...ETHEREUM, ...WHY, through, dryRun: false }
    expect(await releaseDeadlines(engine.deps, { ...request, opId: 'dry', dryRun: true })).toMatchObject({
      changed: false,
    })
    await sweep(engine)
    expect(await statusOf(engine, unpaid)).toBe('pending')

    expect(await releaseDeadlines(engine.deps, { ...request, opId: 'one' })).toMatchObject({ changed: true })
    expect(await releaseDeadlines(engine.deps, { ...request, opId: 'one' })).toMatchObject({ changed: false })
    expect(await releaseDeadlines(engine.deps, { ...request, opId: 'two' })).toMatchObject({ changed: false })
    const earlier = { ...request, through: through - MINUTE, opId: 'three' }
    expect(await releaseDeadlines(engine.deps, earlier)).toMatchObject({ changed: false })
    const [audit, ...more] = await audits(engine)
    expect(more).toEqual([])
    expect(audit).toMatchObject({ actor: WHY.actor, action: 'chain.deadlines_released' })
    expect(audit?.detail).toMatchObject({ reason: WHY.reason, block: last, invoices_waiting: 2 })
    expect(await shown(engine)).toMatchObject({ released: { through, by: WHY.actor }, deadlinesUntil: through })

    await sweep(engine)
    // Not for ever: what ended later waits on.
    expect(await Promise.all([paid, unpaid, later].map((one) => statusOf(engine, one)))).toEqual([
      'expired',
      'expired',
      'pending',
    ])

    await goOn(at, running)
    await advanceInvoice(engine.deps, paid.terms.id)
    expect([await statusOf(engine, paid), await statusOf(engine, unpaid)]).toEqual(['paid', 'expired'])
    expect((await shown(engine)).released).toBeNull()
    await expect(releaseDeadlines(engine.deps, { ...request, opId: 'late' })).rejects.toMatchObject({
      code: 'INVALID_STATE',
    })
    expect(await audits(engine)).toHaveLength(1)
  })

  it('is refused for the future, without a reason, and for a network that advances or was never scanned', async () => {
    const at = await openStage()
    const { engine } = at
    await moveOn(engine, MINUTE)
    at.scanner()
    await stage.untilHeight(await stage.height())
    const now = engine.deps.clock.now()
    const request = { ...ETHEREUM, ...WHY, through: now, dryRun: false, opId: 'one' }
    const refusal = (change: object) => releaseDeadlines(engine.deps, { ...request, ...change })
    await expect(refusal({ through: now + MINUTE })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    await expect(refusal({ through: Number.NaN })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    await expect(refusal({ reason: ' ' })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    await expect(refusal({})).rejects.toMatchObject({ code: 'INVALID_STATE' })
    await expect(refusal({ network: 'polygon' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await audits(engine)).toEqual([])
  })

  it('that meets a cursor which just moved changes nothing', async () => {
    const at = await openStage()
    const { engine, scanner } = at
    const { unpaid, running } = await stuckFor20Minutes(at)
    const request = { ...ETHEREUM, ...WHY, through: engine.deps.clock.now(), dryRun: false, opId: 'one' }
    const cursors = {
      ...engine.deps.cursors,
      releaseDeadlines: async (...given: Parameters<typeof engine.deps.cursors.releaseDeadlines>) => {
        await goOn(at, running)
        return engine.deps.cursors.releaseDeadlines(...given)
      },
    }
    await expect(releaseDeadlines({ ...engine.deps, cursors }, request)).rejects.toMatchObject({
      code: 'INVALID_STATE',
    })
    expect(await audits(engine)).toEqual([])
    expect((await stage.cursor())?.released ?? null).toBeNull()
    await running.stop()
    scanner()
    await sweep(engine)
    // Expired because its chain was read, not because of the release.
    expect(await statusOf(engine, unpaid)).toBe('expired')
  })

  it('by ten operators at once is one release', async () => {
    const at = await openStage()
    const { engine } = at
    await stuckFor20Minutes(at)
    const request = { ...ETHEREUM, ...WHY, through: engine.deps.clock.now(), dryRun: false }
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, one) => releaseDeadlines(engine.deps, { ...request, opId: `op-${one}` })),
    )
    expect(all.filter(({ changed }) => changed)).toHaveLength(1)
    expect(await audits(engine)).toHaveLength(1)
  })
})

describe('other ways to be stuck', () => {
  const client = () => stage.source().client

  it('a fault of our own code is named as well, and a terminal obeys nothing of it', async () => {
    const { engine, reporter } = await openStage()
    await moveOn(engine, MINUTE)
    const honest = client()
    let broken = false
    const scanner = scan(engine, {
      client: {
        ...honest,
        scan: (...asked): Promise<readonly ScannedBlock[]> => {
          if (broken) throw new TypeError('cannot read\u001b[2J of http://user:hush@node.example/v3/hush?key=hush\n')
          return honest.scan(...asked)
        },
      },
    })
    await stage.untilHeight(await stage.height())
    broken = true
    const stoppedAt = await stage.height()
    await moveOn(engine, MINUTE)
    await vi.waitFor(async () => expect((await stage.cursor())?.trouble?.kind).toBe('other'))
    await moveOn(engine, 2 * MINUTE)
    await vi.waitFor(async () => {
      scanner.wake()
      expect((await stage.cursor())?.trouble?.tries).toBeGreaterThan(1)
    })
    const { stuck, lagBlocks, trouble } = await shown(engine)
    expect(stuck?.sentence).toContain(`Block ${stoppedAt + 1} cannot be read`)
    expect(stuck?.cause).toBe('scan_failed')
    expect(lagBlocks).toBe(2)
    expect(trouble?.reason).toBe('TypeError: cannot read [2J of node.example')
    await reporter.run()
    expect((await rows(engine))[0]?.detail).toContain('TypeError')
  })

  it('a node that is refused is named before and after the first block', async () => {
    const { engine, reporter } = await openStage()
    const refused = { ...client(), verify: () => Promise.reject(new NodeMismatch('chain id 1 instead of 31337')) }
    const first = scan(engine, { client: refused })
    await vi.waitFor(async () => {
      engine.advance(11_000)
      first.wake()
      const [row] = await rows(engine)
      expect(row?.detail).toContain('was never scanned: its node is refused: chain id 1 instead of 31337')
    })
    await first.stop()

    const second = scan(engine, {})
    await stage.untilHeight(await stage.height())
    await reporter.run()
    expect(await rows(engine)).toEqual([])
    await second.stop()
    const third = scan(engine, { client: refused })
    await vi.waitFor(async () => {
      engine.advance(11_000)
      third.wake()
      expect(await shown(engine)).toMatchObject({ status: 'stuck', stuck: { cause: 'node_refused' } })
    })
    expect((await shown(engine)).stuck?.sentence).toBe('The node is refused: chain id 1 instead of 31337.')
  })

  it('no scanner at all is named, but not in the first minute after a downtime', async () => {
    const { engine, reporter } = await openStage()
    const scanner = scan(engine, {})
    await stage.untilHeight(await stage.height())
    await scanner.stop()
    engine.advance(60 * MINUTE)
    expect(await shown(engine)).toMatchObject({ status: 'stuck', stuck: { cause: 'no_scanner' } })
    await reporter.run()
    expect(await rows(engine)).toEqual([])
    engine.advance(MINUTE)
    await reporter.run()
    expect((await rows(engine))[0]?.detail).toContain('No scanner holds its lease.')
    scan(engine, {})
    await vi.waitFor(async () => {
      await reporter.run()
      expect(await rows(engine)).toEqual([])
    })
  })

  it('a quiet test chain is none: its deadlines pass while its node answers', async () => {
    const { engine, reporter } = await openStage()
    await moveOn(engine, MINUTE)
    const scanner = scan(engine, {})
    await stage.untilHeight(await stage.height())
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    engine.advance(60 * MINUTE)
    await vi.waitFor(async () => {
      scanner.wake()
      await sweep(engine)
      expect(await statusOf(engine, invoice)).toBe('expired')
    })
    engine.advance(60 * MINUTE)
    await vi.waitFor(async () => {
      scanner.wake()
      expect(await shown(engine)).toMatchObject({ status: 'live', stuck: null })
    })
    await reporter.run()
    expect(await rows(engine)).toEqual([])
  })
})
