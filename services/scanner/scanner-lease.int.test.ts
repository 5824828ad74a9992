import { describe, expect, it, vi } from 'vitest'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import type { ScanSession } from '#shared/usecases/scanning/scan-session.ts'
import { scanTick } from '#shared/usecases/scanning/scan-tick.ts'
import { CONFIRMATIONS, useScanStage, WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const stage = useScanStage(stores)

describe('two scanners', () => {
  it('take turns: one writes, the other stands by and takes over', async () => {
    const first = stage.scan()
    await stage.untilHeight(1)
    stage.scan()
    await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 5n })
    await stage.chain.mine(2)
    await stage.untilPayments([{ state: 'detected' }])
    const holder = (await stage.cursor())?.lease
    await first.stop()
    await vi.waitFor(
      async () => expect((await stage.cursor())?.lease?.owner ?? holder?.owner).not.toBe(holder?.owner),
      {
        timeout: 8_000,
      },
    )
    expect((await stage.cursor())?.lease?.epoch).toBeGreaterThan(holder?.epoch ?? Number.POSITIVE_INFINITY)
    await stage.chain.mine(CONFIRMATIONS)
    await stage.untilPayments([{ state: 'confirmed' }])
  })

  // Guarantee: a scanner that slept through the loss of its lease cannot move money or the cursor.
  it('leave nothing to one that slept and still believes to hold the lease', async () => {
    const zombieSource = stage.source()
    const started = stage.scan()
    await stage.untilHeight(1)
    await started.stop()
    const granted = await stage.deps.cursors.acquireLease('test', 'ethereum', 'zombie', 15_000)
    const stored = await stage.cursor()
    if (granted === null || stored === null) throw new Error('no lease')
    const index = createWatchIndex()
    index.add(WATCHED.matchKey)
    const zombie: ScanSession = {
      deps: stage.deps,
      source: zombieSource,
      lease: { epoch: granted.epoch, isHeld: () => true, release: async () => {} },
      index,
      missingSince: new Map(),
      cursor: stored,
    }
    await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 5n })
    await stage.chain.mine()
    const past = new Date(0)
    await stores.db.connection
      .collection<{ _id: string }>('chain_cursors')
      .updateOne({ _id: 'test:ethereum' }, { $set: { 'lease.until': past } })
    stage.scan()
    await stage.untilPayments([{ state: 'detected' }])
    await stage.untilHeight(await stage.height())
    const taken = await stage.cursor()

    const blocks = await zombieSource.client.scan(2, 2, index)
    const write = { mode: 'test', network: 'ethereum', blocks, epoch: granted.epoch } as const
    await expect(recordBlockTransfers(stage.deps, write)).rejects.toMatchObject({ name: 'ScannerFenced' })
    await expect(scanTick(zombie)).rejects.toMatchObject({ name: expect.stringMatching(/LeaseLost|ScannerFenced/) })
    expect(await stage.cursor()).toMatchObject({ height: taken?.height, hash: taken?.hash })
    expect(await stage.payments()).toHaveLength(1)
  })
})
