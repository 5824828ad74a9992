import type { inferRouterInputs } from '@trpc/server'
import { type AppRouter, appRouter } from '#services/admin/app-router.ts'
import { assembleAdmin } from '#services/admin/assemble.ts'
import { machineOf, machineSession } from '#services/admin/machine.ts'
import { openAdminParts } from '#services/admin/open-admin-parts.ts'
import { createCallerFactory } from '#services/admin/trpc.ts'
import { createMemorySignals } from '#shared/queues/memory/memory-signals.ts'
import { createRedisSignals } from '#shared/queues/redis-signals.ts'
import { progressPrinter } from '../text/progress-printer.ts'
import { actorName } from './actor.ts'
import { FROM_COMMAND_LINE } from './announced.ts'
import { type Installation, withInstallation } from './installation.ts'

const createCaller = createCallerFactory(appRouter)
/** A Bitcoin node searches its whole set of unspent outputs. */
const FUNDS_TIMEOUT_MS = 30 * 60_000

type Inputs = inferRouterInputs<AppRouter>
/** Path of a procedure, such as `endpoints.rotate`. */
export type ProcedurePath = {
  readonly [R in keyof Inputs & string]: `${R}.${keyof Inputs[R] & string}`
}[keyof Inputs & string]

/** Calls procedures of the dashboard API on an open installation. */
export interface OperatorCaller {
  readonly installation: Installation
  readonly procedures: ReturnType<typeof createCaller>
  /** Calls a procedure by its path; rejects with what the procedure throws. */
  call(path: ProcedurePath, input: object): Promise<unknown>
}

/**
 * Runs `work` with every procedure of the dashboard API, as the person at this machine, and sends their wake-ups before it returns. A new
 * wallet of the command line has no delay: this person could change the stored date anyway.
 */
export async function withOperatorCaller(work: (caller: OperatorCaller) => Promise<void>): Promise<void> {
  await withInstallation(async (installation) => {
    const { redis, metrics, random } = installation
    // Without Redis the sweeps find the work, within about a second.
    const signals = redis === null ? createMemorySignals(metrics) : createRedisSignals(redis)
    const parts = openAdminParts({ ...installation, signals }, 0)
    const deps = assembleAdmin({ ...parts, epochs: installation.epochs })
    const actor = actorName()
    const report = progressPrinter()
    const procedures = createCaller({
      requestId: `cli_${random.uuid()}`,
      ip: FROM_COMMAND_LINE,
      userAgent: 'paymesh',
      session: machineSession(actor),
      machine: machineOf(actor),
      deps: {
        ...deps,
        funds: { ...deps.funds, timeoutMs: FUNDS_TIMEOUT_MS },
        preview: { blocksMax: Number.POSITIVE_INFINITY, onProgress: (height) => report(`read up to block ${height}`) },
      },
      device: null,
      setSessionToken: () => undefined,
      setDevice: () => undefined,
    })
    try {
      await work({ installation, procedures, call: (path, input) => procedureAt(procedures, path)(input) })
    } finally {
      await parts.notifier.close()
    }
  })
}

function procedureAt(tree: object, path: string): (input: object) => Promise<unknown> {
  return path.split('.').reduce<unknown>((at, name) => Reflect.get(Object(at), name), tree) as never
}
