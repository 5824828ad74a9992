import { AsyncLocalStorage } from 'node:async_hooks'
import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'

/** Binds a transaction to the right on which a request was decided: throws when the right is gone, and lets a loss of it wait otherwise. */
export type HoldRight = (db: Database, session: mongoose.mongo.ClientSession) => Promise<void>

const acting = new AsyncLocalStorage<HoldRight>()

/** Binds every audited action within `work` to a right: none is stored once it is gone. */
export const whileActing = <T>(hold: HoldRight, work: () => Promise<T>): Promise<T> => acting.run(hold, work)

/** Holds the right of the one who acts, in the transaction of an audited action. Changes nothing where nobody does. */
export const holdRight: HoldRight = async (db, session) => await acting.getStore()?.(db, session)
