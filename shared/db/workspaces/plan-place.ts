import type mongoose from 'mongoose'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { WORKSPACES } from './workspace-model.ts'

/**
 * Throws `PLAN_LIMIT_REACHED` unless a workspace has fewer than `most` of something, in the transaction that adds one. Two additions of a
 * workspace both write its row, so they conflict: the second is run again and counts the first. `count` must read with the session.
 */
export async function requirePlace(
  db: Database,
  { workspaceId, most, session }: { workspaceId: string; most: number; session: mongoose.mongo.ClientSession },
  count: () => Promise<number>,
): Promise<void> {
  await db.collection(WORKSPACES).updateOne({ _id: workspaceId }, { $inc: { planTurn: 1 } }, { session })
  if ((await count()) >= most) throw new PaymeshError('PLAN_LIMIT_REACHED', { internal: `the plan allows ${most}` })
}
