import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import mongoose from 'mongoose'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { deepTest } from '#test/support/depth.ts'
import { lives } from '#test/support/lives.ts'
import { type Stores, startStores } from './stores.ts'

let dataDir: string
let running: Stores | undefined
const children: ChildProcess[] = []

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'paymesh-stores-'))
})

afterEach(async () => {
  await running?.stop()
  running = undefined
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(dataDir, { recursive: true, force: true })
})

function start(): Promise<Stores> {
  return startStores({ dataDir, report: () => {}, mongoUrl: null, redisUrl: null })
}

/** Starts the stores in their own process, which can be killed. */
async function startElsewhere(): Promise<{ child: ChildProcess; mongoUrl: string; redisUrl: string }> {
  const fixture = join(import.meta.dirname, 'run-stores.fixture.ts')
  const child = spawn(process.execPath, ['--import', 'tsx', fixture, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const [line] = await once(child.stdout as NodeJS.ReadableStream, 'data')
  return { child, ...JSON.parse(String(line)) }
}

async function withClients<T>(
  urls: { mongoUrl: string; redisUrl: string },
  work: (notes: mongoose.mongo.Collection, redis: Redis) => Promise<T>,
): Promise<T> {
  const client = await new mongoose.mongo.MongoClient(urls.mongoUrl).connect()
  const redis = new Redis(urls.redisUrl)
  try {
    return await work(client.db('kept').collection('notes'), redis)
  } finally {
    redis.disconnect()
    await client.close()
  }
}

function write(urls: { mongoUrl: string; redisUrl: string }): Promise<void> {
  return withClients(urls, async (notes, redis) => {
    await notes.insertOne({ text: 'kept' }, { writeConcern: { w: 'majority', journal: true } })
    await redis.set('kept', 'yes')
    // The append-only file is synced once a second; this waits for the sync itself.
    await redis.call('WAITAOF', 1, 0, 5_000).catch(() => undefined)
  })
}

function read(urls: { mongoUrl: string; redisUrl: string }): Promise<[string, string | null]> {
  return withClients(urls, async (notes, redis) => [String((await notes.findOne())?.['text']), await redis.get('kept')])
}

function storePids(): number[] {
  return ['mongo/mongod.pid', 'redis/redis-server.pid'].map((file) => Number(readFileSync(join(dataDir, file), 'utf8')))
}

deepTest('says which store ended although nobody stopped it, and how', async () => {
  const lines: string[] = []
  running = await startStores({ dataDir, report: (line) => void lines.push(line), mongoUrl: null, redisUrl: null })
  const [mongod] = storePids()
  process.kill(mongod ?? 0, 'SIGABRT')
  await expect.poll(() => lines.join('\n')).toContain('mongod ended (')
  expect(lines.join('\n')).toMatch(/"s":"F".*abort/i)
  await running.stop()
  expect(lines.join('\n')).not.toContain('redis-server ended')
})

// Guards money: what the stores acknowledged is there after a start that was killed without warning.
it('finds its data again after kill -9 of the start, whose stores end by themselves', async () => {
  const first = await startElsewhere()
  await write(first)
  const pids = storePids()
  first.child.kill('SIGKILL')
  for (const pid of pids) while (lives(pid)) await delay(20)
  running = await start()
  expect(running.mongoUrl).toBe(first.mongoUrl)
  expect(await read(running)).toEqual(['kept', 'yes'])
})

deepTest('finds its data again after kill -9 of the stores, with their ports taken by others', async () => {
  const first = await startElsewhere()
  await write(first)
  const pids = storePids()
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  for (const pid of pids) while (lives(pid)) await delay(20)
  first.child.kill('SIGKILL')
  const squatters = [first.mongoUrl, first.redisUrl].map((url) =>
    createServer((socket) => socket.destroy()).listen(Number(new URL(url).port), '127.0.0.1'),
  )
  await Promise.all(squatters.map((server) => once(server, 'listening')))
  try {
    running = await start()
    expect(running.mongoUrl).not.toBe(first.mongoUrl)
    expect(await read(running)).toEqual(['kept', 'yes'])
  } finally {
    for (const server of squatters) server.close()
  }
})

deepTest('takes a folder over from stores that an earlier run left behind', async () => {
  const first = await startElsewhere()
  await write(first)
  running = await start()
  expect(await read(running)).toEqual(['kept', 'yes'])
})

it('leaves given stores alone', async () => {
  running = await startStores({ dataDir, report: () => {}, mongoUrl: 'mongodb://given', redisUrl: 'redis://given' })
  expect(running).toMatchObject({ mongoUrl: 'mongodb://given', redisUrl: 'redis://given' })
})
