import { describe, expect, it } from 'vitest'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { planRelease, releaseDeadlines } from '#shared/usecases/networks/release-deadlines.ts'
import type { Engine } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { ETHEREUM, MINUTE, useStuckNetwork, WHY } from '#test/support/stuck-network-stage.ts'

const stores = useStores()
const { stage, openStage, moveOn, sweep, statusOf, shown, stuckFor20Minutes, goOn } = useStuckNetwork(stores)

// Guarantee: only a person lets a deadline pass unread; it is bounded, audited once, and takes nothing from a customer who had paid.
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
    const request = { ...ETHEREUM, ...WHY, through }
    expect(await planRelease(engine.deps, { ...ETHEREUM, through })).toMatchObject({ through, waiting: 2 })
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
    const request = { ...ETHEREUM, ...WHY, through: now, opId: 'one' }
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
    const request = { ...ETHEREUM, ...WHY, through: engine.deps.clock.now(), opId: 'one' }
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

  // Guarantee: where deadlines alone wait, the next block does not end a release before any invoice was looked at: some chains have one each 250 ms.
  it('of deadlines that cannot be proven goes on while blocks are read', async () => {
    const at = await openStage()
    const { engine } = at
    await moveOn(engine, MINUTE)
    const running = at.scanner()
    await stage.untilHeight(await stage.height())
    const unpaid = await engine.open({ asset: 'usdt_ethereum' })
    const { expiresAt } = unpaid.state
    await moveOn(engine, expiresAt - engine.deps.clock.now() + 5 * MINUTE)
    await stage.untilHeight(await stage.height())
    await running.stop()
    const cursors = stores.db.connection.collection('chain_cursors')
    const unproven = new Date(expiresAt - MINUTE)
    await cursors.updateOne({}, { $set: { unproven, waitReason: 'Deadlines wait.' } })
    await sweep(engine)
    expect(await statusOf(engine, unpaid)).toBe('pending')
    const through = engine.deps.clock.now()
    const request = { ...ETHEREUM, ...WHY, through, opId: 'one' }
    expect(await releaseDeadlines(engine.deps, request)).toMatchObject({ changed: true })
    await cursors.updateOne({}, { $set: { hash: `0x${'1'.repeat(64)}` } })
    expect(await shown(engine)).toMatchObject({ released: { through, by: WHY.actor } })
    await sweep(engine)
    expect(await statusOf(engine, unpaid)).toBe('expired')
  })

  it('by ten operators at once is one release', async () => {
    const at = await openStage()
    const { engine } = at
    await stuckFor20Minutes(at)
    const request = { ...ETHEREUM, ...WHY, through: engine.deps.clock.now() }
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, one) => releaseDeadlines(engine.deps, { ...request, opId: `op-${one}` })),
    )
    expect(all.filter(({ changed }) => changed)).toHaveLength(1)
    expect(await audits(engine)).toHaveLength(1)
  })
})
