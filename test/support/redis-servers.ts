import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterEach, vi } from 'vitest'
import { findRedisServer } from '#dev/embedded/find-redis-server.ts'
import { freePort } from '#dev/embedded/free-port.ts'
import { startGuarded } from '#dev/embedded/guarded-child.ts'

/** A Redis of a test's own: it may be filled, demoted, suspended and killed. */
export interface TestRedis {
  readonly port: number
  readonly url: string
  /** Sends a command over its own plain connection. */
  command(name: string, ...args: readonly (string | number)[]): Promise<unknown>
  suspend(): void
  resume(): void
  /** SIGKILL. */
  kill(): Promise<void>
  restart(): Promise<void>
}

const EVENTUALLY = { timeout: 60_000, interval: 20 }

/** Servers that end with the test. */
export function useRedisServers() {
  const endings: (() => unknown)[] = []
  afterEach(async () => {
    for (const end of endings.splice(0).reverse()) await end()
  })

  /** Starts a server; `--port 0` and further options may follow the stage's own. `isUp` answers over a plain connection. */
  async function startRedis(args: readonly string[] = [], { isPlain = true, config = '' } = {}): Promise<TestRedis> {
    const dir = mkdtempSync(join(tmpdir(), 'paymesh-redis-'))
    const port = await freePort(0)
    const file = join(dir, 'redis.conf')
    writeFileSync(file, config)
    const binary = await findRedisServer(() => undefined)
    const own = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', dir]
    const launch = () => startGuarded(binary, [file, ...own, ...args], { cwd: dir, stdio: 'ignore' })
    let child = await launch()
    const admin = isPlain ? new Redis({ port, maxRetriesPerRequest: null, retryStrategy: () => 50 }) : null
    admin?.on('error', () => undefined)
    await admin?.ping()
    endings.push(async () => {
      admin?.disconnect()
      child.kill('SIGCONT')
      await child.stop(0)
      rmSync(dir, { recursive: true, force: true })
    })
    return {
      port,
      url: `redis://127.0.0.1:${port}`,
      command: async (name, ...given) => await admin?.call(name, ...given),
      suspend: () => void child.kill('SIGSTOP'),
      resume: () => void child.kill('SIGCONT'),
      kill: async () => {
        child.kill('SIGKILL')
        await child.exited
      },
      restart: async () => {
        child = await launch()
      },
    }
  }

  /** A cluster of `size` primaries without replicas, each with an equal part of the slots, that serves what it has. */
  async function startCluster(size: number): Promise<readonly TestRedis[]> {
    const start = async () => {
      const bus = await freePort(0)
      const options = [
        '--cluster-enabled',
        'yes',
        '--cluster-port',
        String(bus),
        '--cluster-require-full-coverage',
        'no',
      ]
      return { bus, redis: await startRedis([...options, '--cluster-node-timeout', '1000']) }
    }
    const nodes = await Promise.all(Array.from({ length: size }, start))
    const share = Math.ceil(16_384 / size)
    for (const [at, { redis }] of nodes.entries()) {
      await redis.command('CLUSTER', 'ADDSLOTSRANGE', at * share, Math.min(16_383, (at + 1) * share - 1))
      await redis.command('CONFIG', 'SET', 'maxmemory', '100mb')
      for (const { bus, redis: other } of nodes.slice(0, at))
        await redis.command('CLUSTER', 'MEET', '127.0.0.1', other.port, bus)
    }
    await vi.waitFor(async () => {
      for (const { redis } of nodes) {
        const info = String(await redis.command('CLUSTER', 'INFO'))
        if (!info.includes('cluster_state:ok') || !info.includes(`cluster_size:${size}`)) throw new Error(info)
      }
    }, EVENTUALLY)
    return nodes.map(({ redis }) => redis)
  }

  /** Sentinels that watch a primary as `mymaster` and replace it a second after its last reply. */
  async function startSentinels(count: number, primaryPort: number): Promise<readonly TestRedis[]> {
    const config = [
      `sentinel monitor mymaster 127.0.0.1 ${primaryPort} ${Math.floor(count / 2) + 1}`,
      'sentinel down-after-milliseconds mymaster 1000',
      'sentinel failover-timeout mymaster 5000',
    ].join('\n')
    return await Promise.all(Array.from({ length: count }, () => startRedis(['--sentinel'], { config })))
  }
  return { startRedis, startCluster, startSentinels, endings }
}
