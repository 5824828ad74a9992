import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { blockToDocument, unseenDocument } from '#shared/db/payments/payment-mapping.ts'
import { FORMER_KEY_INDEX, KEY_INDEX, PAYMENTS } from '#shared/db/payments/payment-model.ts'
import type { ObservedTransfer } from '#shared/ports/payments.ts'

const native = (db: Database) => db.connection.getClient().db(db.name)

/** Makes a migrated database what the version before left: no payment has a digest, and the text alone is unique. */
export async function becomeFormer(db: Database): Promise<void> {
  const payments = db.collection(PAYMENTS)
  await native(db).command({ collMod: PAYMENTS.name, validator: {} })
  await payments.deleteMany({})
  if ((await payments.indexes()).some(({ name }) => name === KEY_INDEX)) await payments.dropIndex(KEY_INDEX)
  await payments.createIndex({ key: 1 }, { name: FORMER_KEY_INDEX, unique: true })
  const facts = db.collection(INSTALLATION)
  await facts.deleteMany({ _id: /^(schema|migration)/ as never })
  await facts.insertOne({ _id: 'schema-version', value: '2', changedAt: new Date() })
}

/** The upsert of a scanner of the version before: by the text, and without a digest. Throws as its driver does. */
export async function recordAsFormer(db: Database, observation: ObservedTransfer, epoch: number): Promise<void> {
  const { keyDigest: _none, ...unseen } = unseenDocument(observation, crypto.randomUUID(), 1)
  const { block } = observation
  if (block === null) throw new Error('this writer stores only what is in a block')
  const placed = { block: blockToDocument(block), confirmAt: block.height + observation.requiredConfirmations - 1 }
  const first = { ...unseen, ...placed, version: 1, scanEpoch: epoch, dirtyAt: new Date(1) }
  const update: mongoose.mongo.Document[] = [
    { $replaceWith: { $cond: [{ $eq: [{ $type: '$version' }, 'missing'] }, { $literal: first }, '$$ROOT'] } },
    { $set: { scanEpoch: epoch } },
  ]
  const filter = { key: observation.key, scanEpoch: { $lte: epoch } }
  const operations = [{ updateOne: { filter, update, upsert: true } }]
  await db.collection(PAYMENTS).bulkWrite(operations, { ordered: false })
}
