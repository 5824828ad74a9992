import { randomUUID } from 'node:crypto'
import mongoose from 'mongoose'
import { z } from 'zod'
import type { Database } from '#shared/db/connection/connect.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import { readFact } from '#shared/db/installation/facts.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { type BackupMoment, momentOf } from './backup-moments.ts'
import { ChangesLost } from './change-collector.ts'

/** Name of the fact that holds the newest link of the chain of changes. */
export const CHAIN_FACT = 'backup_chain'

/**
 * A file of changes, or the beginning of a chain. Each file holds what changed between the moment of the link before it and its own. Links are random
 * names, so that no clock and no number decides what follows what.
 */
export const linkSchema = z.object({
  /** The link with which the chain begins. */
  chain: z.string(),
  id: z.string(),
  /** The link before it whose file is complete; null for the beginning. */
  after: z.string().nullable(),
  /** Counts the links of a chain, for people. */
  number: z.number().int().min(0),
})

export type ChainLink = z.output<typeof linkSchema>

/** A link, and its moment. */
export interface ChainPosition {
  readonly link: ChainLink
  readonly time: mongoose.mongo.Timestamp
}

/** A link as the store has it. `text` is its stored form. */
export interface StoredLink {
  readonly link: ChainLink
  readonly text: string
}

/** A cluster time as archives declare it. */
export const timestampOf = ([t, i]: readonly [number, number]): mongoose.mongo.Timestamp =>
  new mongoose.mongo.Timestamp({ t, i })

/** The link of a stored fact. */
export const linkOf = (text: string): ChainLink => linkSchema.parse(JSON.parse(text))

const newId = (): string => randomUUID().replaceAll('-', '').slice(0, 16)

/** The newest link that the store has; null before the first, and after a restore. */
export async function readChain(db: Database): Promise<StoredLink | null> {
  const text = await readFact(db, CHAIN_FACT)
  return text === null ? null : { link: linkOf(text), text }
}

/** Begins a chain in the place of `before`, at a moment from which on changes can be read. Throws `ChangesLost` when another process began one. */
export async function beginChain(db: Database, before: StoredLink | null): Promise<ChainPosition> {
  const id = newId()
  const link: ChainLink = { chain: id, id, after: null, number: 0 }
  return { link, time: (await moveTo(db, link, new Set(before === null ? [] : [before.text]))).time }
}

/** The link that follows `before`. */
export const linkAfter = ({ chain, id, number }: ChainLink): ChainLink => ({
  chain,
  id: newId(),
  after: id,
  number: number + 1,
})

/**
 * Moments of `link`, for the end of a reading: each of them writes it into the store in the place of `before`, so that the link is in every copy of the
 * store as of that moment or later. Throws `ChangesLost` when another link stands there: another process goes on, or the store went back in time.
 */
export function chainMoments(link: ChainLink, before: StoredLink): (db: Database) => Promise<BackupMoment> {
  const known = new Set([before.text])
  return (db) => moveTo(db, link, known)
}

/** An attempt of which the answer was lost may have stored its text: `known` holds the texts of all. */
async function moveTo(db: Database, link: ChainLink, known: Set<string>): Promise<BackupMoment> {
  return await momentOf(db, async (_, session) => {
    // Never the same text twice: the write is what the stream of changes passes.
    const text = JSON.stringify({ ...link, attempt: new mongoose.mongo.ObjectId().toHexString() })
    const change = { $set: { value: text, changedAt: new Date() } }
    const filter = { _id: CHAIN_FACT, value: { $in: [...known] } }
    const upsert = known.size === 0
    known.add(text)
    const facts = db.collection(INSTALLATION)
    try {
      const { matchedCount, upsertedCount } = await facts.updateOne(filter, change, { upsert, session })
      if (matchedCount + upsertedCount === 1) return
    } catch (error) {
      if (duplicateKeyFields(error) === null) throw error
    }
    throw new ChangesLost(
      'another process continues the changes of this installation, or its database went back in time',
    )
  })
}
