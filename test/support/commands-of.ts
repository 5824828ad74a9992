import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'

/** Room for what one question may do; more commands than fit would hide the first ones. */
const PROFILE_BYTES = 256 * 1_024 * 1_024
const ALL_COMMANDS = 2

/**
 * The product's commands while this ran, from the store's own profiler, in their order: cursors and each statement of an
 * update included, commands on no collection of ours left out. Test files share databases, so what an earlier one has left in the
 * profile is dropped first. Nobody else may use the database meanwhile.
 */
export async function commandsOf(db: Database, work: () => unknown): Promise<readonly mongoose.mongo.Document[]> {
  const native = db.connection.getClient().db(db.name)
  await native.command({ profile: 0 })
  await native.collection('system.profile').drop()
  await native.createCollection('system.profile', { capped: true, size: PROFILE_BYTES })
  await native.command({ profile: ALL_COMMANDS })
  try {
    await work()
  } finally {
    await native.command({ profile: 0 })
  }
  const ours = { appName: 'paymesh', ns: { $not: /\.(system\.profile|\$cmd)$/ } }
  const found = await native.collection('system.profile').find(ours).sort({ $natural: 1 }).toArray()
  await native.collection('system.profile').drop()
  return found
}
