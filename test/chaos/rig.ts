import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { findRedisServer } from '#dev/embedded/find-redis-server.ts'
import { readEnvironment } from '#scripts/start/environment.ts'
import { type Stack, startStack } from '#scripts/start/stack.ts'
import type { StackOptions } from '#scripts/start/stack-options.ts'
import { startVolatileRedis, type VolatileRedis } from './volatile-redis.ts'

/** An installation on real processes that can be killed and suspended; used for random and scripted faults. */
export interface Rig {
  readonly stack: Stack
  readonly redis: VolatileRedis
  /** Its data folder, for the command line. */
  readonly dataDir: string
  /** SIGKILL. Does nothing to a process that is down; its supervisor restarts it. */
  kill(name: string): void
  /** SIGSTOP. Returns a function that resumes the process; null when it is down. */
  freeze(name: string): (() => void) | null
  /** Starts one more process of a type, without a supervisor; returns a function that ends it. */
  startSecond(name: string): () => Promise<void>
  stop(): Promise<void>
}

export interface RigOptions extends Pick<StackOptions, 'scale' | 'ports' | 'mongoUrl' | 'env' | 'keepAlive'> {
  /** An empty folder. */
  readonly dir: string
  readonly report: (line: string) => void
}

/** Starts every process of the Procfile with a Redis that can be broken. On failure nothing is left running. */
export async function startRig({ dir, report, ...options }: RigOptions): Promise<Rig> {
  const redis = await startVolatileRedis({ binary: await findRedisServer(report), dir })
  const dataDir = join(dir, 'data')
  let stack: Stack
  try {
    stack = await startStack({ ...options, dataDir, processes: true, redisUrl: redis.url, report })
  } catch (error) {
    await redis.stop()
    throw error
  }
  const seconds = new Set<ChildProcess>()
  return {
    ...{ stack, redis, dataDir },
    kill: (name) => {
      if (stack.dev.pids?.[name] !== undefined) stack.kill(name, 'SIGKILL')
    },
    freeze: (name) => {
      const pid = stack.dev.pids?.[name]
      if (pid === undefined) return null
      process.kill(pid, 'SIGSTOP')
      return () => thaw(pid)
    },
    startSecond: (name) => {
      const env = { ...process.env, ...readEnvironment(dataDir), PAYMESH_METRICS_PORT: '0' }
      const second = spawn(process.execPath, ['scripts/service.mjs', name], { env, stdio: 'ignore' })
      seconds.add(second)
      return () => ended(second)
    },
    stop: async () => {
      await Promise.all([...seconds].map(ended))
      await stack.stop()
      await redis.stop()
    },
  }
}

function thaw(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT')
  } catch {
    // Its supervisor ended it meanwhile.
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}
