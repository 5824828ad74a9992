import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import { readBack } from '#shared/db/connection/read-back.ts'
import type { ChainCommandRepository } from '#shared/ports/chain-commands.ts'
import { CHAIN_COMMANDS } from './chain-command-model.ts'

/** Requests to scanners on MongoDB. Opening and closing are stored together with their audit row. */
export function createChainCommandRepository(db: Database): ChainCommandRepository {
  const commands = db.collection(CHAIN_COMMANDS)
  const open = { status: 'open' as const }
  return {
    ask: async (command, audit) => {
      try {
        await audited(db, audit, async (session) => {
          await commands.insertOne(CHAIN_COMMANDS.toDocument(command), { session })
          return true
        })
        return command
      } catch (error) {
        if (duplicateKeyFields(error) === null) throw error
        const { mode, network, kind } = command
        const standing = await readBack(() => commands.findOne({ mode, network, kind, ...open }))
        if (standing === null)
          throw new Error(`a ${kind} of ${network} ended just now: request it again`, { cause: error })
        return CHAIN_COMMANDS.toRecord(standing)
      }
    },
    findById: async (id) => CHAIN_COMMANDS.toRecord(await commands.findOne({ _id: id })),
    listOpen: async (mode, network) =>
      (
        await commands
          .find({ mode, network, ...open })
          .sort({ askedAt: 1 })
          .toArray()
      ).map(CHAIN_COMMANDS.toRecord),
    listAllOpen: async () =>
      (await commands.find(open, { hint: 'command_open' }).sort({ askedAt: 1 }).toArray()).map(CHAIN_COMMANDS.toRecord),
    progress: async ({ id, nextHeight }, next) => {
      const moved = await commands.updateOne({ _id: id, ...open, nextHeight }, { $set: { ...next } })
      return moved.matchedCount === 1
    },
    take: async (id) => (await commands.updateOne({ _id: id, ...open }, { $set: { taken: true } })).matchedCount === 1,
    cancel: (id, { outcome, at }, audit) =>
      audited(db, audit, async (session) => {
        const free = { _id: id, ...open, taken: { $ne: true } }
        const change = { $set: { status: 'cancelled' as const, outcome, finishedAt: toDate(at) } }
        return (await commands.updateOne(free, change, { session })).matchedCount === 1
      }),
    finish: (id, { status, outcome, at }, audit) =>
      audited(db, audit, async (session) => {
        const change = { $set: { status, outcome, finishedAt: toDate(at) } }
        return (await commands.updateOne({ _id: id, ...open }, change, { session })).matchedCount === 1
      }),
  }
}
