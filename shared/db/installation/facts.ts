import type mongoose from 'mongoose'
import type { z } from 'zod'
import type { Database } from '#shared/db/connection/connect.ts'
import { INSTALLATION } from './installation-model.ts'

type Within = { readonly session?: mongoose.mongo.ClientSession }

/** The value of a fact of the installation; null while it is not stored. */
export async function readFact(db: Database, name: string, within: Within = {}): Promise<string | null> {
  return (await db.collection(INSTALLATION).findOne({ _id: name }, within))?.value ?? null
}

/** Stores a fact in place of its former value, in the transaction of a session if one is given. */
export async function writeFact(db: Database, name: string, value: string, within: Within = {}): Promise<void> {
  const change = { $set: { value }, $currentDate: { changedAt: true as const } }
  await db.collection(INSTALLATION).updateOne({ _id: name }, change, { upsert: true, ...within })
}

/** A fact whose value is JSON; reading throws when it does not match the schema. */
export function jsonFact<T>(name: string, schema: z.ZodType<T>) {
  return {
    read: async (db: Database, within?: Within): Promise<T | null> => {
      const value = await readFact(db, name, within)
      return value === null ? null : schema.parse(JSON.parse(value))
    },
    write: (db: Database, value: T, within?: Within): Promise<void> =>
      writeFact(db, name, JSON.stringify(value), within),
  }
}
