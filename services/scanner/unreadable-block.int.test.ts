import { expect, it, vi } from 'vitest'
import { ETHER, FORWARDER, rise, useBalanceStage } from '#test/support/balance-stage.ts'
import { asksTraces, TRACE_BOMB } from '#test/support/trace-bomb.ts'
import { CONFIRMATIONS, WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const { stage, source, clientOf, untilHead, waitForEther, send, signed, lying, credited } = useBalanceStage(stores)

/** How long the requirement gives a scanner to read such a block another way. */
const PATIENCE = { timeout: 60_000, interval: 100 }

async function dropBomb(): Promise<string> {
  const [from] = (await stage.chain.rpc('eth_accounts', [])) as string[]
  return (await stage.chain.rpc('eth_sendTransaction', [{ from, ...TRACE_BOMB }])) as string
}

const rows = () => stores.db.connection.collection('exceptions').find({ kind: 'unexplained_balance' }).toArray()
const untilPast = (height: number) =>
  vi.waitFor(async () => expect((await stage.cursor())?.height).toBeGreaterThanOrEqual(height), PATIENCE)

it('a block whose trace is 80 MB holds up no payment, neither in it nor after it', async () => {
  const invoiceId = await waitForEther()
  stage.scan()
  await untilHead()
  const bomb = await dropBomb()
  await send(7n, WATCHED.address)
  await send(5n)
  await stage.chain.mine()
  const height = await stage.height()
  await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 1_500_000n })
  await send(ETHER, WATCHED.address)
  await stage.chain.mine(CONFIRMATIONS)
  await untilPast(await stage.height())
  console.log(await stage.payments(), await rows(), bomb, height, invoiceId, FORWARDER, rise, source, clientOf, signed, lying, credited, asksTraces)
}, 120_000)
