import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { createTracer } from '#shared/runtime/observability/tracer.ts'
import { EVERY_CASE } from '#test/support/every-case.ts'
import type { TestStores } from '#test/support/stores.ts'
import { createSecretFinder } from './secret-finder.ts'

/** How much of the full size runs; `CANARY_SHARE=1` of the deep tier plants more than 10,000 secrets. */
const SHARE = Number(process.env['CANARY_SHARE'] ?? (EVERY_CASE ? 0.12 : 0.02))
export const PLANTED_MIN = 10_000 * SHARE
export const ERRORS_MIN = 1_000 * SHARE
export const MASTER_KEY = Buffer.alloc(32, 7)

export const letters = (bytes = 24): string => randomBytes(bytes).toString('hex')
export const base64 = (): string => {
  for (;;) {
    const text = randomBytes(32).toString('base64')
    if (/[A-Za-z0-9]{20}/.test(text)) return text
  }
}
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** Text of the form of an extended key; its checksum is wrong, nearly always. */
export const base58 = (length: number): string =>
  [...randomBytes(length)].map((byte) => BASE58[byte % BASE58.length]).join('')

/** What secrets are planted with, and everything that left a process since, by the way it left. */
export type CanaryRig = Awaited<ReturnType<typeof openCanaries>>

/** Listens to logs, traces and metrics of what works on these stores. Close it. */
export async function openCanaries(stores: TestStores) {
  const finder = createSecretFinder()
  const { plant } = finder
  /** Everything that left a process, by the way it left. */
  const said = {
    log: [] as string[],
    answers: [] as string[],
    traces: [] as string[],
    errors: [] as string[],
    cli: [] as string[],
  }
  const metrics = createMetrics({ defaults: false })
  const collector = createServer((request, response) => {
    request.on('data', (part: Buffer) => said.traces.push(part.toString('utf8')))
    request.on('end', () => response.end('{}'))
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const { port } = collector.address() as AddressInfo
  const tracer = createTracer({
    ...{ url: `http://127.0.0.1:${port}`, process: 'test', metrics, headers: {} },
    sampling: { sampler: 'always_on', share: 1 },
    instance: { id: 'host:1', host: 'host', version: '1.0.0' },
  })
  const destination = { write: (line: string) => void said.log.push(line) }
  const logger = createLogger({ name: 'test', level: 'debug', destination })
  const { db, redis, mongoUrl, redisUrl, database, prefix, runtime } = stores
  const watched: TestStores = {
    ...{ db, redis, mongoUrl, redisUrl, database, prefix },
    runtime: { ...runtime, logger, metrics, tracer },
  }
  const hear = (text: string): void => void said.answers.push(text)

  /** Takes a secret out of the one answer that shows it on purpose, so that what is left must be free of it. */
  function shownOnce(kind: string, secret: unknown, text: string): string {
    if (typeof secret !== 'string') throw new Error(`no ${kind} in ${text}`)
    plant(kind, secret)
    const parts = text.split(secret)
    expect(parts).toHaveLength(2)
    hear(parts.join('<shown>'))
    return secret
  }

  /** Runs the share of so many things, some at a time, and keeps what they throw. */
  async function many(full: number, work: (index: number) => Promise<void>): Promise<void> {
    // Every shape of every list comes up several times.
    const count = Math.max(Math.ceil(full * SHARE), 32)
    let next = 0
    const lane = async (): Promise<void> => {
      while (next < count) {
        next += 1
        await work(next).catch(keepError)
      }
    }
    await Promise.all(Array.from({ length: 16 }, lane))
  }

  function keepError(error: unknown): void {
    for (let one: unknown = error; one instanceof Error; one = one.cause)
      said.errors.push(`${one.message} ${one.stack} ${JSON.stringify(one)}`)
  }

  const close = async () => void collector.close()
  return { stores, watched, finder, plant, said, metrics, tracer, hear, shownOnce, many, keepError, close }
}
