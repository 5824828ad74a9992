import { describe, expect, it, vi } from 'vitest'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createChainCommandRepository } from '#shared/db/scanning/chain-command-repository.ts'
import type { ChainClient } from '#shared/ports/scanning.ts'
import { type PreviewInput, previewRescan } from '#shared/usecases/scanning/preview-rescan.ts'
import {
  type CommandInput,
  cancelChainCommands,
  requestCommand,
} from '#shared/usecases/scanning/request-chain-command.ts'
import { CONFIRMATIONS, useScanStage, WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const stage = useScanStage(stores)
const PATIENCE = { timeout: 8_000, interval: 20 }
const scope = { mode: 'test', network: 'ethereum' } as const
const commands = () => createChainCommandRepository(stores.db)
type Payments = Parameters<typeof previewRescan>[0]['payments']

const preview = async (input: Partial<PreviewInput> = {}, client: ChainClient = stage.source().client) => {
  const range = { ...scope, from: 1, to: await stage.height(), confirmedToo: false, acceptReorg: false }
  const payments = stage.deps.payments as typeof stage.deps.payments & Payments
  return previewRescan({ ...stage.deps, payments, client }, { ...range, onProgress: () => undefined, ...input })
}
const contents = async () =>
  Promise.all(
    ['payments', 'exceptions', 'chain_cursors', 'chain_commands', 'audit_log'].map((name) =>
      stores.db.connection.collection(name).find().sort({ _id: 1 }).toArray(),
    ),
  )

/** A stopped scanner that saw no payment, and a chain with two. */
async function missedTwo(): Promise<void> {
  const { client } = stage.source()
  const blind: ChainClient = {
    ...client,
    scan: async (...args) => (await client.scan(...args)).map((block) => ({ ...block, transfers: [] })),
  }
  const scanner = stage.scan(stage.source({ client: blind }))
  await stage.untilHeight(1)
  await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 5_000_000n })
  await stage.chain.pay({ asset: 'usdc_ethereum', to: `0x${'ab'.repeat(20)}`, amountBase: 9n })
  await stage.chain.pay({ asset: 'usdc_ethereum', to: WATCHED.address, amountBase: 7n })
  await stage.chain.mine(CONFIRMATIONS + 1)
  await stage.untilHeight(await stage.height())
  await scanner.stop()
}

function request(kind: CommandInput['kind'], input: Partial<CommandInput> = {}) {
  const payments = stage.deps.payments as typeof stage.deps.payments & Parameters<typeof requestCommand>[0]['payments']
  const whole = { ...scope, kind, from: null, to: null, acceptReorg: false, dryRun: false, actor: 'cli:test' }
  return requestCommand({ ...stage.deps, commands: commands(), payments }, { ...whole, ...input })
}
const cancel = (input: Partial<Parameters<typeof cancelChainCommands>[1]> = {}) =>
  cancelChainCommands(
    { ...stage.deps, commands: commands() },
    { ...scope, kind: null, dryRun: false, actor: 'cli:ada', ...input },
  )

describe('the dry run of a rescan', () => {
  // Guarantee: looking changes nothing, and what is told is what a rescan then does.
  it('names the payments that would be added, and afterwards that they stand as stored', async () => {
    await missedTwo()
    const before = await contents()
    const recorded = await preview()
    expect(recorded).toMatchObject({ blocks: await stage.height(), known: 0, effects: { added: 2 } })
    expect(recorded.changes.map(({ effect, amount, invoiceId }) => [effect, amount, invoiceId])).toEqual([
      ['added', '5 usdt_ethereum', null],
      ['added', '0.000007 usdc_ethereum', null],
    ])
    expect(await contents()).toEqual(before)

    stage.scan()
    await request('rescan', { from: 1 })
    await stage.untilPayments([{ state: 'confirmed' }, { state: 'confirmed' }])
    expect(await preview()).toMatchObject({ known: 2, effects: {}, changes: [] })
  })

  it('tells what would stand again, move, be taken back or be refused', async () => {
    await missedTwo()
    const scanner = stage.scan()
    await request('rescan', { from: 1 })
    await stage.untilPayments([{ state: 'confirmed' }, { state: 'confirmed' }])
    await scanner.stop()
    const rows = stores.db.connection.collection('payments')
    const usdt = { asset: 'usdt_ethereum' }
    const effects = async (change: object, input: Partial<PreviewInput> = {}) => {
      const stored = await rows.findOne(usdt)
      await rows.updateOne(usdt, { $set: change })
      const recorded = await preview(input)
      await rows.replaceOne(usdt, stored ?? {})
      return recorded.effects
    }
    expect(await effects({ state: 'orphaned', block: null })).toEqual({ returned: 1 })
    expect(await effects({ 'block.hash': '0xother' })).toEqual({ moved: 1 })
    expect(await effects({ amountBase: '1' })).toEqual({ contradicts: 1 })
    expect(await effects({ amountBase: '1', 'block.hash': '0xother' })).toEqual({ other_amount: 1 })
    const elsewhere = { key: 'test:ethereum:0xgone:0', 'block.hash': '0xother' }
    expect(await effects(elsewhere)).toEqual({ added: 1 })
    expect(await effects(elsewhere, { confirmedToo: true })).toEqual({ added: 1, taken_back: 1 })
    expect(await effects({ ...elsewhere, state: 'detected' })).toEqual({ added: 1, taken_back: 1 })
  })

  it('refuses a node that is not on the scanned chain, unless a person accepts it', async () => {
    await missedTwo()
    const { client } = stage.source()
    const other: ChainClient = {
      ...client,
      blockAt: async (height) => {
        const block = await client.blockAt(height)
        return block === null ? null : { ...block, hash: '0xother' }
      },
    }
    await expect(preview({}, other)).rejects.toMatchObject({ name: 'NodeUnreliable' })
    expect(await preview({ acceptReorg: true }, other)).toMatchObject({ effects: { added: 2 } })
  })
})

describe('cancelling', () => {
  it('closes what is open, once, and notes who did it', async () => {
    await missedTwo()
    const results = [await request('rescan', { from: 1 }), await request('rewind', { to: 1 })]
    expect((await cancel({ dryRun: true })).cancelled).toHaveLength(2)
    expect(await commands().listAllOpen()).toHaveLength(2)
    expect((await cancel({ kind: 'rewind' })).cancelled).toMatchObject([{ kind: 'rewind', status: 'cancelled' }])
    expect((await cancel()).cancelled).toMatchObject([
      { id: results[0]?.command?.id, status: 'cancelled', outcome: 'Cancelled by cli:ada. It had not started.' },
    ])
    expect(await cancel()).toEqual({ cancelled: [], tooLate: [] })
    const auditWrite = await createAuditRepository(stores.db).listBySubject('test:ethereum')
    expect(auditWrite.map(({ action, actor }) => [action, actor]).slice(2)).toEqual([
      ['chain.rewind_cancelled', 'cli:ada'],
      ['chain.rescan_cancelled', 'cli:ada'],
    ])
    const cursor = await stage.cursor()
    stage.scan()
    await stage.chain.mine()
    await stage.untilHeight((cursor?.height ?? 0) + 1)
    expect(await stage.payments()).toEqual([])
    // The way is free for another request of the kind.
    expect((await request('rescan', { from: 2 })).repeated).toBe(false)
  })

  // Guarantee: a request is never shown as cancelled although a scanner carried it out.
  it('comes too late once a scanner has taken a request', async () => {
    await missedTwo()
    const { command } = await request('rewind', { to: 1 })
    expect(await commands().take(command?.id ?? '')).toBe(true)
    expect(await cancel()).toMatchObject({ cancelled: [], tooLate: [{ status: 'open' }] })
    stage.scan()
    await vi.waitFor(async () => expect((await commands().findById(command?.id ?? ''))?.status).toBe('done'), PATIENCE)
  })

  it('moves no cursor when it comes before the scanner takes the request', async () => {
    await missedTwo()
    const height = (await stage.cursor())?.height
    const { command } = await request('rewind', { to: 1 })
    stage.deps.commands.take = async (id) => {
      await cancel()
      return commands().take(id)
    }
    stage.scan()
    await vi.waitFor(async () => {
      expect((await commands().findById(command?.id ?? ''))?.status).toBe('cancelled')
    }, PATIENCE)
    expect((await stage.cursor())?.height).toBeGreaterThanOrEqual(height ?? Number.NaN)
    expect((await stage.cursor())?.lastCommand ?? null).toBeNull()
  })

  it('ends a rescan between two steps without costing the scanner its lease', async () => {
    await missedTwo()
    const { client } = stage.source()
    let rescanning = false
    const cancelling: ChainClient = {
      ...client,
      scan: async (from, ...args) => {
        const blocks = await client.scan(from, ...args)
        if (rescanning && from === 3) await cancel()
        return blocks
      },
    }
    const { command } = await request('rescan', { from: 1 })
    rescanning = true
    stage.scan(stage.source({ client: cancelling, batchMax: 2 }))
    await vi.waitFor(async () => {
      const stored = await commands().findById(command?.id ?? '')
      expect(stored).toMatchObject({ status: 'cancelled', nextHeight: 3 })
      expect(stored?.outcome).toContain('Blocks 1 to 2 had been rescanned')
    }, PATIENCE)
    const epoch = (await stage.cursor())?.lease?.epoch
    await stage.chain.mine()
    await stage.untilHeight(await stage.height())
    expect((await stage.cursor())?.lease?.epoch).toBe(epoch)
  })
})
