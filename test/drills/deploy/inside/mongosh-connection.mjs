// The second thread of mongosh.mjs: runs one command after the other and wakes the first thread with the answer.
import { workerData } from 'node:worker_threads'
import mongoose from 'mongoose'

const { url, auth, signal, port } = workerData
const { EJSON } = mongoose.mongo.BSON
const client = new mongoose.mongo.MongoClient(url, {
  serverSelectionTimeoutMS: 10_000,
  ...(auth !== null && { auth, authSource: 'admin' }),
})

async function answer({ database, what }) {
  try {
    return { result: EJSON.serialize(await client.db(database).command(EJSON.deserialize(what))), error: null }
  } catch (error) {
    return { result: null, error: { message: error.message, codeName: error.codeName ?? null } }
  }
}

port.on('message', async (input) => {
  port.postMessage(await answer(input))
  Atomics.store(signal, 0, 1)
  Atomics.notify(signal, 0)
})
