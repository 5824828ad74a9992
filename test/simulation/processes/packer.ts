import { packWatches } from '#shared/usecases/watches/pack-watches.ts'
import type { Program } from '../world/supervisor.ts'
import { nothingToPack } from './nothing-due.ts'
import { surround } from './surroundings.ts'

/** The job believes that so much time has passed, so that addresses move while late payers still pay. */
const AHEAD_MS = 40 * 86_400_000
const PAUSE_MIN_MS = 20_000
const PAUSE_MAX_MS = 400_000
/** Chance that the job dies after it stored a pack or marked addresses. */
const DIES = 0.25
/** Chance that a scanner is started again when the job is: it then has in memory what the store has. */
const ALL_RESTART = 0.6

/** A `maintenance` process that does nothing but move addresses into packs, and often dies between two writes. */
export const packerProgram: Program = async (sim, running) => {
  const parts = await surround(sim, running)
  const luck = sim.random.fork(`packer/${running.process.name}`)
  const mayCrash = () => !sim.healed && sim.mix.crashesMax > 0
  const afterwards = async <T>(what: string, write: Promise<T>): Promise<T> => {
    const done = await write
    if (mayCrash() && luck.chance(DIES)) sim.supervisor.crash(running.process, `after ${what}`)
    return done
  }
  const { wallets, watchPacks, invoices, random } = parts
  const deps = {
    ...{ invoices, random, clock: { now: () => parts.clock.now() + AHEAD_MS } },
    wallets: {
      ...wallets,
      markPacked: (...args: Parameters<typeof wallets.markPacked>) =>
        afterwards('addresses were marked', wallets.markPacked(...args)),
    },
    watchPacks: {
      ...watchPacks,
      put: (...args: Parameters<typeof watchPacks.put>) => afterwards('a pack was stored', watchPacks.put(...args)),
    },
  }
  for (const { process } of sim.supervisor.all()) {
    if (process.type.startsWith('scanner') && mayCrash() && luck.chance(ALL_RESTART)) {
      sim.supervisor.crash(process, 'with the job that packs')
    }
  }
  const places = new Map<string, string>()
  while (running.process.alive) {
    await new Promise((resolve) => setTimeout(resolve, luck.between(PAUSE_MIN_MS, PAUSE_MAX_MS)))
    if (nothingToPack(sim)) continue
    await packWatches(deps, places).catch((error: unknown) => parts.logger.warn({ err: error }, 'nothing was packed'))
  }
}
