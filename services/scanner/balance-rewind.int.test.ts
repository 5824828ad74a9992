import { expect, it, vi } from 'vitest'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createChainCommandRepository } from '#shared/db/scanning/chain-command-repository.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { requestCommand } from '#shared/usecases/scanning/request-chain-command.ts'
import { useBalanceStage } from '#test/support/balance-stage.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const { stage, source, clientOf, untilHead, scanOnce, waitForEther, send, prunedNode, credited } =
  useBalanceStage(stores)

/** Sends the scanner back, which has to be running. */
async function rewind(to: number): Promise<void> {
  const commands = createChainCommandRepository(stores.db)
  const payments = createPaymentRepository(stores.db, stores.runtime.random)
  const whole = { mode: 'test', network: 'ethereum', kind: 'rewind', from: null, to, acceptReorg: false } as const
  const { command } = await requestCommand(
    { ...stage.deps, commands, payments },
    { ...whole, dryRun: false, actor: 'cli' },
  )
  await vi.waitFor(async () => expect((await commands.findById(command?.id ?? ''))?.status).toBe('done'), 8_000)
}

// Guarantee: what a pruned node showed as one rise of many blocks is not counted again by a node that has them all, nor does
// it swallow what comes after it.
it.each(
  sampleOf(
    [
      { back: 2, batchMax: 2 },
      { back: 2, batchMax: 50 },
      { back: 1, batchMax: 2 },
      { back: 1, batchMax: 50 },
    ],
    1,
  ),
)('a rewind by $back payments with an archive in steps of $batchMax blocks counts nothing twice', async (to) => {
  await waitForEther()
  await scanOnce()
  await send(5n)
  await stage.chain.mine()
  await send(6n)
  await stage.chain.mine(4)
  const pruned = stage.scan(source(clientOf([await prunedNode()])))
  await untilHead()
  await pruned.stop()
  expect(await credited()).toEqual([11n])
  stage.scan(source(undefined, { batchMax: to.batchMax }))
  await rewind((await stage.height()) - 3 - to.back)
  await untilHead()
  await send(3n)
  await stage.chain.mine()
  await untilHead()
  expect(await credited()).toEqual([3n, 11n])
})

// Guarantee: the same when the new payment is in the same step as the old sum.
it('a rewind into the middle of a rise finds what came behind it', async () => {
  await waitForEther()
  await scanOnce()
  await send(5n)
  await stage.chain.mine()
  await send(6n)
  await stage.chain.mine(4)
  const pruned = stage.scan(source(clientOf([await prunedNode()])))
  await untilHead()
  const middle = (await stage.height()) - 4
  await pruned.stop()
  const scan = () => Promise.reject(new NodeUnreliable('this node shows no blocks'))
  const blind = stage.scan(source({ ...clientOf(), scan }))
  await rewind(middle)
  await blind.stop()
  await send(3n)
  await stage.chain.mine()
  stage.scan(source())
  await untilHead()
  expect(await credited()).toEqual([3n, 11n])
})
