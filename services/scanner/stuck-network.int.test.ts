import { describe, expect, it, vi } from 'vitest'
import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { NodeMismatch } from '#shared/ports/scanning.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { requestCommand } from '#shared/usecases/scanning/request-chain-command.ts'
import { deepTest } from '#test/support/depth.ts'
import { paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { DUE, ETHEREUM, MINUTE, useStuckNetwork } from '#test/support/stuck-network-stage.ts'

const { stage, openStage, scan, moveOn, sweep, statusOf, shown, rows, stuckFor20Minutes, goOn } = useStuckNetwork(
  useStores(),
)

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
    await stage.chain.pay({ asset: 'usdt_ethereum', to: paymentMethodOf(invoice).address, amountBase: DUE })
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

  deepTest(
    'is no matter for the network when the block lies behind the cursor and a person wants it read again',
    async () => {
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
      await requestCommand({ ...engine.deps }, { ...rescan, dryRun: false, actor: 'cli:olivia' })
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
    },
  )

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
        scan: (...args): Promise<readonly ScannedBlock[]> => {
          if (broken) throw new TypeError('cannot read\u001b[2J of http://user:hush@node.example/v3/hush?key=hush\n')
          return honest.scan(...args)
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
      expect(row?.detail).toContain('has not been scanned: its node was rejected: chain id 1 instead of 31337')
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
    expect((await shown(engine)).stuck?.sentence).toBe('The node was rejected: chain id 1 instead of 31337.')
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
    expect((await rows(engine))[0]?.detail).toContain('No scanner is running for this network.')
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

// Guarantee: a node that is gone is called that, with the system's reason, also when it went while a block was read.
describe('a node whose process is killed', () => {
  it('does not respond, and is never blamed for a block', async () => {
    const at = await openStage()
    const { engine, host, killNode } = at
    await moveOn(engine, MINUTE)
    const running = at.scanner()
    await stage.untilHeight(await stage.height())
    await killNode()
    await stage.chain.mine(3)
    const silent = async () => {
      engine.advance(30_000)
      running.wake()
      const { stuck } = await shown(engine)
      expect(stuck).toMatchObject({ cause: 'node_silent' })
      expect(stuck?.sentence).toMatch(new RegExp(`does not respond.* at ${host}: refused the connection`))
    }
    await vi.waitFor(silent, { timeout: 15_000 })
  })
})
