import { assembleInvoices } from '#services/invoices/assemble.ts'
import { assembleRates } from '#services/rates/assemble.ts'
import { assembleScanner } from '#services/scanner/assemble.ts'
import { assembleWebhooks } from '#services/webhooks/assemble.ts'
import { createWiredClient, isWired } from '../wire/wire-client.ts'
import type { SimChain } from '../world/chain.ts'
import { createSimChainClient } from '../world/chain-client.ts'
import { createSimHttpOut } from '../world/http-out.ts'
import type { Program } from '../world/supervisor.ts'
import { surround } from './surroundings.ts'

/** Addresses derived ahead; few, because each is a document of every seed. */
const HEADROOM = 24

/** Signs nothing: a simulated installation has no place for marks. */
const NO_KEYS = { keyId: '', mac: () => null }

const nothing = async (): Promise<void> => undefined

/** The `invoices` process. One that cannot read the keys when it starts ends, and its supervisor starts it again. */
export const invoicesProgram: Program = async (sim, running) => {
  const parts = await surround(sim, running)
  await assembleInvoices({ ...parts, markPlaces: [], markKeys: NO_KEYS, headroom: HEADROOM }).catch(
    (cause: unknown) => {
      sim.supervisor.crash(running.process, `at its start: ${String(cause)}`)
    },
  )
}

/** The `webhooks` process. */
export const webhooksProgram: Program = async (sim, running) => {
  const parts = await surround(sim, running)
  assembleWebhooks({
    ...parts,
    http: { ...createSimHttpOut(parts), close: nothing },
    stopwatch: () => performance.now(),
    allowLocalhost: false,
    concurrency: 16,
    maxInFlight: { normal: 64, slow: 16 },
    endpointInFlightMax: 64,
    processes: () => 1,
  })
}

/** The `rates` process over the simulated market. */
export const ratesProgram: Program = async (sim, running) => {
  const parts = await surround(sim, running)
  const quotes = () => sim.market.quotes(sim.scheduler.now)
  assembleRates({
    ...parts,
    sources: {
      poll: () => parts.call({ what: 'poll rates', latencyMs: 300, crash: 0, effect: quotes }),
      failing: () => [],
    },
    jumpConfirmation: { agrees: async () => null },
    closeSources: nothing,
  })
}

/** A `scanner` process of one network. */
export function scannerProgram(chain: SimChain): Program {
  return async (sim, running) => {
    const parts = await surround(sim, running)
    const { luck, call } = parts
    const plan = sim.scanPlans.get(chain.id)
    assembleScanner({
      ...parts,
      networks: [chain.network],
      openChain: (mode) => {
        if (mode !== chain.mode) return null
        const reached = [sim, chain, { call, process: running.process }, luck.fork('node')] as const
        return isWired(chain) ? createWiredClient(...reached) : { ...createSimChainClient(...reached), close: nothing }
      },
      thrifty: () => (plan?.isThrifty === true ? async () => plan.isNearlySpent : null),
      batchMax: luck.pick([2, 5, 20]),
      development: false,
    })
  }
}
