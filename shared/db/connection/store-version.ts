import type mongoose from 'mongoose'
import { classifyVersion } from '#shared/domain/store-versions.ts'

/** The version of the server that a connection has, such as `7.0.2`. Needs no right of the user. */
export async function readMongoVersion(client: mongoose.mongo.MongoClient): Promise<string> {
  const { version } = await client.db('admin').command({ buildInfo: 1 })
  return String(version)
}

/** Throws when the server is older than what is supported: it would lack operators that every write uses. */
export async function requireSupportedMongo(client: mongoose.mongo.MongoClient): Promise<void> {
  const { fault } = classifyVersion('MongoDB', await readMongoVersion(client))
  if (fault !== null) throw new Error(fault)
}
