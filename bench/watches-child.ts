import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { connectDatabase } from '#shared/db/connection/connect.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { createWatchPackRepository } from '#shared/db/wallets/watch-pack-repository.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { createHotWatches, shareColdWatches } from '#shared/usecases/watches/cold-watches.ts'
import { hydrateWatches } from '#shared/usecases/watches/watch-feed.ts'

/** The part of a scanner's start that reads watches, as `assembleScanner` wires it; prints time and memory for `watches.ts`. */
const NETWORKS: readonly NetworkId[] = ['ethereum', 'polygon', 'base', 'arbitrum', 'bsc']

const { BENCH_MONGO: url = '', BENCH_DATABASE: name = '', BENCH_NETWORKS: networks = '1' } = process.env
const logger = createLogger({ name: 'bench', level: 'silent' })
const db = await connectDatabase({ url, name, logger })
const wallets = createWalletRepository(db)
const coldOf = shareColdWatches({ wallets, watchPacks: createWatchPackRepository(db) })
const cold = coldOf('live', 'evm')
const begun = performance.now()
const indexes = await Promise.all(
  NETWORKS.slice(0, Number(networks)).map(async (network) => {
    const index = createHotWatches(createWatchIndex, cold)
    await hydrateWatches({ wallets, logger, metrics: createMetrics() }, { mode: 'live', family: 'evm', network }, index)
    return index
  }),
)
const ms = performance.now() - begun
const cpu = process.cpuUsage()
const cpuMs = (cpu.user + cpu.system) / 1_000
const bytes = process.resourceUsage().maxRSS * 1_024
process.stdout.write(JSON.stringify({ ms, cpuMs, bytes, hot: indexes[0]?.size ?? 0, cold: cold.size }))
await db.close()
