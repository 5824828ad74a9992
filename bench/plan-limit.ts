import type { Database } from '#shared/db/connection/connect.ts'
import { API_KEYS } from '#shared/db/workspaces/api-key-model.ts'
import { WORKSPACES } from '#shared/db/workspaces/workspace-model.ts'
import { createLoad } from './create-invoice.ts'
import { compare, warmUp } from './load.ts'
import type { BenchOptions } from './options.ts'
import { withRig } from './rig.ts'

/** Above what a benchmark creates, and so low that each create has to compare the count of the month with it. */
const LIMIT = 1_000_000

/**
 * `POST /invoices` with a limit of invoices per month ("api") against the same API process without one ("bare"), on a database each, with the same keys and
 * bodies, interleaved.
 */
export function benchPlanLimit(options: BenchOptions): Promise<void> {
  return withRig(options, async (rig) => {
    const limited = await rig.openDatabase()
    for (const { name } of [WORKSPACES, API_KEYS]) await copyAll(rig.api.db, limited, name)
    await limited.collection(WORKSPACES).updateMany({}, { $set: { 'limits.invoicesPerMonth': LIMIT } })
    const sides = { api: await rig.startApi(limited), bare: rig.api }
    const load = createLoad(rig)
    await warmUp(sides, load)
    await compare('with a limit against without', sides, load, options)
  })
}

async function copyAll(from: Database, to: Database, name: string): Promise<void> {
  const rows = await from.connection.getClient().db(from.name).collection(name).find().toArray()
  await to.connection.getClient().db(to.name).collection(name).insertMany(rows)
}
