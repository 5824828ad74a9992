import { setTimeout as delay } from 'node:timers/promises'
import type { Paymesh } from '#clients/typescript/src/main.ts'

const PRICED_MS = 90_000

/** Waits until an estimate is answered, hence until rates are published. Not a part of the load. */
export async function untilPriced(client: () => Paymesh): Promise<void> {
  for (const until = Date.now() + PRICED_MS; ; await delay(500)) {
    try {
      const list = await client().currencies.list().page()
      if (list.data.some(({ id, available }) => id === 'usdt_ethereum' && available)) {
        await client().estimate({ amount: '1.00', currency: 'USD', asset: 'usdt_ethereum' })
        return
      }
    } catch (error) {
      if (Date.now() > until) throw error
    }
    if (Date.now() > until) throw new Error('the installation offered no asset in time')
  }
}
