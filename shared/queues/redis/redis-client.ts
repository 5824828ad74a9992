import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { AbstractConnector, Cluster, Redis, type RedisOptions } from 'ioredis'
import type { RedisAddress } from '#shared/contracts/redis-url.ts'

/** A connection to one server, to the primary that Sentinels name, or to the nodes of a cluster. */
export type RedisClient = Redis | Cluster

/** How long commands of a connection wait. */
export type RedisClientSettings = Pick<
  RedisOptions,
  'enableOfflineQueue' | 'maxRetriesPerRequest' | 'commandTimeout' | 'connectTimeout'
>

/** The library's options, without the one that it types in another way for each class. */
type Options = Omit<RedisOptions, 'replyMapping'>

const RECONNECT_MAX_MS = 1_000
const reconnectAfter = (times: number): number => Math.min(times * 50, RECONNECT_MAX_MS)
/** Attempts of a command for which callers wait: the library's 16 would take seconds while a slot has no node. */
const REDIRECTIONS_OF_SHORT_COMMANDS = 3

const { disconnect } = AbstractConnector.prototype
/**
 * The library (ioredis 6.0.0) hears one error of a socket. A server whose certificate is not trusted brings a second one when its connection is closed
 * during the handshake (OpenSSL 3 answers "decode error"), and that would end the process. Also for nodes of a cluster, Sentinels and BullMQ's copies.
 */
AbstractConnector.prototype.disconnect = function () {
  this.stream?.on('error', () => undefined)
  disconnect.call(this)
}

/**
 * Returns the one function that opens connections to an address, for every form of it. A connection starts at once and reconnects for ever, also when
 * its server became a replica: the address, or the Sentinels, may name another one by then. Certificates are read now.
 *
 * @throws when a file of the address cannot be read.
 */
export function redisOpener(address: RedisAddress): (settings: RedisClientSettings) => RedisClient {
  const tls = address.isTls ? { tls: tlsOf(address) } : {}
  const { hosts, kind, database } = address
  const common = {
    ...tls,
    ...(address.username === null ? {} : { username: address.username }),
    ...(address.password === null ? {} : { password: address.password }),
    enableReadyCheck: true,
    disconnectTimeout: 100,
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  }
  const create = (settings: RedisClientSettings): RedisClient => {
    if (kind === 'cluster') return new Cluster([...hosts], clusterOptions({ ...common, ...settings }, address.isTls))
    const where: Options = kind === 'server' ? { ...hosts[0] } : sentinelOptions(address, tls.tls)
    const options: Options = { ...common, ...settings, ...where, db: database, retryStrategy: reconnectAfter }
    return new Redis(options)
  }
  return (settings) => {
    const client = create(settings)
    // Without a listener ioredis prints to the console; `watchRedisHealth` says what is wrong.
    client.on('error', () => undefined)
    return client
  }
}

function sentinelOptions(address: RedisAddress, tls: ConnectionOptions | undefined): Options {
  const { hosts, primaryName, sentinelUsername, sentinelPassword } = address
  return {
    ...{ sentinels: [...hosts], name: primaryName ?? '', role: 'master', sentinelRetryStrategy: reconnectAfter },
    ...(sentinelUsername === null ? {} : { sentinelUsername }),
    ...(sentinelPassword === null ? {} : { sentinelPassword }),
    ...(tls === undefined ? {} : { enableTLSForSentinelMode: true, sentinelTLS: tls }),
  }
}

function clusterOptions({ enableOfflineQueue = true, ...ofNodes }: Options, isTls: boolean) {
  return {
    ...{ redisOptions: ofNodes, enableOfflineQueue, clusterRetryStrategy: reconnectAfter },
    slotsRefreshTimeout: 2_000,
    ...(enableOfflineQueue ? {} : { maxRedirections: REDIRECTIONS_OF_SHORT_COMMANDS }),
    // A certificate is for the name that the cluster announces, not for the address behind it.
    ...(isTls ? { dnsLookup: (name: string, done: (error: null, address: string) => void) => done(null, name) } : {}),
  }
}

function tlsOf({ caFile, certificateKeyFile }: RedisAddress): ConnectionOptions {
  const pem = certificateKeyFile === null ? undefined : readFileSync(certificateKeyFile)
  return {
    ...(caFile === null ? {} : { ca: readFileSync(caFile) }),
    ...(pem === undefined ? {} : { cert: pem, key: pem }),
  }
}
