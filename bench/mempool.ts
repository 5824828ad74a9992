import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { freePort, listens, pause, startChild } from './child.ts'
import type { BenchOptions } from './options.ts'

/** A full mempool of Bitcoin: 300 MB of small transactions. */
const ENTRIES = 300_000
/** Polls before those that are measured: the first ones read each transaction once. */
const READ_WITHIN_MS = 600_000
/** Pause between two polls, as the scanner makes it. */
const POLL_MS = 2_000
const NS_PER_MS = 1e6
const metrics = { count: () => {}, gauge: () => {}, observe: () => {} }

/**
 * Polls of a mempool of 300,000 entries in the process that serves pages in `paymesh serve`: how long its event loop is blocked, its processor time
 * and its memory, first while every entry is read, then while a hundred change between two polls.
 */
export async function benchMempool({ print, rounds, seconds }: BenchOptions): Promise<void> {
  const port = await freePort()
  const node = await startChild(['--import', 'tsx', 'bench/mempool-node.ts', String(ENTRIES), String(port)], {}, () =>
    listens(port),
  )
  const url = `http://127.0.0.1:${port}`
  const nodes = { bitcoin: { rpcUrls: [url], genesis: 'ab'.repeat(32) } }
  const client = createChainClient({ live: {}, test: nodes }, 'test', 'bitcoin', metrics)
  const mempool = client?.mempool?.bind(client)
  if (client === null || client === undefined || mempool === undefined) throw new Error('the network has no mempool')
  const watches = createWatchIndex()
  watches.add(`0014${'ff'.repeat(20)}`)
  const poll = () => mempool(watches, new Set())
  try {
    const startedAt = performance.now()
    let polls = 0
    const first = await measured(async () => {
      for (let isPartial = true; isPartial; polls += 1) {
        if (performance.now() - startedAt > READ_WITHIN_MS) throw new Error('the mempool was not read')
        isPartial = (await poll()).partial === true
      }
    })
    const readSeconds = Math.round((performance.now() - startedAt) / 1_000)
    print(`${ENTRIES} entries read once in ${readSeconds} s and ${polls} polls: ${textOf(first)}`)
    for (let round = 1; round <= rounds; round += 1) {
      const until = performance.now() + seconds * 1_000
      do {
        print(`round ${round}, one poll: ${textOf(await measured(poll))}`)
        await pause(POLL_MS)
      } while (performance.now() < until)
    }
  } finally {
    await client.close()
    await node.stop()
  }
}

interface Timings {
  readonly tookMs: number
  readonly cpuMs: number
  readonly blockedMs: number
  readonly residentMb: number
}

async function measured(work: () => Promise<unknown>): Promise<Timings> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()]
  await work()
  await pause(20)
  delay.disable()
  const { user, system } = process.cpuUsage(cpu)
  return {
    tookMs: performance.now() - startedAt,
    cpuMs: (user + system) / 1_000,
    blockedMs: delay.max / NS_PER_MS,
    residentMb: process.memoryUsage().rss / 2 ** 20,
  }
}

const textOf = ({ tookMs, cpuMs, blockedMs, residentMb }: Timings): string =>
  `${Math.round(tookMs)} ms, ${Math.round(cpuMs)} ms of processor, event loop blocked ${Math.round(blockedMs)} ms at most, ${Math.round(residentMb)} MB`
