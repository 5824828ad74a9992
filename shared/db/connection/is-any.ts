import mongoose from 'mongoose'
import type { CollectionModel } from './collection-model.ts'
import type { Database } from './connect.ts'

/** Whether anything in a collection matches. */
export interface AnyQuestion<T extends mongoose.mongo.Document> {
  readonly of: CollectionModel<T>
  /** Must be served by its index without a hint, because a question that is asked together with others cannot carry one. */
  readonly filter: mongoose.mongo.Filter<T>
  /** The index for the question when it is asked alone; absent for a collection of few documents. */
  readonly hint?: string
}

interface PendingQuestion {
  readonly question: AnyQuestion<mongoose.mongo.Document>
  readonly resolve: (isAny: boolean) => void
  readonly reject: (error: unknown) => void
}

/** A collection that is locked for longer must not delay the answers about the others. */
const TOGETHER_MAX_MS = 1_000

const waitingOf = new WeakMap<Database, PendingQuestion[]>()

/**
 * Whether a document matches. Questions that are asked in one turn of the event loop are one command; each is answered by a read that starts
 * after it was asked. When MongoDB refuses that command, or does not answer it in a second, every question is asked alone.
 */
export function isAny<T extends mongoose.mongo.Document>(db: Database, question: AnyQuestion<T>): Promise<boolean> {
  const waiting = waitingOf.get(db) ?? []
  waitingOf.set(db, waiting)
  return new Promise((resolve, reject) => {
    waiting.push({ question: question as unknown as PendingQuestion['question'], resolve, reject })
    if (waiting.length === 1) setImmediate(() => void answer(db, waiting.splice(0)))
  })
}

async function answer(db: Database, questions: readonly PendingQuestion[]): Promise<void> {
  if (questions.length > 1) {
    try {
      const found = await readTogether(db, questions)
      for (const [place, { resolve }] of questions.entries()) resolve(found.has(place))
      return
    } catch (error) {
      // An error of the connection concerns every question; one of MongoDB may concern a single one.
      if (!(error instanceof mongoose.mongo.MongoServerError)) {
        for (const { reject } of questions) reject(error)
        return
      }
    }
  }
  for (const { question, resolve, reject } of questions) readAlone(db, question).then(resolve, reject)
}

async function readAlone(db: Database, { of, filter, hint }: PendingQuestion['question']): Promise<boolean> {
  const options = { projection: { _id: 1 }, ...(hint !== undefined && { hint }) }
  return (await db.collection(of).findOne(filter, options)) !== null
}

/** The places of the questions that something matches. */
async function readTogether(db: Database, questions: readonly PendingQuestion[]): Promise<ReadonlySet<number>> {
  const [first, ...others] = questions.map(({ question: { of, filter } }, place) => ({
    of,
    stages: [{ $match: filter }, { $limit: 1 }, { $group: { _id: place } }],
  }))
  if (first === undefined) return new Set()
  const unions = others.map(({ of, stages }) => ({ $unionWith: { coll: of.name, pipeline: stages } }))
  const options = { maxTimeMS: TOGETHER_MAX_MS }
  const rows = db.collection(first.of).aggregate<{ _id: number }>([...first.stages, ...unions], options)
  return new Set((await rows.toArray()).map(({ _id }) => _id))
}
