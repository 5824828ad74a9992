import { beforeAll, describe, expect, test } from 'vitest'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let here: AdminCaller
beforeAll(async () => {
  here = await adminCaller(stores)
})

const opId = () => here.deps.random.uuid()

describe('settings', () => {
  test('a change is saved, sent twice it is one, and what is left out stays', async () => {
    const before = await here.caller.workspace.get(here.at)
    expect(before.depositBps).toBe(500)
    const change = {
      toleranceBps: 50,
      depositBps: 1_000,
      supportContact: 'help@example.com',
      confirmations: { btc_bitcoin: 6 },
    }
    const action = { ...here.at, opId: opId(), version: before.version, change }
    const after = await here.caller.workspace.update(action)
    expect(after).toMatchObject({
      toleranceBps: 50,
      depositBps: 1_000,
      supportContact: 'help@example.com',
      quoteMs: before.quoteMs,
    })
    expect(after.confirmations.find(({ asset }) => asset === 'btc_bitcoin')?.own).toBe(6)
    expect(await here.caller.workspace.update(action)).toEqual(after)
    const rows = await here.deps.audits.listBySubject(here.workspaceId)
    expect(rows).toMatchObject([
      { action: 'workspace.created' },
      { action: 'workspace.settings_changed', detail: { toleranceBps: 50 } },
    ])
    const cleared = { ...here.at, opId: opId(), version: after.version, change: { supportContact: null } }
    expect((await here.caller.workspace.update(cleared)).supportContact).toBeNull()
  })

  test('a table of confirmations by value is saved, shown and written into the audit trail as it was typed', async () => {
    const before = await here.caller.workspace.get(here.at)
    const bitcoin = before.confirmations.find(({ asset }) => asset === 'btc_bitcoin')
    expect(bitcoin?.usual.live[0]).toEqual({ fromUsd: 0, confirmations: 1 })
    const table = [
      { fromUsd: 0, confirmations: 2 },
      { fromUsd: 5_000, confirmations: 6 },
    ]
    const change = { confirmations: { btc_bitcoin: table } }
    const action = { ...here.at, opId: opId(), version: before.version, change }
    const after = await here.caller.workspace.update(action)
    expect(after.confirmations.find(({ asset }) => asset === 'btc_bitcoin')?.own).toEqual(table)
    const rows = await here.deps.audits.listBySubject(here.workspaceId)
    expect(rows.at(-1)).toMatchObject({ detail: { 'confirmations.btc_bitcoin': '2, 5000: 6' } })
  })

  // Guarantee: of two people who change settings in the same moment one is told who was faster, and overwrites nothing.
  test('the second of two changes is refused and says who changed what', async () => {
    const { caller, at, workspaceId } = await adminCaller(stores)
    const luis = await adminCaller(stores, { workspaceId, email: 'luis@example.com', role: 'admin' })
    const { version } = await caller.workspace.get(at)
    await luis.caller.workspace.update({ ...at, opId: opId(), version, change: { spreadBps: 100 } })
    const late = caller.workspace.update({ ...at, opId: opId(), version, change: { spreadBps: 0 } })
    await expect(late).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(late).rejects.toThrow(/^luis@example\.com changed spreadBps at 2\d{3}-/)
    expect((await caller.workspace.get(at)).spreadBps).toBe(100)
  })

  test('values without sense are refused by name', async () => {
    const { version } = await here.caller.workspace.get(here.at)
    const bad = [
      { toleranceBps: 1_001 },
      { depositBps: 10_001 },
      { quoteMs: 60_000 },
      { name: ' ' },
      { supportContact: 'javascript:alert(1)' },
      { confirmations: { btc_bitcoin: 0 } },
      { confirmations: { btc_bitcoin: 'finalized' as const } },
      { confirmations: { btc_bitcoin: [] } },
      { confirmations: { btc_bitcoin: [{ fromUsd: 5, confirmations: 1 }] } },
      { confirmations: { btc_bitcoin: [{ fromUsd: 0, confirmations: 'finalized' as const }] } },
      { confirmations: { eth_ethereum: [0, 9].map((fromUsd) => ({ fromUsd, confirmations: 9 - fromUsd || 1 })) } },
    ]
    for (const change of bad) {
      const refused = here.caller.workspace.update({ ...here.at, opId: opId(), version, change })
      await expect(refused, JSON.stringify(change)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    }
  })

  test('nobody without an authenticator can demand one', async () => {
    const bare = await adminCaller(stores, { secondFactor: 'none', steppedUp: false })
    const { version } = await bare.caller.workspace.get(bare.at)
    const change = { requiresSecondFactor: true }
    const refused = bare.caller.workspace.update({ ...bare.at, opId: opId(), version, change })
    await expect(refused).rejects.toMatchObject({ code: 'FORBIDDEN', cause: { details: [{ path: 'secondFactor' }] } })
    expect((await bare.caller.workspace.get(bare.at)).version).toBe(version)
  })
})
