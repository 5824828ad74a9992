import { expect, it, vi } from 'vitest'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createChainCommandRepository } from '#shared/db/scanning/chain-command-repository.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { requestCommand } from '#shared/usecases/scanning/request-chain-command.ts'
import { USUAL_LOOKS } from '#shared/usecases/scanning/thrifty-pace.ts'
import { ETHER, readsFunds, useBalanceStage } from '#test/support/balance-stage.ts'
import { sampleOf } from '#test/support/depth.ts'
import { STATE_GONE } from '#test/support/refusals.ts'
import { useStores } from '#test/support/stores.ts'
import { briskPace } from '#test/support/thrifty-pace.ts'

const stores = useStores()
const {
  stage,
  source,
  clientOf,
  untilHead,
  scanOnce,
  waitForEther,
  send,
  lying,
  scanBlind,
  replaceSum,
  prunedNode,
  credited,
} = useBalanceStage(stores)

/** Sends the scanner back, which has to be running. */
const rewind = (to: number) => command({ kind: 'rewind', to, acceptReorg: false })

async function command(what: {
  readonly kind: 'rewind' | 'resume'
  readonly to: number | null
  readonly acceptReorg: boolean
}) {
  const commands = createChainCommandRepository(stores.db)
  const payments = createPaymentRepository(stores.db, stores.runtime.random)
  const whole = { mode: 'test', network: 'ethereum', from: null, ...what } as const
  const { command: stored } = await requestCommand(
    { ...stage.deps, commands, payments },
    { ...whole, dryRun: false, actor: 'cli' },
  )
  await vi.waitFor(async () => expect((await commands.findById(stored?.id ?? ''))?.status).toBe('done'), 8_000)
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

/** A node that has dropped the state of every block below this one. */
async function nodeFrom(height: number): Promise<string> {
  const hashOf = async (at: number) =>
    ((await stage.chain.rpc('eth_getBlockByNumber', [`0x${at.toString(16)}`, false])) as { hash: string }).hash
  const gone = new Set(await Promise.all(Array.from({ length: height }, (_, at) => hashOf(at))))
  return lying((call, truth) => {
    const { blockHash } = (call.params[1] ?? {}) as { readonly blockHash?: string }
    return readsFunds(call) && blockHash !== undefined && gone.has(blockHash) ? STATE_GONE.geth : truth
  })
}

// Guarantee: deadlines that are proven after a person's rewind credit nothing that a payment above the cursor sums up already.
it('a rewind into blocks that passed without balances proves nothing before their sum is read again', async () => {
  await waitForEther()
  const thrifty = stage.scan(source(undefined, { thrifty: briskPace({ allLookMs: 3_600_000 }) }))
  await untilHead()
  await thrifty.stop()
  await scanOnce()
  await send(ETHER)
  await stage.chain.mine(3)
  await send(ETHER)
  await stage.chain.mine(2)
  await (await scanBlind()).stop()
  const middle = (await stage.height()) - 3
  await stage.chain.mine()
  const pruned = stage.scan(source(clientOf([await prunedNode()])))
  await untilHead()
  await pruned.stop()
  expect(await credited()).toEqual([2n * ETHER])
  stage.scan(source(clientOf([await nodeFrom(middle)]), { batchMax: 1 }))
  await rewind(middle)
  await stage.chain.mine()
  await untilHead()
  await vi.waitFor(async () => expect((await stage.cursor())?.unproven ?? null).toBeNull(), 20_000)
  expect(await credited()).toEqual([2n * ETHER])
})

// Guarantee: the sum of several blocks that a reorganisation takes out is found again where its money lies below the fork.
it('a sum that began below a fork is stored again', async () => {
  await replaceSum()
  stage.scan(source(undefined, { looks: USUAL_LOOKS }))
  await untilHead()
  await vi.waitFor(async () => expect(await credited()).toEqual([ETHER]), 20_000)
})

// Guarantee: a reorganisation that a person accepts takes no money that lies below it.
it('a sum that began below a fork is stored again where a person accepts the fork', async () => {
  await replaceSum()
  stage.scan(source(undefined, { finalityDepth: 1, looks: USUAL_LOOKS }))
  await vi.waitFor(async () => expect((await stage.cursor())?.status).toBe('halted'), 20_000)
  await command({ kind: 'resume', to: null, acceptReorg: true })
  await untilHead()
  await vi.waitFor(async () => expect(await credited()).toEqual([ETHER]), 20_000)
})
