import { setTimeout as delay } from 'node:timers/promises'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import type { Config } from '#shared/config/schema.ts'
import { connectDatabase } from '#shared/db/connection/connect.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'

const PAYABLE_MS = 30_000

/**
 * Waits until a first invoice can be priced and paid: a rate snapshot is published, and the sandbox wallet of test mode
 * has addresses that the scanners of the given networks watch. Throws after 30 s, naming the missing part.
 */
export async function awaitPayable(config: Config, networks: readonly NetworkId[]): Promise<void> {
  const logger = createLogger({ name: 'start', level: 'silent' })
  const db = await connectDatabase({ url: config.stores.mongoUrl, name: config.stores.mongoDatabase, logger })
  try {
    const rates = createRateRepository(db)
    const wallets = createWalletRepository(db)
    const missing = async (): Promise<string | null> => {
      if ((await rates.latest()) === null) return 'no rates have been published'
      const materials = await wallets.listMaterials()
      for (const network of networks) {
        const { family } = CHAINS[network]
        const sandbox = materials.find((one) => one.sandbox && one.family === family && one.mode === 'test')
        if (sandbox === undefined) return `the sandbox wallet of ${family} does not exist`
        const [next] = await wallets.addressesAt(sandbox.id, [sandbox.nextIndex])
        if (next?.watchedOn.includes(network) !== true) return `no address is monitored on ${network}`
      }
      return null
    }
    let reason = await missing()
    for (const until = Date.now() + PAYABLE_MS; reason !== null && Date.now() < until; reason = await missing()) {
      await delay(50)
    }
    if (reason !== null) throw new Error(`${reason} within ${PAYABLE_MS / 1_000} s; the log has the cause`)
  } finally {
    await db.close()
  }
}
