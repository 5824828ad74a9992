import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import mongoose from 'mongoose'
import type { TestProject } from 'vitest/node'
import { startStores } from '#dev/embedded/stores.ts'
import { makeStoreFolder } from './store-folder.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    mongoUrl: string
    redisUrl: string
    /** What the names of this run's databases begin with. */
    databasePrefix: string
  }
}

/**
 * Gives the test run real stores: those of MONGO_URL and REDIS_URL, else its own in a folder that ends with the run.
 * Tests reach them through `useStores`.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = makeStoreFolder('paymesh-test')
  const stores = await startStores({
    dataDir,
    report: (line) => void process.stderr.write(`stores: ${line}\n`),
    mongoUrl: process.env['MONGO_URL'] || null,
    redisUrl: process.env['REDIS_URL'] || null,
  })
  // A mongod of somebody else keeps its settings.
  if (!process.env['MONGO_URL']) await suitTests(stores.mongoUrl)
  project.provide('mongoUrl', stores.mongoUrl)
  project.provide('redisUrl', stores.redisUrl)
  const databasePrefix = `paymesh_test_${randomBytes(3).toString('hex')}_`
  project.provide('databasePrefix', databasePrefix)
  return async () => {
    // Stores of ours go as a whole.
    if (process.env['MONGO_URL']) await dropDatabases(stores.mongoUrl, databasePrefix)
    await stores.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/**
 * Stops mongod from removing expired documents once a minute: tests store rows of fixed times, which are long over. And lets it keep
 * changed pages in memory until a checkpoint writes them: with more than 5 % of its cache changed it searched thousands of tables for pages
 * to write, which was a fifth of its computing.
 */
async function suitTests(mongoUrl: string): Promise<void> {
  const client = await mongoose.mongo.MongoClient.connect(mongoUrl)
  const wiredTigerEngineRuntimeConfig = 'eviction_dirty_target=60,eviction_dirty_trigger=80'
  await client.db('admin').command({ setParameter: 1, ttlMonitorEnabled: false })
  await client.db('admin').command({ setParameter: 1, wiredTigerEngineRuntimeConfig })
  await client.close()
}

async function dropDatabases(mongoUrl: string, prefix: string): Promise<void> {
  const client = await mongoose.mongo.MongoClient.connect(mongoUrl)
  const { databases } = await client.db('admin').admin().listDatabases({ nameOnly: true })
  const ours = databases.filter(({ name }) => name.startsWith(prefix))
  await Promise.all(ours.map(({ name }) => client.db(name).dropDatabase()))
  await client.close()
}
