import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createChainCommandRepository } from '#shared/db/scanning/chain-command-repository.ts'
import { previewRescan } from '#shared/usecases/scanning/preview-rescan.ts'
import { requestCommand } from '#shared/usecases/scanning/request-chain-command.ts'
import type { ScanSource } from '#shared/usecases/scanning/scan-session.ts'
import { ETHER, increase, useBalanceStage } from '#test/support/balance-stage.ts'
import { WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'
import { briskPace } from '#test/support/thrifty-pace.ts'

const stores = useStores()
const { stage, source, clientOf, untilHead, send, sweep, waitForEther, prunedNode, credited } = useBalanceStage(stores)
const NEVER = { endedLookMs: 1e9, allLookMs: 1e9, weekLookMs: 1e9, monthLookMs: 1e9 }
const scope = { mode: 'test', network: 'ethereum' } as const
const rows = () => stores.db.connection.collection('exceptions').find().toArray()

/** Reads blocks again, and resolves with how the request ended. */
async function rescan(from: number, to: number): Promise<string | null | undefined> {
  const commands = createChainCommandRepository(stores.db)
  const payments = createPaymentRepository(stores.db, stores.runtime.random)
  const request = { ...scope, kind: 'rescan', from, to, acceptReorg: false, dryRun: false, actor: 'cli:test' } as const
  const { command } = await requestCommand({ ...stage.deps, commands, payments }, request)
  if (command === null) throw new Error('nothing was asked')
  return vi.waitFor(
    async () => {
      const stored = await commands.findById(command.id)
      expect(stored?.status).toBe('done')
      return stored?.outcome
    },
    { timeout: 20_000, interval: 50 },
  )
}

async function preview(from: number, to: number) {
  const payments = createPaymentRepository(stores.db, stores.runtime.random)
  const range = { ...scope, from, to, confirmedToo: false, acceptReorg: false, onProgress: () => undefined }
  return previewRescan({ ...stage.deps, payments, client: clientOf() }, range)
}

describe('a rescan of blocks in which contracts paid an address that no invoice holds', () => {
  let [from, to] = [0, 0]
  beforeEach(async () => {
    from = (await stage.height()) + 1
    await send(5n)
    await stage.chain.mine()
    await send(5n)
    await send(7n, WATCHED.address)
    await stage.chain.mine()
    await stage.chain.mine()
    // anvil counts it to the block that is its newest then.
    await stage.chain.fund(WATCHED.address, ETHER)
    await stage.chain.mine()
    await sweep(3n)
    await send(9n * ETHER)
    await stage.chain.mine()
    to = await stage.height()
    await stage.chain.mine()
  })

  // Guarantee: each block's increase is found exactly, is one payment however often it is read, and is told beforehand.
  it('finds each in its block, once', async () => {
    stage.scan(source())
    await untilHead()
    expect(await credited()).toEqual([7n])
    const told = await preview(from, to)
    expect(told.effects).toEqual({ added: 4 })
    expect(await rescan(from, to)).toContain('4 payments were found')
    const found = (await stage.payments()).map(({ key, height }) => ({ key, height }))
    expect(found).toHaveLength(5)
    expect(found).toEqual(
      expect.arrayContaining([
        { key: increase(5n, 0).key, height: from },
        { key: increase(5n, 1).key, height: from + 1 },
        { key: increase(9n * ETHER).key, height: to },
      ]),
    )
    expect(await rescan(from, to)).toContain('0 payments')
    expect(await rescan(from + 1, from + 1)).toContain('0 payments')
    expect((await preview(from, to)).effects).toEqual({})
    expect(await credited()).toHaveLength(5)
  })

  // Guarantee: where the state is gone, blocks and logs are read all the same, and the inbox says what could not be.
  it.each<[string, Partial<ScanSource>]>([
    ['that are all read', {}],
    ['that are chosen by balances', { thrifty: briskPace(NEVER) }],
  ])('says of blocks %s where no node has the state any more', async (_, change) => {
    const before = stage.scan(source())
    await untilHead()
    await before.stop()
    stage.scan(source(clientOf([await prunedNode()]), change))
    await stores.db.connection.collection('payments').deleteMany({})
    expect(await rescan(from, to)).toContain('1 payments')
    expect(await credited()).toEqual([7n])
    const gaps = (await rows()).filter(({ kind }) => kind === 'unexplained_balance')
    expect(gaps).toMatchObject([{ workspaceId: null, detail: expect.stringContaining(`blocks ${from} to ${to}`) }])
  })
})

describe('an increase of an awaited address', () => {
  it('that scanning stored is found a second time by no rescan', async () => {
    await waitForEther()
    stage.scan(source())
    await untilHead()
    const from = await stage.height()
    await send(5n)
    await stage.chain.mine()
    await send(5n)
    await stage.chain.mine(2)
    await stage.untilPayments([increase(5n, 0), increase(5n, 1)])
    await untilHead()
    expect(await rescan(from, await stage.height())).toContain('0 payments')
    expect(await credited()).toEqual([5n, 5n])
  })
})
